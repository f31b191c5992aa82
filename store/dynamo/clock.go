package dynamo

import (
	"net/http"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
)

// clock compares this machine's clock with the Date header of answers.
type clock struct {
	mu    sync.Mutex
	ahead time.Duration
	known bool
}

// slowCall: of a call that took longer nobody knows when the answer was made.
const slowCall = 2 * time.Second

func (c *clock) watch(base aws.HTTPClient) aws.HTTPClient { return watcher{c, base} }

func (c *clock) skew() (time.Duration, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ahead, c.known
}

type watcher struct {
	clock *clock
	base  aws.HTTPClient
}

// Do implements [aws.HTTPClient].
func (w watcher) Do(r *http.Request) (*http.Response, error) {
	start := time.Now()
	resp, err := w.base.Do(r)
	if err == nil {
		w.clock.sample(start, time.Now(), resp.Header.Get("Date"))
	}
	return resp, err
}

// sample takes the middle of the call against the middle of the second that Date names.
func (c *clock) sample(start, end time.Time, date string) {
	server, err := http.ParseTime(date)
	if err != nil || end.Sub(start) > slowCall {
		return
	}
	here := start.Round(0).Add(end.Sub(start) / 2)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ahead, c.known = here.Sub(server.Add(time.Second/2)), true
}
