package adaptertest

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/claimonce/claimonce/consumer"
)

// A worker is a source with what checks do with it.
type worker struct {
	consumer.Source

	t    *probe
	gone bool // closed or crashed
}

// worker opens a source, which is closed at the end of the check if it is not before.
func (t *probe) worker() *worker {
	s, err := t.queue.Open(t.ctx)
	if err != nil || s == nil {
		t.Fatalf("the rig cannot open a source: %v", err)
	}
	w := &worker{Source: s, t: t}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.workers = append(t.workers, w)
	return w
}

// pair is two workers that compete for the messages, where the source is an [consumer.Extender]: only then does a broker hide single
// messages from everybody. Else it is one worker twice, since another one may have no part of the queue.
func (t *probe) pair() (w, other *worker) {
	w = t.worker()
	if _, ok := w.Source.(consumer.Extender); !ok {
		return w, w
	}
	return w, t.worker()
}

// competing is two workers, of a source that lets them compete.
func (t *probe) competing() (w, other *worker) {
	w, other = t.pair()
	t.need(w != other, "the source is no Extender: its workers do not compete for single messages")
	return w, other
}

func (t *probe) closeAll() {
	for _, w := range t.workers {
		if !w.gone {
			w.close()
		}
	}
}

type received struct {
	msgs []*consumer.Message
	err  error
}

// receive calls Receive, which has to end with the time that it gets.
func (w *worker) receive(ctx context.Context, limit int, d time.Duration) ([]*consumer.Message, error) {
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	r := inTime(w.t, "receive", d+soon, func() received {
		msgs, err := w.Receive(ctx, limit)
		return received{msgs, err}
	})
	if len(r.msgs) == 0 && r.err == nil {
		w.t.Fatalf("receive returned neither messages nor an error")
	}
	return r.msgs, r.err
}

// take receives until it has n messages, or fails the check.
func (w *worker) take(n int) []*consumer.Message {
	return w.takeWithin(n, w.t.rig.Visibility+slack)
}

func (w *worker) one() *consumer.Message { return w.take(1)[0] }

func (w *worker) takeWithin(n int, d time.Duration) []*consumer.Message {
	end := time.Now().Add(d)
	var got []*consumer.Message
	for len(got) < n {
		msgs, err := w.receive(w.t.ctx, n-len(got), time.Until(end))
		if err != nil {
			w.t.Fatalf("got %d messages and %v, want %d messages within %v", len(got), err, n, d)
		}
		got = append(got, msgs...)
	}
	return got
}

// later receives one message while the check does something else; the channel brings none if the receive failed.
func (w *worker) later() <-chan []*consumer.Message {
	got := make(chan []*consumer.Message, 1)
	go func() {
		defer close(got)
		msgs, err := w.receive(w.t.ctx, 1, w.t.rig.Visibility+slack)
		if err != nil {
			w.t.Errorf("receive: %v", err)
		}
		got <- msgs
	}()
	return got
}

// nothingFor fails if a message comes within d.
func (w *worker) nothingFor(d time.Duration) {
	msgs, err := w.receive(w.t.ctx, 10, d)
	if len(msgs) > 0 || !errors.Is(err, context.DeadlineExceeded) {
		w.t.Fatalf("got messages %v and %v, want none for %v", ids(msgs), err, d)
	}
}

// nothingUntil is nothingFor where only the time since an earlier moment counts: on a slow machine the calls in between may have used it.
func (w *worker) nothingUntil(end time.Time) {
	if d := time.Until(end); d > 0 {
		w.nothingFor(d)
	}
}

func (w *worker) ack(msgs ...*consumer.Message) {
	for _, m := range msgs {
		if err := w.call("ack", func(ctx context.Context) error { return w.Ack(ctx, m) }); err != nil {
			w.t.Errorf("ack: %v", err)
		}
	}
}

func (w *worker) nack(m *consumer.Message, delay time.Duration) {
	if err := w.call("nack", func(ctx context.Context) error { return w.Nack(ctx, m, delay) }); err != nil {
		w.t.Errorf("nack: %v", err)
	}
}

// call makes any other call, which has to return by itself.
func (w *worker) call(what string, f func(context.Context) error) error {
	return inTime(w.t, what, slack, func() error { return f(w.t.ctx) })
}

// extender skips the check if the source has no such ability.
func (w *worker) extender() consumer.Extender {
	x, ok := w.Source.(consumer.Extender)
	w.t.need(ok, "the source is no Extender")
	return x
}

// keep extends a message that the check holds for longer, if the source can.
func (w *worker) keep(m *consumer.Message) {
	if x, ok := w.Source.(consumer.Extender); ok {
		if err := w.extend(x, m); err != nil {
			w.t.Fatalf("extend: %v", err)
		}
	}
}

// keeping keeps a message hidden until stop, as a consumer does: a broker that is slow may let it come back else.
func (w *worker) keeping(m *consumer.Message) (stop func()) {
	x, ok := w.Source.(consumer.Extender)
	if !ok {
		return func() {}
	}
	ctx, cancel := context.WithCancel(w.t.ctx)
	var wg sync.WaitGroup
	wg.Go(func() {
		tick := time.NewTicker(w.t.rig.Visibility / 4)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			if err := w.extend(x, m); err != nil && ctx.Err() == nil {
				w.t.Errorf("extend: %v", err)
				return
			}
		}
	})
	return func() {
		cancel()
		wg.Wait()
	}
}

func (w *worker) close() {
	w.gone = true
	if err := w.call("close", w.Close); err != nil {
		w.t.Errorf("close: %v", err)
	}
}

func ids(msgs []*consumer.Message) []string {
	out := make([]string, 0, len(msgs))
	for _, m := range msgs {
		out = append(out, m.ID)
	}
	return out
}

func (w *worker) extend(x consumer.Extender, m *consumer.Message) error {
	return w.call("extend", func(ctx context.Context) error { return x.Extend(ctx, m) })
}
