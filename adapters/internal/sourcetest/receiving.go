package sourcetest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"
)

func receiving() []Check {
	return []Check{
		{"receive returns no more than its limit", limit},
		{"a limit of none is no limit of all", limitZero},
		{"receive waits for a message", waits},
		{"receive ends with its context and loses nothing", honoursContext},
		{"receive with a context that has ended takes nothing away", endedContext},
		{"nothing is delivered twice while it is held", heldOnce},
	}
}

func limit(t *testing.T, r *Rig) {
	w := r.worker(t)
	defer w.close()
	for i := range 12 {
		r.send(t, fmt.Sprint("body ", i))
	}
	left := 12
	for _, n := range []int{1, 3, 100} {
		msgs, err := w.Receive(t.Context(), n)
		if err != nil || len(msgs) == 0 || len(msgs) > n {
			t.Fatalf("got %d messages and %v, want 1 to %d", len(msgs), err, n)
		}
		left -= len(msgs)
		w.ack(msgs...)
	}
	if left > 0 {
		w.ack(w.take(left)...)
	}
}

func limitZero(t *testing.T, r *Rig) {
	w := r.worker(t)
	defer w.close()
	w.r.send(t, "first", "second", "third")
	for _, n := range []int{0, -1} {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		msgs, err := w.Receive(ctx, n)
		cancel()
		if len(msgs) > 1 || len(msgs) == 0 && err == nil {
			t.Errorf("limit %d: got %d messages and %v, want one or an error", n, len(msgs), err)
		}
	}
}

func waits(t *testing.T, r *Rig) {
	w := r.worker(t)
	defer w.close()
	got := w.later()
	elapse(2 * time.Second)
	before := time.Now()
	id := r.send(t, "body")[0]
	msgs := <-got
	r.due(t, before, 0)
	if len(msgs) != 1 || msgs[0].ID != id {
		t.Fatalf("got %v, want %s", ids(msgs), id)
	}
	w.ack(msgs...)
}

func honoursContext(t *testing.T, r *Rig) {
	w, other := r.worker(t), r.worker(t)
	defer w.close()
	defer other.close()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		msgs, err := w.Receive(ctx, 10)
		if len(msgs) > 0 {
			err = fmt.Errorf("got %v, want nothing", ids(msgs))
		}
		done <- err
	}()
	elapse(time.Second)
	cancel()
	select {
	case err := <-done:
		if !errors.Is(err, context.Canceled) {
			t.Errorf("got %v, want context.Canceled", err)
		}
	case <-time.After(5 * time.Second):
		t.Fatal("receive did not end with its context")
	}
	r.send(t, "body")
	other.ack(other.one())
}

func endedContext(t *testing.T, r *Rig) {
	w := r.worker(t)
	defer w.close()
	r.send(t, "body")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	msgs, err := w.Receive(ctx, 10)
	if len(msgs) == 0 && !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want context.Canceled", err)
	}
	if len(msgs) == 0 {
		msgs = w.take(1)
		if msgs[0].Receives > 1 {
			t.Errorf("it was received %d times, want it untouched by a receive that had ended before it began", msgs[0].Receives)
		}
	}
	w.ack(msgs...)
}

func heldOnce(t *testing.T, r *Rig) {
	const messages, workers = 50, 3
	for i := range messages {
		r.send(t, fmt.Sprint("body ", i))
	}
	var mu sync.Mutex
	seen := map[string]int{}
	ctx, cancel := context.WithTimeout(t.Context(), r.Visibility+slack)
	defer cancel()
	var wg sync.WaitGroup
	for range workers {
		w := r.worker(t)
		defer w.close()
		wg.Go(func() {
			for ctx.Err() == nil {
				msgs, err := w.Receive(ctx, 3)
				if err != nil {
					return // the context's, else a message is missing below
				}
				for _, m := range msgs {
					w.ack(m) //nolint:contextcheck // on the test's context: the receive's ends early
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
