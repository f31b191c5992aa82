package sourcetest

import (
	"context"
	"testing"
)

func closing() []Check {
	return []Check{
		{"close loses nothing", closeLosesNothing},
		{"close takes nothing from other workers", closeLeavesOthers},
		{"close twice does no harm", closeTwice},
		{"a source that was closed gives nothing any more", receiveAfterClose},
	}
}

func closeLosesNothing(t *testing.T, r *Rig) {
	w, other := r.worker(t), r.worker(t)
	defer other.close()
	sent := r.send(t, "first", "second", "third")
	msgs := w.take(3)
	w.ack(msgs[0])
	w.close()
	seen := map[string]bool{}
	for _, m := range other.take(2) {
		seen[m.ID] = true
		other.ack(m)
	}
	for _, id := range sent {
		if want := id != msgs[0].ID; seen[id] != want {
			t.Errorf("message %s came back: %v, want %v", id, seen[id], want)
		}
	}
	other.nothingFor(r.Visibility + r.Grain)
}

func closeLeavesOthers(t *testing.T, r *Rig) {
	w, other := r.worker(t), r.worker(t)
	defer other.close()
	r.send(t, "body")
	m := other.one()
	w.close()
	other.nothingFor(r.Visibility / 2)
	other.ack(m)
	other.nothingFor(r.Visibility + r.Grain)
}

func closeTwice(t *testing.T, r *Rig) {
	w := r.worker(t)
	w.close()
	w.close()
}

func receiveAfterClose(t *testing.T, r *Rig) {
	w, other := r.worker(t), r.worker(t)
	defer other.close()
	w.close()
	r.send(t, "body")
	ctx, cancel := context.WithTimeout(t.Context(), r.Visibility)
	defer cancel()
	if msgs, err := w.Receive(ctx, 1); err == nil || len(msgs) > 0 {
		t.Errorf("got %v, %v of a source that was closed, want an error", ids(msgs), err)
	}
	other.ack(other.one())
}
