package consumer

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/claimonce/claimonce/dedupe"
)

// run is the state of one call of Run.
type run struct {
	c    *Consumer
	stop context.Context //nolint:containedctx // the run's own: ends when nothing new may be started
	work context.Context //nolint:containedctx // the handlers': ends with ErrDraining
	drop context.CancelCauseFunc
	gate *gate
	// Of observe-only mode, where the gate stays open.
	breaker *breaker
	lanes   lanes
	keys    keySet
	slots   chan struct{} // one for each handler that runs
	room    chan struct{} // one for each message held: what is received is bounded, not only what runs

	abandon chan struct{} // closed when handlers that ignore their context are left behind
	lanesWG sync.WaitGroup
	helpers sync.WaitGroup
}

// receiveBatch is how many messages may wait beside those that run.
const receiveBatch = 10

func (c *Consumer) newRun(ctx context.Context) *run {
	work, drop := context.WithCancelCause(context.WithoutCancel(ctx))
	g := newGate()
	c.health.start(g, c.source)
	return &run{
		c: c, stop: ctx, work: work, drop: drop, gate: g, breaker: newBreaker(),
		lanes: lanes{all: map[string]*lane{}, groups: &c.health.groups}, keys: keySet{running: map[string]time.Time{}},
		slots: make(chan struct{}, c.cfg.Workers), room: make(chan struct{}, c.cfg.Workers+receiveBatch),
		abandon: make(chan struct{}),
	}
}

// receive ends only with the context: whatever the broker answers, the worker goes on asking.
func (r *run) receive(ctx context.Context) {
	defer r.c.health.stopped()
	failed := backoff{base: 200 * time.Millisecond, top: 30 * time.Second}
	for r.passGate(ctx) {
		n := r.takeRoom(ctx)
		if n == 0 {
			return
		}
		r.c.health.asking()
		asked := time.Now()
		// A long poll that went on while the store is out would hide messages that nobody can run.
		polling, cancel := r.gate.whileOpen(ctx)
		msgs, err := r.c.source.Receive(polling, n)
		interrupted := err != nil && polling.Err() != nil
		cancel()
		r.giveRoom(n - len(msgs))
		r.accept(ctx, msgs, asked)
		switch {
		case ctx.Err() != nil:
			return
		case interrupted:
		case err == nil && len(msgs) > 0:
			failed.reset()
			r.c.health.received()
		default:
			if err == nil {
				err = errNothing
			}
			wait := failed.next()
			r.receiveFailed(ctx, err, wait)
			pause(ctx, wait)
		}
	}
}

// errNothing: without a pause after it, a source that breaks its promise would be asked without end.
var errNothing = errors.New("the source returned no message and no error")

