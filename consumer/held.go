package consumer

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/claimonce/claimonce/dedupe"
)

// held is one delivery from its receipt to its disposition.
type held struct {
	m        *Message
	key      dedupe.Key
	refusal  *refusal
	alike    bool       // copies of its key may run beside it: observe-only mode
	check    *pathProbe // it is a path check
	tooOld   bool       // older than the window, and accepted
	received time.Time
	asked    time.Time // when the receive that brought it began

	stop    chan struct{} // closed to end the keeper
	stopped chan struct{} // closed when it has ended
	lost    chan struct{} // closed when the delivery is no longer this worker's
	started atomic.Bool   // its handler was started

	tries   backoff // claims of it that failed
	answers int     // claims of all messages that had been answered when it failed last
	alone   int     // failures since which others were answered

	mu     sync.Mutex
	cause  error
	cancel context.CancelCauseFunc // of the running handler
}

// errRevoked is the cause where the source took the message back.
var errRevoked = fmt.Errorf("%w: the source took it back", ErrNotHeld)

// hold starts the keeper, which keeps the message hidden from others from now until release, whether it waits or runs.
func (c *Consumer) hold(ctx context.Context, m *Message) *held {
	h := &held{
		m: m, received: time.Now(), tries: backoff{base: 100 * time.Millisecond, top: 30 * time.Second},
		stop: make(chan struct{}), stopped: make(chan struct{}), lost: make(chan struct{}),
	}
	h.alike, h.check = c.observesOnly(), probeIn(m.Body)
	h.key, h.refusal = c.identify(m)
	if h.refusal == nil {
		h.tooOld, h.refusal = c.age(m, h.received)
	}
	ext, _ := c.source.(Extender)
	if ext == nil && m.Revoked() == nil {
		close(h.stopped)
		return h
	}
	go c.keep(context.WithoutCancel(ctx), h, ext)
	return h
}

// keep extends at a third of the visibility, so that two calls may fail. A failed call leaves open whether the message is
// still hidden: the lease keeps others out meanwhile, so only the broker's clear word ends the hold.
func (c *Consumer) keep(ctx context.Context, h *held, ext Extender) {
	defer close(h.stopped)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	every := time.Duration(1<<63 - 1)
	if ext != nil {
		every = max(ext.Visibility()/3, time.Second/4)
	}
	timer := time.NewTimer(every)
	defer timer.Stop()
	for {
		select {
		case <-h.stop:
			return
		case <-h.m.Revoked():
			h.lose(errRevoked)
			return
		case <-timer.C:
			err := h.extend(ctx, ext, every)
			if errors.Is(err, ErrHoldOver) {
				if !h.started.Load() { // another worker may have it, and what is ahead of it
					h.lose(fmt.Errorf("%w: %w", ErrNotHeld, err))
					return
				}
				err = nil
			}
			if errors.Is(err, ErrNotHeld) {
				h.lose(err)
				return
			}
			next := every
			if err != nil {
				c.health.extendFailed(err)
				next = every / 4
			}
			timer.Reset(next)
		}
	}
}

// extend is ended by release, so that no call is under way when the message is handed back: it would hide it again.
func (h *held) extend(ctx context.Context, ext Extender, limit time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- ext.Extend(ctx, h.m) }()
	select {
	case err := <-done:
		return err
	case <-h.stop:
		cancel()
		return <-done
	}
}

// release ends the keeper and waits for it.
func (h *held) release() {
	select {
	case <-h.stop:
	default:
		close(h.stop)
	}
	<-h.stopped
}

// failsAlone: others' claims were answered since this one's last failure, so the fault is its record's or its key's, not the store's.
// Such a message waits by itself, and after a number of failures goes back, so that what a worker may hold does not fill up.
func (h *held) failsAlone(g *gate) bool {
	answers := g.answered()
	alone := h.tries.failures > 0 && answers > h.answers
	h.answers = answers
	if alone {
		h.alone++
	}
	return alone
}

const maxFailuresAlone = 10

func (h *held) lose(cause error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.cause = cause
	close(h.lost)
	if h.cancel != nil {
		h.cancel(cause)
	}
}

// tied gives the handler a context that ends with the cause when the delivery is lost. Only the handler's: an effect that has
// happened must still be written down, for as long as it takes.
func (h *held) tied(handler dedupe.Handler) dedupe.Handler {
	return func(ctx context.Context, op *dedupe.Operation) (dedupe.Result, error) {
		ctx, cancel := context.WithCancelCause(context.WithValue(ctx, messageKey{}, h.m))
		defer cancel(nil)
		h.started.Store(true)
		h.onLost(cancel)
		return handler(ctx, op)
	}
}

func (h *held) onLost(cancel context.CancelCauseFunc) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.cancel = cancel
	if h.cause != nil {
		cancel(h.cause)
	}
}

// isLost asks the source's own channel too: the keeper may not have run since it was closed.
func (h *held) isLost() bool {
	select {
	case <-h.lost:
		return true
	case <-h.m.Revoked():
		return true
	default:
		return false
	}
}

func (h *held) lostCause() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.cause == nil {
		return errRevoked
	}
	return h.cause
}
