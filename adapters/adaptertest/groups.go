package adaptertest

import (
	"slices"
	"time"

	"github.com/claimonce/claimonce/consumer"
)

func groups() []Promise {
	return []Promise{
		{"group order", "messages of a group come in the order of sending, and name their group", groupOrder},
		{"group waits", "nothing of a group comes while its head is hidden, and the redelivered head comes first", groupBlocked},
		{"group nacked", "nacks of a group's messages, head first, keep its order", groupNacked},
		{"group next", "the next of a group comes when its head is done", groupNext},
		{"group crash", "what a dead worker held of a group comes back in order, before what is behind it", groupCrash},
		{"groups apart", "groups do not wait for each other", groupsApart},
	}
}

func (t *probe) needGroups() { t.need(t.rig.Groups, "the queue has no groups") }

// ofGroup: what has lost its group at a redelivery runs beside what waits for it.
func (t *probe) ofGroup(group string, msgs ...*consumer.Message) {
	for _, m := range msgs {
		if m.Group != group {
			t.Errorf("got group %q of %s, want %q", m.Group, m.ID, group)
		}
	}
}

func groupOrder(t *probe) {
	t.needGroups()
	w := t.worker()
	sent := t.sendTo("g", 24)
	if got := w.inOrder("g", len(sent)); !slices.Equal(got, sent) {
		t.Errorf("got %v, want %v", got, sent)
	}
}

// inOrder takes n messages of a group, alone and in batches, and acks each batch in its order: the order within a batch is the one
// in which its messages run.
func (w *worker) inOrder(group string, n int) (got []string) {
	limits := []int{10, 1, 4}
	for len(got) < n {
		msgs, err := w.receive(w.t.ctx, min(limits[0], n-len(got)), w.t.rig.Visibility+slack)
		if err != nil {
			w.t.Fatalf("got %v and then %v, want %d messages", got, err, n)
		}
		w.t.ofGroup(group, msgs...)
		got = append(got, ids(msgs)...)
		w.ack(msgs...)
		limits = append(limits[1:], limits[0])
	}
	return got
}

func groupBlocked(t *probe) {
	t.needGroups()
	w, other := t.pair()
	sent := t.sendTo("g", 2)
	before := time.Now()
	head := w.one()
	other.nothingUntil(before.Add(t.rig.Visibility / 2))
	before = time.Now()
	w.nack(head, t.rig.Visibility)
	other.nothingUntil(before.Add(t.rig.Visibility / 2))
	for _, id := range sent {
		m := other.one()
		if m.ID != id {
			t.Errorf("got %s, want %s", m.ID, id)
		}
		t.ofGroup("g", m)
		other.ack(m)
	}
}

func groupNacked(t *probe) {
	t.needGroups()
	w, other := t.pair()
	sent := t.sendTo("g", 6)
	msgs, err := w.receive(t.ctx, len(sent), slack) // once: a source may keep the rest of a group back until its head is done
	if got := ids(msgs); err != nil || !slices.Equal(got, sent[:len(got)]) {
		t.Fatalf("got %v and %v, want the first of %v", got, err, sent)
	}
	before := time.Now()
	delay := 2 * time.Second // of the head; those behind it would be due at once
	for _, m := range msgs {
		w.nack(m, delay)
		delay = 0
	}
	var got []string
	for range sent {
		m := other.one()
		got = append(got, m.ID)
		t.ofGroup("g", m)
		t.due(before, 2*time.Second)
		other.ack(m)
	}
	if !slices.Equal(got, sent) {
		t.Errorf("got %v after the nacks, want %v", got, sent)
	}
}

func groupNext(t *probe) {
	t.needGroups()
	w, other := t.pair()
	sent := t.sendTo("g", 2)
	head := w.one()
	next := other.later()
	elapse(t.rig.Grain)
	select {
	case msgs := <-next:
		t.Fatalf("got %v while the head %s was held", ids(msgs), head.ID)
	default:
	}
	before := time.Now()
	w.ack(head)
	msgs := <-next
	t.due(before, 0)
	if len(msgs) != 1 || msgs[0].ID != sent[1] {
		t.Errorf("got %v, want %s", ids(msgs), sent[1])
	}
	other.ack(msgs...)
}

func groupCrash(t *probe) {
	t.needGroups()
	w := t.worker()
	sent := t.sendTo("g", 8)
	msgs, err := w.receive(t.ctx, 6, slack) // once, as above
	if got := ids(msgs); err != nil || !slices.Equal(got, sent[:len(got)]) {
		t.Fatalf("got %v and %v, want the first of %v", got, err, sent)
	}
	w.ack(msgs[0])
	w.crash()
	want := sent[1:]
	if got := t.worker().inOrder("g", len(want)); !slices.Equal(got, want) {
		t.Errorf("got %v after the crash, want %v", got, want)
	}
}

func groupsApart(t *probe) {
	t.needGroups()
	w, other := t.pair()
	sent := map[string][]string{"a": t.sendTo("a", 2), "b": t.sendTo("b", 2)}
	head := w.one()
	free := "a"
	if head.Group == free {
		free = "b"
	}
	stop := w.keeping(head)
	defer stop()
	for _, id := range sent[free] {
		m := other.one()
		if m.ID != id {
			t.Fatalf("got %s while the head %s of another group is held, want %s, which waits for nothing", m.ID, head.ID, id)
		}
		other.ack(m)
	}
	stop()
	w.ack(head)
	if m := other.one(); m.ID != sent[head.Group][1] {
		t.Errorf("got %s, want %s", m.ID, sent[head.Group][1])
	} else {
		other.ack(m)
	}
}
