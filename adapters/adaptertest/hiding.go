package adaptertest

import (
	"time"
)

func hiding() []Promise {
	return []Promise{
		{"unacked", "what is neither acked nor nacked comes back after its visibility, to anybody", comesBack},
		{"nack delay", "a nacked message comes after its delay", nackDelay},
		{"nack fraction", "the delay of a nack is rounded up, never down", nackFraction},
		{"nack none", "a nack without delay brings the message at once", nackZero},
		{"nack negative", "a negative delay counts as none", nackNegative},
		{"nack long", "a delay beyond the visibility holds", nackLong},
		{"due first", "what is due first comes first, whatever was sent or nacked first", dueFirst},
		{"nack wakes", "a nack wakes a worker that waits", nackWakes},
		{"extend", "an extended message stays hidden, for another visibility from then", extendHides},
		{"visibility", "Visibility says for how long a message stays hidden", visibilityHolds},
	}
}

func comesBack(t *probe) {
	w, other := t.competing()
	id := t.send("body")[0]
	before := time.Now()
	w.one()
	m := other.one()
	t.due(before, t.rig.Visibility)
	if m.ID != id {
		t.Errorf("got %s, want %s", m.ID, id)
	}
	other.ack(m)
	w.nothingFor(t.rig.Visibility + t.rig.Grain)
}

func nackDelay(t *probe)    { t.nackFor(2*time.Second, 2*time.Second) }
func nackFraction(t *probe) { t.nackFor(1100*time.Millisecond, 1100*time.Millisecond) }
func nackZero(t *probe)     { t.nackFor(0, 0) }
func nackNegative(t *probe) { t.nackFor(-time.Minute, 0) }
func nackLong(t *probe)     { t.nackFor(t.rig.Visibility+2*time.Second, t.rig.Visibility+2*time.Second) }

func (t *probe) nackFor(delay, want time.Duration) {
	w, other := t.pair()
	t.send("body")
	m := w.one()
	before := time.Now()
	w.nack(m, delay)
	again := other.one()
	t.due(before, want)
	if again.ID != m.ID {
		t.Errorf("got %s, want %s", again.ID, m.ID)
	}
	other.ack(again)
}

func dueFirst(t *probe) {
	w, other := t.pair()
	t.send("first", "second", "third")
	msgs := w.take(3)
	before := time.Now()
	w.nack(msgs[0], 2*t.rig.Visibility)
	w.nack(msgs[1], 2*time.Second)
	w.ack(msgs[2])
	first := other.one()
	t.due(before, 2*time.Second)
	if first.ID != msgs[1].ID {
		t.Errorf("got %s, want %s, which is due first", first.ID, msgs[1].ID)
	}
	other.ack(first)
	second := other.takeWithin(1, 2*t.rig.Visibility+slack)[0]
	t.due(before, 2*t.rig.Visibility)
	other.ack(second)
}

func nackWakes(t *probe) {
	w, other := t.pair()
	t.send("body")
	m := w.one()
	back := other.later()
	elapse(t.rig.Grain)
	before := time.Now()
	w.nack(m, 0)
	again := <-back
	t.due(before, 0)
	other.ack(again...)
}

func extendHides(t *probe) {
	w, other := t.competing()
	x := w.extender()
	t.send("body")
	last := time.Now()
	m := w.one()
	times := 5
	if t.rig.FakeTime {
		times = 40
	}
	for range times {
		other.nothingUntil(last.Add(t.rig.Visibility * 3 / 5))
		last = time.Now()
		if err := w.extend(x, m); err != nil {
			t.Fatalf("extend: %v", err)
		}
	}
	again := other.one()
	t.due(last, t.rig.Visibility)
	other.ack(again)
}

func visibilityHolds(t *probe) {
	w := t.worker()
	x := w.extender()
	t.send("body")
	m := w.one()
	if got := x.Visibility(); got != t.rig.Visibility {
		t.Errorf("got visibility %v, want %v", got, t.rig.Visibility)
	}
	w.ack(m)
}
