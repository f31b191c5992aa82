package adaptertest

import (
	"fmt"
	"time"
)

func crashing() []Promise {
	return []Promise{
		{"crash", "after a crash exactly the unacked messages come back, whatever the order of the acks", crashLosesNothing},
		{"crash with acks", "an ack that succeeded holds although the process dies right after it", crashAfterAcks},
		{"crash in receive", "what a Receive may bring whose process dies comes to others within a visibility", crashInReceive},
	}
}

// crash ends a worker without Close.
func (w *worker) crash() {
	w.gone = true
	if w.t.queue.Crash == nil {
		return
	}
	if err := w.t.queue.Crash(w.t.ctx, w.Source); err != nil {
		w.t.Fatalf("the rig cannot crash a source: %v", err)
	}
}

func crashLosesNothing(t *probe) {
	w := t.worker()
	sent := make([]string, 0, 8)
	for i := range cap(sent) {
		sent = append(sent, t.send(fmt.Sprint("body ", i))...)
	}
	unacked := map[string]bool{}
	for _, m := range w.take(len(sent)) {
		unacked[m.ID] = true
		if m.ID == sent[6] || m.ID == sent[1] || m.ID == sent[4] {
			w.ack(m)
			delete(unacked, m.ID)
		}
	}
	w.crash()
	back := map[string]int{}
	for _, m := range t.worker().takeBack(len(unacked)) {
		back[m]++
	}
	for _, id := range sent {
		switch {
		case unacked[id] && back[id] == 0:
			t.Errorf("%s is lost: it was not acked when the process died, and did not come back", id)
		case !unacked[id] && back[id] > 0 && !t.rig.ByPosition:
			t.Errorf("%s came back, although it was acked", id)
		case back[id] > 1:
			t.Errorf("%s came back %d times at once", id, back[id])
		}
	}
}

// takeBack acks what comes, and looks a while longer when it has what is expected.
func (w *worker) takeBack(expected int) (ids []string) {
	end := time.Now().Add(w.t.rig.Visibility + slack)
	for {
		if len(ids) == expected {
			end = time.Now().Add(2 * time.Second)
		}
		msgs, err := w.receive(w.t.ctx, 10, time.Until(end))
		if err != nil {
			return ids
		}
		for _, m := range msgs {
			ids = append(ids, m.ID)
		}
		w.ack(msgs...)
	}
}

func crashAfterAcks(t *probe) {
	t.need(!t.rig.ByPosition, "acks are committed later")
	w := t.worker()
	w.ack(w.sent(3)...)
	w.crash()
	t.worker().nothingFor(t.rig.Visibility + 2*t.rig.Grain)
}

func crashInReceive(t *probe) {
	t.need(t.queue.Crash != nil, "the rig cannot crash a source in the middle of a call")
	w := t.worker()
	over := make(chan struct{})
	go func() {
		defer close(over)
		_, _ = w.receive(t.ctx, 10, t.rig.Visibility+slack) // it fails, or brings what its process does not live to see
	}()
	elapse(time.Second)
	sent := t.send("first")
	elapse(time.Second / 10) // it may have come, or be on its way; the next one is not yet
	sent = append(sent, t.send("second")...)
	w.crash()
	back := map[string]bool{}
	for _, id := range t.worker().takeBack(len(sent)) {
		back[id] = true
	}
	for _, id := range sent {
		if !back[id] {
			t.Errorf("%s is lost: it came when the process died", id)
		}
	}
	<-over
}
