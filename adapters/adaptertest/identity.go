package adaptertest

import (
	"time"

	"github.com/claimonce/claimonce/consumer"
)

func identity() []Promise {
	return []Promise{
		{"same message", "a message keeps its id, group, time and contents over redelivery", sameMessage},
		{"receives", "Receives counts the deliveries of a message, or is 0 always", receives},
		{"sent at", "SentAt is when the message was sent, or zero always", sentAt},
	}
}

func sameMessage(t *probe) {
	w, other := t.pair()
	attrs := []consumer.Attribute{{Name: "Idempotency-Key", Value: []byte("k")}, {Name: "Bytes", Value: []byte{0, 0xff}, Binary: true}}
	sent := consumer.Message{Body: []byte("body"), Attributes: attrs}
	if t.rig.Groups {
		sent.Group = "g"
	}
	id := t.sendMessage(sent)
	first := w.one()
	if t.rig.Groups {
		t.ofGroup("g", first)
	}
	w.nack(first, 0)
	second := other.one()
	if first.ID != id || second.ID != id || id == "" {
		t.Errorf("got ids %q and %q, want %q twice", first.ID, second.ID, id)
	}
	if first.Group != second.Group || !first.SentAt.Equal(second.SentAt) {
		t.Errorf("got group %q and time %v, then %q and %v, want the same again", first.Group, first.SentAt, second.Group, second.SentAt)
	}
	if string(second.Body) != "body" {
		t.Errorf("got body %q the second time", second.Body)
	}
	t.sameAttributes(second.Attributes, attrs)
	other.ack(second)
}

func receives(t *probe) {
	w, other := t.pair()
	t.send("body")
	for i := range 4 {
		m := w.one()
		if want := i + 1; m.Receives != want && m.Receives != 0 {
			t.Errorf("got %d receives at delivery %d", m.Receives, want)
		}
		if i < 3 {
			w.nack(m, 0)
		} else {
			w.ack(m)
		}
		w, other = other, w
	}
}

// drift is what a broker's clock may be off.
func (t *probe) drift() time.Duration {
	if t.rig.FakeTime {
		return t.rig.Grain
	}
	return time.Minute
}

func sentAt(t *probe) {
	w := t.worker()
	before := time.Now()
	t.send("body")
	after := time.Now()
	elapse(time.Second + 2*t.rig.Grain)
	m := w.one()
	if m.SentAt.IsZero() {
		t.Skipf("the broker does not say when a message was sent")
	}
	if m.SentAt.Before(before.Add(-t.drift())) || m.SentAt.After(after.Add(t.drift())) {
		t.Errorf("got sent at %v, want between %v and %v", m.SentAt, before, after)
	}
	w.ack(m)
}
