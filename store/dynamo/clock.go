package dynamo

import (
	"net/http"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
)

// clock compares this machine's clock with the Date header of answers. One answer gives bounds: it was made during the call, and
// somewhere in the second that Date names. The estimate is moved into the bounds of each answer and no further, so that
// answers in a row narrow it down, and a slow one, of which little is known, never makes a good clock look bad.
type clock struct {
	mu    sync.Mutex
	ahead time.Duration
	known bool
}

func (c *clock) skew() (ahead time.Duration, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ahead, c.known
}

// sample takes wall-clock times: a clock that was set during the call spoils this one sample.
func (c *clock) sample(start, end time.Time, h http.Header) {
	server, err := http.ParseTime(h.Get("Date"))
	if err != nil || h.Get("Age") != "" { // Age: some cache answered, with a Date of then (RFC 9111, section 5.1)
		return
	}
	least := start.Round(0).Sub(server.Add(time.Second))
	most := end.Round(0).Sub(server)
	if least > most {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ahead, c.known = min(max(c.ahead, least), most), true
}

func (c *clock) watch(base aws.HTTPClient) aws.HTTPClient { return watcher{c, base} }

type watcher struct {
	clock *clock
	base  aws.HTTPClient
}

// Do implements [aws.HTTPClient].
func (w watcher) Do(r *http.Request) (*http.Response, error) {
	start := time.Now()
	resp, err := w.base.Do(r)
	if err == nil {
		w.clock.sample(start, time.Now(), resp.Header)
	}
	return resp, err
}
