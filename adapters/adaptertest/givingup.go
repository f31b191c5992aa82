package adaptertest

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/claimonce/claimonce/consumer"
)

func givingUp() []Promise {
	return []Promise{
		{"calls given up", "every call returns soon after its context ended, and what it was about is not lost", callsGivenUp},
		{"asking given up", "Check and MaxRedelivery return soon after their context ended", askingGivenUp},
	}
}

func callsGivenUp(t *probe) {
	w := t.worker()
	msgs := w.sent(5) // one for each call
	_ = w.giveUp("ack", msgs[0], w.Ack)
	_ = w.giveUp("nack", msgs[1], func(ctx context.Context, m *consumer.Message) error { return w.Nack(ctx, m, 0) })
	if x, ok := w.Source.(consumer.Extender); ok {
		_ = w.giveUp("extend", msgs[2], x.Extend)
	}
	if l, ok := w.Source.(consumer.Leaver); ok {
		_ = w.giveUp("leave", msgs[3], l.Leave)
	}
	copied := errors.New("there are no dead letters")
	if d, ok := w.Source.(consumer.DeadLetterer); ok && t.queue.DeadLetters != nil {
		copied = w.giveUp("dead letter", msgs[4], func(ctx context.Context, m *consumer.Message) error {
			return d.DeadLetter(ctx, m, consumer.DeadLetter{Reason: consumer.ReasonPermanent})
		})
	}
	w.close()
	want := map[string]bool{}
	for _, m := range msgs {
		want[m.ID] = true
	}
	delete(want, msgs[0].ID) // whether it is done is open
	if t.queue.DeadLetters != nil && t.hasDead(msgs[4]) {
		delete(want, msgs[4].ID)
	} else if copied == nil {
		t.Errorf("a dead letter that was given up succeeded, and left no copy")
	}
	t.comeBack(want)
}

func (t *probe) comeBack(want map[string]bool) {
	other := t.worker()
	for end := time.Now().Add(t.rig.Visibility + slack); len(want) > 0; {
		msgs, err := other.receive(t.ctx, 10, time.Until(end))
		if err != nil {
			t.Errorf("lost is %v: a call about it was given up", slices.Sorted(maps.Keys(want)))
			return
		}
		for _, m := range msgs {
			delete(want, m.ID)
		}
		other.ack(msgs...)
	}
}

// giveUp makes a call whose context has ended: it can do its work all the same.
func (w *worker) giveUp(what string, m *consumer.Message, call func(context.Context, *consumer.Message) error) error {
	w.keep(m) // the calls before may have used the visibility up
	ctx, cancel := context.WithCancel(w.t.ctx)
	cancel()
	err := inTime(w.t, what+" with a context that has ended", soon, func() error { return call(ctx, m) })
	if err != nil && !errors.Is(err, context.Canceled) {
		w.t.Errorf("got %v of the %s that was given up, want nil or context.Canceled", err, what)
	}
	return err
}

func (t *probe) hasDead(m *consumer.Message) bool {
	for _, d := range t.deadNow() {
		if string(d.Message.Body) == string(m.Body) {
			return true
		}
	}
	return false
}

func askingGivenUp(t *probe) {
	w := t.worker()
	c, checks := w.Source.(consumer.Checker)
	r, knows := w.Source.(consumer.Redeliverer)
	t.need(checks || knows, "the source is neither a Checker nor a Redeliverer")
	ctx, cancel := context.WithCancel(t.ctx)
	cancel()
	ask := func(what string, call func() error) { // it may know the answer by now
		_ = inTime(t, what+" with a context that has ended", soon, call)
	}
	if checks {
		ask("check", func() error { return c.Check(ctx) })
	}
	if knows {
		ask("max redelivery", func() error {
			_, err := r.MaxRedelivery(ctx)
			return err
		})
	}
}
