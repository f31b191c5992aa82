package consumer

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/claimonce/claimonce/dedupe"
)

// busyMax bounds a nack of a message whose operation runs elsewhere.
const busyMax = time.Hour

// attemptDelay is full jitter over a back-off that doubles with the record's attempts, never less than half a second: the
// broker counts whole seconds, and nothing is won by an instant retry.
func (c *Consumer) attemptDelay(attempt int) time.Duration {
	d := doubled(c.cfg.Backoff, c.cfg.BackoffMax, attempt-1)
	return min(max(randUpTo(d), 500*time.Millisecond), d)
}

// doubled is base * 2^n, at most top.
func doubled(base, top time.Duration, n int) time.Duration {
	for ; n > 0 && base < top; n-- {
		base *= 2
	}
	return min(base, top)
}

// busyDelay is as long as the run has lasted already, and at least what is left of its lease: so a message is received a
// number of times that grows with the logarithm of the run's time only.
func busyDelay(left, ran time.Duration) time.Duration {
	d := min(max(left, ran, time.Second), busyMax)
	return d + randUpTo(d/10)
}

// pendingDelay doubles in the same way, from the time at which the outcome became unknown.
func (c *Consumer) pendingDelay(since time.Duration) time.Duration {
	d := min(max(since, c.cfg.PendingBackoff), c.cfg.PendingBackoffMax)
	return d + randUpTo(d/10)
}

// pendingFor is how long the outcome has been unknown.
func pendingFor(rec dedupe.Record, now time.Time) time.Duration {
	if rec.AttentionAt.IsZero() {
		return 0
	}
	return max(now.Sub(rec.AttentionAt), 0)
}

func randUpTo(d time.Duration) time.Duration {
	if d <= 0 {
		return 0
	}
	return rand.N(d) //nolint:gosec // spreads load, guards nothing
}

// backoff waits longer after each failure in a row.
type backoff struct {
	base, top time.Duration
	failures  int
}

func (b *backoff) next() time.Duration {
	d := doubled(b.base, b.top, b.failures)
	b.failures++
	return d/2 + randUpTo(d/2)
}

func (b *backoff) reset() { b.failures = 0 }

// pause waits; false if ctx ended first.
func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}
