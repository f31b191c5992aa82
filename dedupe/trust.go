package dedupe

import (
	"sync"
	"time"
)

// trust is how long an owner may act without asking: until the lease of its last successful write, counted from when that
// write was first sent, minus a margin. The store sets the lease's end later than that, never earlier.
//
// It is kept on the monotonic clock, which a correction of the wall clock cannot stretch, and on the wall clock, which goes on
// while a virtual machine is suspended: the earlier end counts.
type trust struct {
	mu    sync.Mutex
	mono  time.Time
	wall  time.Time
	ended bool
}

func (t *trust) extend(from time.Time, d time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if until := from.Add(d); until.After(t.mono) {
		t.mono, t.wall = until, until.Round(0)
	}
}

// end: somebody else owns it; nothing extends it again.
func (t *trust) end() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ended = true
}

func (t *trust) holds() bool { return t.left() > 0 }

func (t *trust) left() time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ended {
		return 0
	}
	now := time.Now()
	return max(min(t.mono.Sub(now), t.wall.Sub(now.Round(0))), 0)
}
