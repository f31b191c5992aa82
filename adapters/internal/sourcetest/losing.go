package sourcetest

import (
	"errors"
	"testing"
	"time"

	"github.com/claimonce/claimonce/consumer"
)

func losing() []Check {
	return []Check{
		{"a delivery that another worker has now is not held", takenAway},
		{"a delivery that was acked is not held", ackedIsNotHeld},
		{"a delivery that was nacked is not held", nackedIsNotHeld},
	}
}

func notHeld(t *testing.T, what string, err error) {
	t.Helper()
	if !errors.Is(err, consumer.ErrNotHeld) {
		t.Errorf("%s: got %v, want consumer.ErrNotHeld", what, err)
	}
}

func takenAway(t *testing.T, r *Rig) {
	if r.OldReceipts {
		t.Skip("the server does not tell deliveries apart")
	}
	w, other := r.worker(t), r.worker(t)
	defer w.close()
	defer other.close()
	x := w.extender()
	r.send(t, "body")
	old := w.one()
	current := other.one() // after the visibility
	taken := time.Now()
	notHeld(t, "extend", x.Extend(t.Context(), old))
	notHeld(t, "nack", w.Nack(t.Context(), old, 0))
	// A broker may take the delete of an old delivery for one of the message, or ignore it, and need not say which.
	if err := w.Ack(t.Context(), old); err != nil {
		notHeld(t, "ack", err)
	}
	if left := r.Visibility - time.Since(taken) - r.Grain; left > 0 {
		w.nothingFor(left / 2)
	}
	other.ack(current)
	w.nothingFor(r.Visibility + r.Grain)
}

func ackedIsNotHeld(t *testing.T, r *Rig) {
	w := r.worker(t)
	defer w.close()
	x := w.extender()
	r.send(t, "body")
	m := w.one()
	w.ack(m)
	notHeld(t, "extend", x.Extend(t.Context(), m))
	notHeld(t, "nack", w.Nack(t.Context(), m, 0))
}

func nackedIsNotHeld(t *testing.T, r *Rig) {
	w := r.worker(t)
	defer w.close()
	x := w.extender()
	r.send(t, "body")
	m := w.one()
	before := time.Now()
	w.nack(m, 2*time.Second)
	notHeld(t, "extend", x.Extend(t.Context(), m))
	again := w.one()
	r.due(t, before, 2*time.Second) // the extension changed nothing
	w.ack(again)
}
