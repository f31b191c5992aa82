package consumer

import (
	"sync"
	"time"
)

// Health is what a worker knows of itself, for liveness and readiness checks and metrics.
type Health struct {
	Receiving   bool      // between a start that passed its checks and the stop
	LastReceive time.Time // when the broker last answered; of a source that is no Poller: when it last brought messages
	ReceiveErr  error     // why receiving fails now; nil if it works
	StoreErr    error     // why the store cannot be reached now; nil if it works
	Held        int       // messages received and not disposed of yet
	Running     int       // handlers that run
	// BlockedGroups counts the groups whose head was handed back, so that what is behind it waits, and has not been done since. It is what
	// this worker knows: a head that another worker has now is counted until some minutes after it was due here, and at most 10,000 are.
	BlockedGroups int
	BlockedSince  time.Time // since when the oldest of them waits; zero if there is none
	// Failures since the start that cost a redelivery and nothing else.
	ExtendFailures, DisposeFailures int64
}

// Ready says whether messages can be received and claimed now. A worker whose queue is empty is ready.
func (h Health) Ready() bool {
	return h.Receiving && h.ReceiveErr == nil && h.StoreErr == nil
}

type health struct {
	mu       sync.Mutex
	now      Health
	gate     *gate
	poller   Poller // nil: the source has no such news
	askedAt  time.Time
	failedAt time.Time
	groups   groups
}

// quietCall: a call that has been under way for so long without an error counts as working, since an empty queue gives no
// other sign. Only for sources that are no Poller.
const quietCall = 30 * time.Second

// Health may be called at any time, from any goroutine.
func (c *Consumer) Health() Health {
	c.health.mu.Lock()
	defer c.health.mu.Unlock()
	h := c.health.now
	h.BlockedGroups, h.BlockedSince = c.health.groups.blocked(time.Now())
	if c.health.gate != nil {
		h.StoreErr = c.health.gate.fault()
	}
	if p := c.health.poller; p != nil {
		if t := p.LastPoll(); t.After(h.LastReceive) {
			h.LastReceive = t
		}
	}
	if h.ReceiveErr != nil && c.health.answeredSince(h.LastReceive) {
		h.ReceiveErr = nil
	}
	return h
}

// answeredSince: receiving works again, although it brought nothing since it failed.
func (h *health) answeredSince(last time.Time) bool {
	if h.poller != nil {
		return last.After(h.failedAt)
	}
	return h.askedAt.After(h.failedAt) && time.Since(h.askedAt) >= quietCall
}

// start makes the gate's fault part of the health.
func (h *health) start(g *gate, src Source) {
	h.change(func(n *Health) {
		h.gate, n.Receiving = g, true
		h.poller, _ = src.(Poller)
	})
}

func (h *health) change(f func(*Health)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	f(&h.now)
}

func (h *health) stopped() { h.change(func(n *Health) { n.Receiving = false }) }
func (h *health) asking()  { h.change(func(*Health) { h.askedAt = time.Now() }) }
func (h *health) received() {
	h.change(func(n *Health) { n.LastReceive, n.ReceiveErr = time.Now(), nil })
}

func (h *health) receiveFailed(err error) {
	h.change(func(n *Health) { n.ReceiveErr, h.failedAt = err, time.Now() })
}
func (h *health) held(d int)          { h.change(func(n *Health) { n.Held += d }) }
func (h *health) running(d int)       { h.change(func(n *Health) { n.Running += d }) }
func (h *health) extendFailed(error)  { h.change(func(n *Health) { n.ExtendFailures++ }) }
func (h *health) disposeFailed(error) { h.change(func(n *Health) { n.DisposeFailures++ }) }
