package adaptertest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

func receiving() []Promise {
	return []Promise{
		{"limit", "Receive returns one to limit messages, and never none without an error", limit},
		{"limit of none", "a limit of none is no limit of all", limitZero},
		{"waits", "Receive waits until there is a message", waits},
		{"context", "Receive ends soon after its context with that context's error, and loses nothing", honoursContext},
		{"ended context", "Receive with a context that has ended takes nothing away", endedContext},
		{"held once", "a message that is held is not delivered a second time", heldOnce},
		{"held at home", "a message that is held is not delivered again by the same source", heldAtHome},
	}
}

func limit(t *probe) {
	w := t.worker()
	for i := range 12 {
		t.send(fmt.Sprint("body ", i))
	}
	left := 12
	for _, n := range []int{1, 3, 100} {
		msgs, err := w.receive(t.ctx, n, t.rig.Visibility+slack)
		if err != nil || len(msgs) > n {
			t.Fatalf("got %d messages and %v, want 1 to %d", len(msgs), err, n)
		}
		left -= len(msgs)
		w.ack(msgs...)
	}
	if left > 0 {
		w.ack(w.take(left)...)
	}
}

func limitZero(t *probe) {
	w := t.worker()
	t.send("first", "second", "third")
	for _, n := range []int{0, -1} {
		if msgs, err := w.receive(t.ctx, n, time.Second); len(msgs) > 1 {
			t.Errorf("limit %d: got %d messages and %v, want one or an error", n, len(msgs), err)
		}
	}
}

func waits(t *probe) {
	w := t.worker()
	got := w.later()
	elapse(2 * time.Second)
	before := time.Now()
	id := t.send("body")[0]
	msgs := <-got
	t.due(before, 0)
	if len(msgs) != 1 || msgs[0].ID != id {
		t.Fatalf("got %v, want %s", ids(msgs), id)
	}
	w.ack(msgs...)
}

func honoursContext(t *probe) {
	w, other := t.pair()
	ctx, cancel := context.WithCancel(t.ctx)
	defer cancel()
	done := make(chan received, 1)
	go func() {
		msgs, err := w.Receive(ctx, 10)
		done <- received{msgs, err}
	}()
	elapse(time.Second)
	cancel()
	select {
	case r := <-done:
		if len(r.msgs) > 0 || !errors.Is(r.err, context.Canceled) {
			t.Errorf("got messages %v and %v, want context.Canceled", ids(r.msgs), r.err)
		}
	case <-time.After(soon):
		t.Fatalf("receive has not returned %v after its context ended", soon)
	}
	t.send("body")
	elapse(time.Second / 10) // for what is left of the receive to take it
	before := time.Now()
	other.ack(other.one())
	t.due(before, 0)
}

func endedContext(t *probe) {
	w := t.worker()
	t.send("body")
	ctx, cancel := context.WithCancel(t.ctx)
	cancel()
	msgs, err := w.receive(ctx, 10, slack)
	if len(msgs) == 0 {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("got %v, want context.Canceled", err)
		}
		msgs = w.take(1)
		if msgs[0].Receives > 1 {
			t.Errorf("it was received %d times, want it untouched by a receive that had ended before it began", msgs[0].Receives)
		}
	}
	w.ack(msgs...)
}

func heldOnce(t *probe) {
	const messages = 50
	for i := range messages {
		t.send(fmt.Sprint("body ", i))
	}
	var mu sync.Mutex
	seen := map[string]int{}
	ctx, cancel := context.WithTimeout(t.ctx, t.rig.Visibility+slack)
	defer cancel()
	w, other := t.pair()
	workers := map[*worker]bool{w: true, other: true}
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for ctx.Err() == nil {
				msgs, err := w.receive(ctx, 3, t.rig.Visibility+slack)
				if err != nil {
					return // the context's, else a message is missing below
				}
				for _, m := range msgs {
					w.ack(m)
					mu.Lock()
					seen[m.ID]++
					if len(seen) == messages {
						cancel()
					}
					mu.Unlock()
				}
			}
		})
	}
	wg.Wait()
	for id, n := range seen {
		if n > 1 {
			t.Errorf("%s was delivered %d times", id, n)
		}
	}
	if len(seen) != messages {
		t.Errorf("got %d messages, want %d", len(seen), messages)
	}
}

func heldAtHome(t *probe) {
	w := t.worker()
	t.send("body")
	before := time.Now()
	m := w.one()
	w.nothingUntil(before.Add(t.rig.Visibility / 2))
	w.ack(m)
}
