package adaptertest

import (
	"context"
	"slices"
	"time"

	"github.com/claimonce/claimonce/consumer"
)

func stopping() []Promise {
	return []Promise{
		{"close in receive", "a close ends a Receive that waits, soon", closeEndsReceive},
		{"close and arrivals", "what arrives while a source closes comes to others within seconds", closeLosesNoArrival},
		{"close in a hurry", "Close returns soon after its context ended, and what is held comes back after its visibility at the latest", closeInAHurry},
		{"close after cancel", "what the broker answers to a Receive that was given up comes to others soon after the close", closeAfterCancel},
		{"no goroutine", "no goroutine of a source is left after its close", noGoroutineLeft},
	}
}

func (w *worker) waiting() <-chan received {
	over := make(chan received, 1)
	go func() {
		msgs, err := w.Receive(w.t.ctx, 10)
		over <- received{msgs, err}
	}()
	elapse(time.Second)
	return over
}

func (w *worker) ended(over <-chan received) received {
	select {
	case r := <-over:
		if len(r.msgs) == 0 && r.err == nil {
			w.t.Errorf("receive returned neither messages nor an error")
		}
		return r
	case <-time.After(soon):
		w.t.Fatalf("receive has not returned %v after the source was closed", soon)
	}
	panic("unreachable")
}

func closeEndsReceive(t *probe) {
	w := t.worker()
	over := w.waiting()
	w.close()
	if r := w.ended(over); len(r.msgs) > 0 {
		t.Errorf("got messages %v of an empty queue", ids(r.msgs))
	}
}

func closeLosesNoArrival(t *probe) {
	w := t.worker()
	over := w.waiting()
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		w.close()
	}()
	sent := t.send("first", "second", "third")
	<-closed
	w.ended(over) // what it brought is given back: nobody can run it any more
	t.wantBack(sent, time.Now())
}

func closeInAHurry(t *probe) {
	w := t.worker()
	msgs := w.sent(2)
	w.ack(msgs[0])
	ctx, cancel := context.WithCancel(t.ctx)
	cancel()
	w.gone = true
	_ = inTime(t, "close with a context that has ended", soon, func() error { return w.Close(ctx) }) // it may say so
	other := t.worker()
	if m := other.one(); m.ID != msgs[1].ID {
		t.Errorf("got %s, want %s, which was held", m.ID, msgs[1].ID)
	} else {
		other.ack(m)
	}
}

func closeAfterCancel(t *probe) {
	w := t.worker()
	ctx, cancel := context.WithCancel(t.ctx)
	over := make(chan received, 1)
	go func() {
		msgs, err := w.Receive(ctx, 10)
		over <- received{msgs, err}
	}()
	elapse(time.Second)
	cancel()
	sent := t.send("first", "second")
	w.ended(over)
	w.close()
	t.wantBack(sent, time.Now())
}

// wantBack fails if another worker does not get all of them soon. On real time a short visibility hides the difference.
func (t *probe) wantBack(sent []string, since time.Time) {
	other := t.worker()
	var got []string
	for len(got) < len(sent) {
		for _, m := range other.take(1) {
			got = append(got, m.ID)
			other.ack(m)
		}
	}
	if took := time.Since(since); t.rig.FakeTime && took > soon {
		t.Errorf("it took %v until another worker had them, want %v at most", took, soon)
	}
	slices.Sort(got)
	slices.Sort(sent)
	if !slices.Equal(got, sent) {
		t.Errorf("got %v, want %v", got, sent)
	}
}

// noGoroutineLeft uses everything that may start one.
func noGoroutineLeft(t *probe) {
	mark := newMark()
	mark.on(t.ctx, func() {
		w := t.worker()
		msgs := w.sent(5)
		w.ack(msgs[0], msgs[1])
		w.nack(msgs[2], time.Second)
		if x, ok := w.Source.(consumer.Extender); ok {
			if err := w.extend(x, msgs[3]); err != nil {
				t.Errorf("extend: %v", err)
			}
		}
		w.ack(w.one())                           // the nacked one
		_, _ = w.receive(t.ctx, 10, time.Second) // given up, or it brings what was held too long
		w.close()
	})
	var left []string
	for range 100 { // what has been told to end may need a moment
		if left = mark.left(); len(left) == 0 {
			return
		}
		elapse(soon / 100)
	}
	t.Errorf("%d left %v after close:\n%s", len(left), soon, left[0])
}
