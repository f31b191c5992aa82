package adaptertest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/claimonce/claimonce/consumer"
)

func settling() []Promise {
	return []Promise{
		{"acked is gone", "an acked message does not come back", ackedIsGone},
		{"ack twice", "a second ack of the same delivery does no harm", ackTwice},
		{"many acks", "many acks at a time all count, each for its own message", manyAcks},
		{"many nacks", "many nacks at a time all count, each for its own message", manyNacks},
		{"one gives up", "a caller that gives up does not fail the others", oneGivesUp},
		{"beside receive", "Ack, Nack and Extend work while a Receive waits", settlesBesideReceive},
		{"foreign", "a message that was not received from this source is refused", foreign},
	}
}

func ackedIsGone(t *probe) {
	w := t.worker()
	t.send("body")
	w.ack(w.one())
	w.nothingFor(2*t.rig.Visibility + t.rig.Grain)
}

func ackTwice(t *probe) {
	w, other := t.pair()
	t.send("first", "second")
	msgs := w.take(2)
	w.ack(msgs[0], msgs[0])
	if w == other {
		w.nack(msgs[1], 0)
	}
	again := other.one()
	if again.ID != msgs[1].ID {
		t.Errorf("got %s, want the one that was not acked, %s", again.ID, msgs[1].ID)
	}
	other.ack(again)
	w.ack(msgs[0])
}

const many = 25

func manyAcks(t *probe) {
	w, other := t.pair()
	msgs := w.sent(many)
	all(msgs[1:], func(m *consumer.Message) { w.ack(m) })
	if w == other {
		w.nack(msgs[0], 0)
	}
	if m := other.one(); m.ID != msgs[0].ID {
		t.Errorf("got %s back, want %s, the only one that was not acked", m.ID, msgs[0].ID)
	} else {
		other.ack(m)
	}
	other.nothingFor(t.rig.Visibility + 2*t.rig.Grain)
}

func manyNacks(t *probe) {
	w, other := t.pair()
	msgs := w.sent(many)
	before := time.Now()
	all(msgs, func(m *consumer.Message) { w.nack(m, 0) })
	seen := map[string]bool{}
	for _, m := range other.take(many) {
		seen[m.ID] = true
		other.ack(m)
	}
	t.due(before, 0)
	if len(seen) != many {
		t.Errorf("got %d different messages back, want %d", len(seen), many)
	}
}

func (w *worker) sent(n int) []*consumer.Message {
	for i := range n {
		w.t.send(fmt.Sprint("body ", i))
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

func oneGivesUp(t *probe) {
	w := t.worker()
	msgs := w.sent(5)
	given, cancel := context.WithCancel(t.ctx)
	cancel()
	all(msgs, func(m *consumer.Message) {
		if m == msgs[0] {
			err := inTime(t, "ack with a context that has ended", soon, func() error { return w.Ack(given, m) })
			if err != nil && !errors.Is(err, context.Canceled) {
				t.Errorf("got %v of the ack that was given up, want nil or context.Canceled", err)
			}
			return
		}
		w.ack(m)
	})
	end := time.Now().Add(2 * (t.rig.Visibility + t.rig.Grain))
	for {
		back, err := w.receive(t.ctx, 10, time.Until(end))
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

func settlesBesideReceive(t *probe) {
	w := t.worker()
	msgs := w.sent(3)
	for _, m := range msgs {
		w.keep(m) // sending and receiving them may have used the visibility up
	}
	next := w.later()
	elapse(time.Second / 2) // it waits for the broker now
	beside := func(what string, call func() error) {
		if err := inTime(t, what+" beside a receive", soon, call); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	beside("ack", func() error { return w.Ack(t.ctx, msgs[0]) })
	if x, ok := w.Source.(consumer.Extender); ok {
		beside("extend", func() error { return x.Extend(t.ctx, msgs[2]) })
	}
	beside("nack", func() error { return w.Nack(t.ctx, msgs[1], 0) }) // last: it ends the wait
	again := <-next
	if got := ids(again); len(got) != 1 || got[0] != msgs[1].ID {
		t.Errorf("got %v of the receive, want %s, which was nacked", got, msgs[1].ID)
	}
	w.ack(append(again, msgs[2])...)
}

func foreign(t *probe) {
	w := t.worker()
	id := t.send("body")[0]
	for _, m := range []*consumer.Message{{ID: "nobody"}, {ID: id}, {ID: id, Receipt: 1}, {ID: id, Receipt: "receipt"}} {
		if err := w.Ack(t.ctx, m); err == nil {
			t.Errorf("the ack of %s with receipt %v succeeded", m.ID, m.Receipt)
		}
		if err := w.Nack(t.ctx, m, 0); err == nil {
			t.Errorf("the nack of %s with receipt %v succeeded", m.ID, m.Receipt)
		}
		if x, ok := w.Source.(consumer.Extender); ok && w.extend(x, m) == nil {
			t.Errorf("the extension of %s with receipt %v succeeded", m.ID, m.Receipt)
		}
		if d, ok := w.Source.(consumer.DeadLetterer); ok && d.DeadLetter(t.ctx, m, consumer.DeadLetter{Reason: "x"}) == nil {
			t.Errorf("the dead letter of %s with receipt %v succeeded", m.ID, m.Receipt)
		}
	}
	w.ack(w.one())
}
