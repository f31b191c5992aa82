package adaptertest

import (
	"errors"
	"time"

	"github.com/claimonce/claimonce/consumer"
)

func losing() []Promise {
	return []Promise{
		{"taken away", "a delivery whose message another worker has now is not held, and cannot disturb that worker", takenAway},
		{"acked not held", "a delivery that was acked is not held, and a nack of it brings nothing back", ackedIsNotHeld},
		{"nacked not held", "a delivery that was nacked is not held: a second nack and an ack of it change nothing", nackedIsNotHeld},
		{"revoked", "Revoked is closed soon after the broker took a message back", revoked},
	}
}

func (t *probe) notHeld(what string, err error) {
	if !errors.Is(err, consumer.ErrNotHeld) {
		t.Errorf("%s: got %v, want consumer.ErrNotHeld", what, err)
	}
}

// harmless: a broker that ignores what came too late need not say so.
func (t *probe) harmless(what string, err error) {
	if err != nil {
		t.notHeld(what, err)
	}
}

func takenAway(t *probe) {
	w, other := t.competing()
	x := w.extender()
	t.send("body")
	old := w.one()
	current := other.one() // after the visibility
	taken := time.Now()
	t.notHeld("extend", w.extend(x, old))
	t.notHeld("nack", w.Nack(t.ctx, old, 0))
	// A broker may take the delete of an old delivery for one of the message, or ignore it, and need not say which.
	t.harmless("ack", w.Ack(t.ctx, old))
	if left := t.rig.Visibility - time.Since(taken) - t.rig.Grain; left > 0 {
		w.nothingFor(left / 2)
	}
	other.ack(current)
	w.nothingFor(t.rig.Visibility + t.rig.Grain)
}

func ackedIsNotHeld(t *probe) {
	w := t.worker()
	t.send("body")
	m := w.one()
	w.ack(m)
	if x, ok := w.Source.(consumer.Extender); ok {
		t.notHeld("extend", w.extend(x, m))
	}
	t.harmless("nack", w.Nack(t.ctx, m, 0))
	w.nothingFor(t.rig.Visibility + t.rig.Grain)
}

func nackedIsNotHeld(t *probe) {
	w := t.worker()
	t.send("body")
	m := w.one()
	before := time.Now()
	w.nack(m, 2*time.Second)
	if x, ok := w.Source.(consumer.Extender); ok {
		t.notHeld("extend", w.extend(x, m))
	}
	t.harmless("nack", w.Nack(t.ctx, m, 0))
	t.harmless("ack", w.Ack(t.ctx, m))
	again := w.one()
	t.due(before, 2*time.Second) // nothing of it changed anything
	w.ack(again)
}

func revoked(t *probe) {
	t.need(t.queue.Revoke != nil, "the rig cannot revoke")
	w := t.worker()
	id := t.send("body")[0]
	m := w.one()
	if m.Revoked() == nil {
		t.Fatalf("Revoked is nil, although the broker can take messages back")
	}
	select {
	case <-m.Revoked():
		t.Fatalf("Revoked is closed of a message that is held")
	default:
	}
	if err := t.queue.Revoke(t.ctx, m); err != nil {
		t.Fatalf("the rig cannot revoke: %v", err)
	}
	select {
	case <-m.Revoked():
	case <-time.After(soon):
		t.Fatalf("Revoked is not closed %v after the broker took the message back", soon)
	}
	if again := w.one(); again.ID != id {
		t.Errorf("got %s, want %s, which was taken back", again.ID, id)
	} else {
		w.ack(again)
	}
}
