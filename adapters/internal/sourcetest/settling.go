package sourcetest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/claimonce/claimonce/consumer"
)

func settling() []Check {
	return []Check{
		{"an acked message does not come back", ackedIsGone},
		{"a second ack does no harm", ackTwice},
		{"many acks at a time all count", manyAcks},
		{"many nacks at a time all count", manyNacks},
		{"a caller that gives up does not fail the others", oneGivesUp},
		{"a message that was not received here is refused", foreign},
	}
}

func ackedIsGone(t *testing.T, r *Rig) {
	w := r.worker(t)
	defer w.close()
	r.send(t, "body")
	w.ack(w.one())
	w.nothingFor(2*r.Visibility + r.Grain)
}

func ackTwice(t *testing.T, r *Rig) {
	w := r.worker(t)
	defer w.close()
	r.send(t, "first", "second")
	msgs := w.take(2)
	w.ack(msgs[0], msgs[0])
	again := w.one()
	if again.ID != msgs[1].ID {
		t.Errorf("got %s, want the one that was not acked, %s", again.ID, msgs[1].ID)
	}
	w.ack(again, msgs[0])
}

const many = 25

func manyAcks(t *testing.T, r *Rig) {
	w := r.worker(t)
	defer w.close()
	msgs := w.sent(many)
	all(msgs, func(m *consumer.Message) { w.ack(m) })
	w.nothingFor(r.Visibility + 2*r.Grain)
}

func manyNacks(t *testing.T, r *Rig) {
	w := r.worker(t)
	defer w.close()
	msgs := w.sent(many)
	all(msgs, func(m *consumer.Message) { w.nack(m, 0) })
	seen := map[string]bool{}
	for _, m := range w.take(many) {
		seen[m.ID] = true
		w.ack(m)
	}
	if len(seen) != many {
		t.Errorf("got %d different messages back, want %d", len(seen), many)
	}
}

func (w *worker) sent(n int) []*consumer.Message {
	w.t.Helper()
	for i := range n {
		w.r.send(w.t, fmt.Sprint("body ", i))
	}
	return w.take(n)
}

func all(msgs []*consumer.Message, f func(*consumer.Message)) {
	var wg sync.WaitGroup
	for _, m := range msgs {
		wg.Go(func() { f(m) })
	}
	wg.Wait()
}

func oneGivesUp(t *testing.T, r *Rig) {
	w := r.worker(t)
	defer w.close()
	msgs := w.sent(5)
	given, cancel := context.WithCancel(t.Context())
	cancel()
	all(msgs, func(m *consumer.Message) {
		if m == msgs[0] {
			if err := w.Ack(given, m); err != nil && !errors.Is(err, context.Canceled) {
				t.Errorf("got %v of the ack that was given up, want nil or context.Canceled", err)
			}
			return
		}
		w.ack(m) //nolint:contextcheck // on the test's context: the receive's ends early
	})
	ctx, stop := context.WithTimeout(t.Context(), r.Visibility+r.Grain)
	defer stop()
	for {
		back, err := w.Receive(ctx, 10)
		if err != nil {
			return
		}
		for _, m := range back {
			if m.ID != msgs[0].ID {
				t.Errorf("%s came back, although its own ack succeeded", m.ID)
			}
			w.ack(m)
		}
	}
}

func foreign(t *testing.T, r *Rig) {
	w := r.worker(t)
	defer w.close()
	id := r.send(t, "body")[0]
	for _, m := range []*consumer.Message{{ID: "nobody"}, {ID: id}, {ID: id, Receipt: 1}, {ID: id, Receipt: "receipt"}} {
		if err := w.Ack(t.Context(), m); err == nil {
			t.Errorf("the ack of %+v succeeded", m)
		}
		if err := w.Nack(t.Context(), m, 0); err == nil {
			t.Errorf("the nack of %+v succeeded", m)
		}
		if x, ok := w.Source.(consumer.Extender); ok && x.Extend(t.Context(), m) == nil {
			t.Errorf("the extension of %+v succeeded", m)
		}
		if d, ok := w.Source.(consumer.DeadLetterer); ok && d.DeadLetter(t.Context(), m, consumer.DeadLetter{Reason: "x"}) == nil {
			t.Errorf("the dead letter of %+v succeeded", m)
		}
	}
	w.ack(w.one())
}
