package consumer

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/claimonce/claimonce/dedupe"
)

// gate is shut while the store cannot be reached: claims wait before it, and nothing is received. Handing the messages back
// instead would burn their receive counts, and a healthy message would end among the dead letters.
type gate struct {
	mu      sync.Mutex
	opened  chan struct{} // closed while the gate is open
	shuts   chan struct{} // closed while it is shut
	shut    bool
	backoff backoff
	answers int       // claims that were answered
	since   time.Time // when it was opened last; zero: never shut
	err     error

	// unproved: the probe opened it and no claim has been answered since. failing: it was shut again while unproved, so the
	// store reads and refuses to write: an opening then is no news, and the fault stands until a claim is answered.
	unproved, failing bool
}

func newGate() *gate {
	g := &gate{opened: make(chan struct{}), shuts: make(chan struct{}), backoff: backoff{base: 100 * time.Millisecond, top: 15 * time.Second}}
	close(g.opened)
	return g
}

// wait returns a channel that is closed when the gate is open.
func (g *gate) wait() <-chan struct{} {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.opened
}

// whileOpen gives a context that ends when the gate shuts.
func (g *gate) whileOpen(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	g.mu.Lock()
	shuts := g.shuts
	g.mu.Unlock()
	go func() {
		select {
		case <-shuts:
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, cancel
}

// close reports whether this call shut the gate: who shut it starts the probe.
func (g *gate) close(err error) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.err = err
	if g.shut {
		return false
	}
	g.shut, g.opened = true, make(chan struct{})
	g.failing = g.failing || g.unproved
	close(g.shuts)
	return true
}

func (g *gate) isShut() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.shut
}

// open reports whether that is news.
func (g *gate) open() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.shut {
		return false
	}
	g.shut, g.shuts, g.unproved, g.since = false, make(chan struct{}), true, time.Now()
	close(g.opened)
	if g.failing {
		return false
	}
	g.err = nil
	g.backoff.reset()
	return true
}

func (g *gate) openedAt() time.Time {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.since
}

// worked: a claim was answered. It reports whether that ends a fault which openings did not.
func (g *gate) worked() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.answers++
	ended := g.failing && !g.shut
	if !g.shut {
		g.unproved, g.failing, g.err = false, false, nil
	}
	if ended {
		g.backoff.reset()
	}
	return ended
}

// isFailing: see failing.
func (g *gate) isFailing() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.failing
}

func (g *gate) answered() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.answers
}

func (g *gate) next() time.Duration {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.backoff.next()
}

func (g *gate) fault() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.err
}

// storeFailed shuts the gate and probes the store until it answers. The probe asks for a record that nobody writes: with
// the message's own, one record that cannot be read would shut the gate for good.
func (r *run) storeFailed(err error) {
	if !r.gate.close(err) {
		return
	}
	if !r.gate.isFailing() {
		r.c.cfg.Logger.Error("the store cannot be reached: nothing is run or received until it answers", "operation", r.c.operation, "err", err)
	}
	key := dedupe.Key{Operation: r.c.operation, ID: "~probe"}
	r.helpers.Go(func() {
		for {
			if !pause(r.stop, r.gate.next()) {
				return
			}
			ctx, cancel := context.WithTimeout(r.stop, probeTime)
			var err error
			if fault := guarded(func() { _, err = r.c.ledger.Load(ctx, key) }); fault != nil {
				err = fmt.Errorf("the store %w", fault)
			}
			cancel()
			if err == nil || errors.Is(err, dedupe.ErrNewerSchema) {
				if r.gate.open() {
					r.storeAnswers()
				}
				return
			}
			r.gate.close(err)
		}
	})
}

func (r *run) storeAnswers() {
	r.c.cfg.Logger.Info("the store answers again", "operation", r.c.operation)
}

const probeTime = 5 * time.Second
