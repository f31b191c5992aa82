package adaptertest

import (
	"context"
	"errors"
	"time"
)

func closing() []Promise {
	return []Promise{
		{"close loses nothing", "what is held when a source closes comes at once to others, and what was acked does not", closeLosesNothing},
		{"close leaves others", "close takes nothing from other workers", closeLeavesOthers},
		{"close twice", "a second close does no harm", closeTwice},
		{"closed", "a source that was closed gives nothing any more, and says so", receiveAfterClose},
	}
}

func closeLosesNothing(t *probe) {
	w := t.worker()
	sent := t.send("first", "second", "third")
	msgs := w.take(3)
	w.ack(msgs[0])
	before := time.Now()
	w.close()
	other := t.worker()
	seen := map[string]bool{}
	for _, m := range other.take(2) {
		seen[m.ID] = true
		other.ack(m)
	}
	t.due(before, 0)
	for _, id := range sent {
		if want := id != msgs[0].ID; seen[id] != want {
			t.Errorf("message %s came back: %v, want %v", id, seen[id], want)
		}
	}
	other.nothingFor(t.rig.Visibility + t.rig.Grain)
}

func closeLeavesOthers(t *probe) {
	w, other := t.competing()
	t.send("body")
	before := time.Now()
	m := other.one()
	w.close()
	other.nothingUntil(before.Add(t.rig.Visibility / 2))
	other.ack(m)
	other.nothingFor(t.rig.Visibility + t.rig.Grain)
}

func closeTwice(t *probe) {
	w := t.worker()
	w.close()
	w.close()
}

func receiveAfterClose(t *probe) {
	w := t.worker()
	w.close()
	t.send("body")
	msgs, err := w.receive(t.ctx, 1, soon)
	if err == nil || errors.Is(err, context.DeadlineExceeded) { // it waited for what can never come
		t.Errorf("got %v, %v of a source that was closed, want an error that says so", ids(msgs), err)
	}
	other := t.worker()
	other.ack(other.one())
}
