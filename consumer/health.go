package consumer

import (
	"sync"
	"time"
)

// Health is what a worker knows of itself, for liveness and readiness checks and metrics.
type Health struct {
	LastReceive time.Time // of the last successful call, even if it brought nothing
	ReceiveErr  error     // why receiving fails now; nil if it works
	StoreErr    error     // why the store cannot be reached now; nil if it works
	Held        int       // messages received and not disposed of yet
	Running     int       // handlers that run
	// Failures since the start that cost a redelivery and nothing else.
	ExtendFailures, DisposeFailures int64
}

// Ready: messages can be received and claimed now.
func (h Health) Ready() bool {
	return h.ReceiveErr == nil && h.StoreErr == nil && !h.LastReceive.IsZero()
}

type health struct {
	mu   sync.Mutex
	now  Health
	gate *gate
}

// Health may be called at any time, from any goroutine.
func (c *Consumer) Health() Health {
	c.health.mu.Lock()
	defer c.health.mu.Unlock()
	h := c.health.now
	if c.health.gate != nil {
		h.StoreErr = c.health.gate.fault()
	}
	return h
}

// watch makes the gate's fault part of the health.
func (h *health) watch(g *gate) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.gate = g
}

func (h *health) change(f func(*Health)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	f(&h.now)
}

func (h *health) received() {
	h.change(func(n *Health) { n.LastReceive, n.ReceiveErr = time.Now(), nil })
}
func (h *health) receiveFailed(err error) { h.change(func(n *Health) { n.ReceiveErr = err }) }
func (h *health) held(d int)              { h.change(func(n *Health) { n.Held += d }) }
func (h *health) running(d int)           { h.change(func(n *Health) { n.Running += d }) }
func (h *health) extendFailed(error)      { h.change(func(n *Health) { n.ExtendFailures++ }) }
func (h *health) disposeFailed(error)     { h.change(func(n *Health) { n.DisposeFailures++ }) }
