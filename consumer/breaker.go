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

// lets reports whether a claim may be made, and whether it is the one that asks; what came of it is then told to hears.
func (b *breaker) lets(now time.Time) (ok, asks bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.failures < breakAfter {
		return true, false
	}
	if b.asking || now.Before(b.until) {
		return false, false
	}
	b.asking = true
	return true, true
}

// hears reports whether that is news: the breaker opened or closed.
func (b *breaker) hears(asked, ok bool, now time.Time) (news bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	wasOpen := b.failures >= breakAfter
	if asked {
		b.asking = false
	}
	switch {
	case ok:
		b.failures = 0
		b.pauses.reset()
		return wasOpen
	case wasOpen && !asked:
		return false // made before it opened: many at a time must not count as many outages
	case !wasOpen:
		b.failures++
	}
	if b.failures >= breakAfter {
		b.until = now.Add(b.pauses.next())
	}
	return !wasOpen && b.failures >= breakAfter
}

func (r *run) breakerHears(asked bool, err error) {
	ok := err == nil || errors.Is(err, dedupe.ErrNewerSchema)
	if !ok && r.work.Err() != nil {
		return // the stop ended the call
	}
	switch news := r.breaker.hears(asked, ok, time.Now()); {
	case news && ok:
		r.storeAnswers()
	case news:
		r.c.cfg.Logger.Error("the store cannot be reached: messages are run without a claim until it answers", "operation", r.c.operation, "err", err)
	}
}
