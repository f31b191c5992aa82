package consumer

import (
	"errors"
	"sync"
	"time"

	"github.com/claimonce/claimonce/dedupe"
)

var (
	errSlow    = errors.New("consumer: the claim was not answered within a second")
	errBreaker = errors.New("consumer: no claim was made, since the store did not answer others")
)

// breaker lets messages pass without a claim while the store does not answer, so that an outage costs some messages a wait, not
// each. It is used in observe-only mode, where the gate would withhold them.
type breaker struct {
	mu       sync.Mutex
	failures int // in a row
	until    time.Time
	asking   bool // one claim is under way to find out whether the store answers again
	pauses   backoff
}

// breakAfter failures in a row: one alone may be a record's own.
const breakAfter = 3

func newBreaker() *breaker {
	return &breaker{pauses: backoff{base: 2 * time.Second, top: time.Minute}}
}

// lets reports whether a claim may be made; what came of it is then told to hears.
func (b *breaker) lets(now time.Time) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.failures < breakAfter {
		return true
	}
	if b.asking || now.Before(b.until) {
		return false
	}
	b.asking = true
	return true
}

// hears reports whether that is news: the breaker opened or closed.
func (b *breaker) hears(ok bool, now time.Time) (news bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if ok {
		news = b.failures >= breakAfter
		b.failures, b.asking = 0, false
		b.pauses.reset()
		return news
	}
	b.failures++
	b.asking = false
	if b.failures >= breakAfter {
		b.until = now.Add(b.pauses.next())
	}
	return b.failures == breakAfter
}

func (r *run) breakerHears(err error) {
	ok := err == nil || errors.Is(err, dedupe.ErrNewerSchema)
	if !ok && r.work.Err() != nil {
		return // the stop ended the call
	}
	switch news := r.breaker.hears(ok, time.Now()); {
	case news && ok:
		r.storeAnswers()
	case news:
		r.c.cfg.Logger.Error("the store cannot be reached: messages are run without a claim until it answers", "operation", r.c.operation, "err", err)
	}
}