func (r *run) passGate(ctx context.Context) bool {
	select {
	case <-r.gate.wait():
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}

// receiveFailed: the pauses between calls bound the log too.
func (r *run) receiveFailed(ctx context.Context, err error, wait time.Duration) {
	r.c.health.receiveFailed(err)
	r.c.cfg.Logger.ErrorContext(ctx, "receiving failed; trying again", "operation", r.c.operation, "err", err,
		"in", wait, "needs_a_person", errors.Is(err, ErrSetup))
}

// takeRoom waits for room for one message, then for a moment for half a batch: brokers bill calls, and a busy worker would make
// one for each message. Its handlers meanwhile have what waits beside them. 0: ctx has ended.
func (r *run) takeRoom(ctx context.Context) int {
	n := r.roomNow(receiveBatch)
	var moment <-chan time.Time
	for n < receiveBatch/2 {
		if n > 0 && moment == nil {
			t := time.NewTimer(gatherRoom)
			defer t.Stop()
			moment = t.C
		}
		select {
		case r.room <- struct{}{}:
			n++
		case <-moment:
			return n
		case <-ctx.Done():
			r.giveRoom(n)
			return 0
		}
	}
	return n + r.roomNow(receiveBatch-n)
}

const gatherRoom = 100 * time.Millisecond

// roomNow takes what is free of n.
func (r *run) roomNow(n int) int {
	for i := range n {
		select {
		case r.room <- struct{}{}:
		default:
			return i
		}
	}
	return n
}

// giveRoom never blocks: a source that handed out more than it was asked for must not stop what ends.
func (r *run) giveRoom(n int) {
	for range n {
		select {
		case <-r.room:
		default:
		}
	}
}

// accept takes over messages that were received, for which room was taken. All have joined their lanes before the first is
// worked on: else a head that fails at once would be gone before the next of its group joins, which would overtake it.
func (r *run) accept(ctx context.Context, msgs []*Message, asked time.Time) {
	var start []func()
	var early handBacks
	for _, m := range msgs {
		h := r.c.hold(ctx, m)
		r.c.health.held(1)
		r.c.counts.accepted(h)
		switch l, wait, tooEarly := r.lanes.join(h, asked, time.Now()); {
		case tooEarly:
			early.add(h, wait)
		case l != nil:
			start = append(start, func() { r.workLane(l, h) })
		}
	}
	if len(early.all) > 0 {
		r.lanesWG.Go(func() { r.handBack(early.all, early.wait, 0) })
	}
	for _, f := range start {
		r.lanesWG.Go(f)
	}
}

// turn processes the message once it can be started. While the store is out no slot is held, and the message stays hidden.
func (r *run) turn(h *held) decision {
	for r.takeSlot(h) {
		d, again := r.process(h)
		<-r.slots
		if !again {
			return d
		}
		r.pauseFor(h)
	}
	if h.isLost() {
		return decision{disposition: Left, err: h.lostCause()}
	}
	return decision{disposition: Nacked} // not started: somebody else may have it at once
}

// pauseFor keeps messages that fail although the gate is open, since the store only reads or their own records cannot be read,
// from asking again and again.
func (r *run) pauseFor(h *held) {
	t := time.NewTimer(h.tries.next())
	defer t.Stop()
	select {
	case <-t.C:
	case <-r.stop.Done():
	case <-h.lost:
	}
}

// takeSlot waits for an open gate and a free handler. false: the message is not to be started.
func (r *run) takeSlot(h *held) bool {
	select {
	case <-r.gate.wait():
	case <-r.stop.Done():
		return false
	case <-h.lost:
		return false
	}
	select {
	case r.slots <- struct{}{}:
	case <-r.stop.Done():
		return false
	case <-h.lost:
		return false
	}
	// Asked again, since of several cases that are ready select takes any.
	if r.stop.Err() != nil || h.isLost() {
		<-r.slots
		return false
	}
	return true
}

// drain lets running handlers finish, then ends their contexts, then leaves those behind that ignore it.
func (r *run) drain() {
	done := make(chan struct{})
	go func() {
		r.lanesWG.Wait()
		close(done)
	}()
	grace := r.c.cfg.Ledger.SettleFor + 2*time.Second
	for _, step := range []struct {
		after time.Duration
		do    func()
	}{
		{r.c.cfg.Drain, func() { r.drop(dedupe.ErrDraining) }},
		{grace, func() { close(r.abandon) }},
		{time.Second, func() {}},
	} {
		t := time.NewTimer(step.after)
		select {
		case <-done:
			t.Stop()
			r.helpers.Wait()
			r.drop(context.Canceled)
			return
		case <-t.C:
			step.do()
		}
	}
}

// keySet are the keys whose handlers run in this process, over all lanes.
type keySet struct {
	mu      sync.Mutex
	running map[string]time.Time
}

// enter reports false, and since when it runs, if a copy runs in another lane.
func (k *keySet) enter(id string, now time.Time) (since time.Time, ok bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if since, busy := k.running[id]; busy {
		return since, false
	}
	k.running[id] = now
	return now, true
}

func (k *keySet) leave(id string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.running, id)
}
