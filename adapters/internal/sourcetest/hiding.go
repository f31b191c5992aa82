package sourcetest

import (
	"testing"
	"time"
)

func hiding() []Check {
	return []Check{
		{"what is neither acked nor nacked comes back after its visibility", comesBack},
		{"a nacked message comes after its delay", nackDelay},
		{"a nack's delay is rounded up, never down", nackFraction},
		{"a nack without delay brings the message at once, to anybody", nackZero},
		{"a negative delay counts as none", nackNegative},
		{"a delay beyond the visibility holds", nackLong},
		{"what is due first comes first", dueFirst},
		{"a nack wakes a worker that waits", nackWakes},
		{"an extended message stays hidden", extendHides},
		{"visibility says what holds", visibilityHolds},
	}
}

func comesBack(t *testing.T, r *Rig) {
	w, other := r.worker(t), r.worker(t)
	defer w.close()
	defer other.close()
	id := r.send(t, "body")[0]
	before := time.Now()
	w.one()
	m := other.one()
	r.due(t, before, r.Visibility)
	if m.ID != id {
		t.Errorf("got %s, want %s", m.ID, id)
	}
	other.ack(m)
	w.nothingFor(r.Visibility + r.Grain)
}

func nackDelay(t *testing.T, r *Rig)    { nackFor(t, r, 2*time.Second, 2*time.Second) }
func nackFraction(t *testing.T, r *Rig) { nackFor(t, r, 1100*time.Millisecond, 1100*time.Millisecond) }
func nackZero(t *testing.T, r *Rig)     { nackFor(t, r, 0, 0) }
func nackNegative(t *testing.T, r *Rig) { nackFor(t, r, -time.Minute, 0) }
func nackLong(t *testing.T, r *Rig) {
	nackFor(t, r, r.Visibility+2*time.Second, r.Visibility+2*time.Second)
}

func nackFor(t *testing.T, r *Rig, delay, want time.Duration) {
	t.Helper()
	w, other := r.worker(t), r.worker(t)
	defer w.close()
	defer other.close()
	r.send(t, "body")
	m := w.one()
	before := time.Now()
	w.nack(m, delay)
	again := other.one()
	r.due(t, before, want)
	if again.ID != m.ID {
		t.Errorf("got %s, want %s", again.ID, m.ID)
	}
	other.ack(again)
}

func dueFirst(t *testing.T, r *Rig) {
	w, other := r.worker(t), r.worker(t)
	defer w.close()
	defer other.close()
	r.send(t, "first", "second", "third")
	msgs := w.take(3)
	before := time.Now()
	w.nack(msgs[0], 2*r.Visibility)
	w.nack(msgs[1], 2*time.Second)
	w.ack(msgs[2])
	first := other.one()
	r.due(t, before, 2*time.Second)
	if first.ID != msgs[1].ID {
		t.Errorf("got %s, want %s, which is due first", first.ID, msgs[1].ID)
	}
	other.ack(first)
	second := other.takeWithin(1, 2*r.Visibility+slack)[0]
	r.due(t, before, 2*r.Visibility)
	other.ack(second)
}

func nackWakes(t *testing.T, r *Rig) {
	w, other := r.worker(t), r.worker(t)
	defer w.close()
	defer other.close()
	r.send(t, "body")
	m := w.one()
	back := other.later()
	elapse(r.Grain)
	before := time.Now()
	w.nack(m, 0)
	again := <-back
	r.due(t, before, 0)
	other.ack(again...)
}

func extendHides(t *testing.T, r *Rig) {
	w, other := r.worker(t), r.worker(t)
	defer w.close()
	defer other.close()
	x := w.extender()
	r.send(t, "body")
	m := w.one()
	var last time.Time
	for range 3 {
		other.nothingFor(r.Visibility * 2 / 3)
		last = time.Now()
		if err := x.Extend(t.Context(), m); err != nil {
			t.Fatalf("extend: %v", err)
		}
	}
	again := other.one()
	r.due(t, last, r.Visibility)
	other.ack(again)
}

func visibilityHolds(t *testing.T, r *Rig) {
	w := r.worker(t)
	defer w.close()
	x := w.extender()
	r.send(t, "body")
	m := w.one()
	if got := x.Visibility(); got != r.Visibility {
		t.Errorf("got visibility %v, want %v", got, r.Visibility)
	}
	w.ack(m)
}
