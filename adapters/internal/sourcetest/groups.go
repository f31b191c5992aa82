package sourcetest

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/claimonce/claimonce/consumer"
)

func groups() []Check {
	return []Check{
		{"messages of a group come in order", groupOrder},
		{"nothing of a group comes while its head is hidden", groupBlocked},
		{"nacks head first keep a group's order", groupNacked},
		{"the next of a group comes when its head is done", groupNext},
		{"groups do not wait for each other", groupsApart},
	}
}

func (r *Rig) sendTo(t *testing.T, group string, n int) (ids []string) {
	t.Helper()
	for i := range n {
		ids = append(ids, r.Send(t, group, consumer.Message{Body: fmt.Append(nil, group, " ", i)}))
	}
	return ids
}

func groupOrder(t *testing.T, r *Rig) {
	w := r.worker(t)
	defer w.close()
	sent := r.sendTo(t, "g", 12)
	var got []string
	for range sent {
		m := w.one()
		if m.Group != "g" {
			t.Errorf("got group %q, want g", m.Group)
		}
		got = append(got, m.ID)
		w.ack(m)
	}
	if !slices.Equal(got, sent) {
		t.Errorf("got %v, want %v", got, sent)
	}
}

func groupBlocked(t *testing.T, r *Rig) {
	w, other := r.worker(t), r.worker(t)
	defer w.close()
	defer other.close()
	sent := r.sendTo(t, "g", 2)
	head := w.one()
	other.nothingFor(r.Visibility / 2)
	w.nack(head, r.Visibility)
	other.nothingFor(r.Visibility / 2)
	for _, id := range sent {
		m := other.one()
		if m.ID != id {
			t.Errorf("got %s, want %s", m.ID, id)
		}
		other.ack(m)
	}
}

func groupNacked(t *testing.T, r *Rig) {
	w, other := r.worker(t), r.worker(t)
	defer w.close()
	defer other.close()
	sent := r.sendTo(t, "g", 3)
	msgs := w.take(3)
	if got := ids(msgs); !slices.Equal(got, sent) {
		t.Errorf("got %v, want %v", got, sent)
	}
	before := time.Now()
	w.nack(msgs[0], 2*time.Second)
	w.nack(msgs[1], 0)
	w.nack(msgs[2], 0)
	var got []string
	for range sent {
		m := other.one()
		got = append(got, m.ID)
		r.due(t, before, 2*time.Second)
		other.ack(m)
	}
	if !slices.Equal(got, sent) {
		t.Errorf("got %v after the nacks, want %v", got, sent)
	}
}

func groupNext(t *testing.T, r *Rig) {
	w, other := r.worker(t), r.worker(t)
	defer w.close()
	defer other.close()
	sent := r.sendTo(t, "g", 2)
	head := w.one()
	next := other.later()
	elapse(r.Grain)
	before := time.Now()
	w.ack(head)
	msgs := <-next
	r.due(t, before, 0)
	if len(msgs) != 1 || msgs[0].ID != sent[1] {
		t.Errorf("got %v, want %s", ids(msgs), sent[1])
	}
	other.ack(msgs...)
}

func groupsApart(t *testing.T, r *Rig) {
	w := r.worker(t)
	defer w.close()
	blocked := r.sendTo(t, "a", 2)
	head := w.one()
	free := append(r.sendTo(t, "b", 1), r.sendTo(t, "", 1)...)
	for _, id := range free {
		m := w.one()
		if m.ID != id {
			t.Errorf("got %s, want %s, which waits for nothing", m.ID, id)
		}
		w.ack(m)
	}
	w.ack(head)
	m := w.one()
	if m.ID != blocked[1] {
		t.Errorf("got %s, want %s", m.ID, blocked[1])
	}
	w.ack(m)
}
