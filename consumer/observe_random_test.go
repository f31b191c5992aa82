package consumer_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/claimonce/claimonce/adapters/memory"
	"github.com/claimonce/claimonce/consumer"
	"github.com/claimonce/claimonce/dedupe"
	store "github.com/claimonce/claimonce/store/memory"
)

// hangingStore hangs now and then until its caller has had enough, beside what else fails.
type hangingStore struct{ flakyStore }

func (s hangingStore) Swap(ctx context.Context, key dedupe.Key, expect dedupe.Expect, next dedupe.Record) (dedupe.Record, error) {
	if s.dice.roll(0.1) {
		<-ctx.Done()
		return dedupe.Record{}, ctx.Err()
	}
	return s.flakyStore.Swap(ctx, key, expect, next)
}

// Whatever the store does, each delivery that a worker starts runs its handler once, to its end, and nothing but the handler and the
// queue decides what becomes of it. Messages have keys, none, and each other's.
func TestObserveOnlyUnderRandomFaults(t *testing.T) {
	for _, groups := range []int{0, 5} {
		for seed := range uint64(8) {
			t.Run(fmt.Sprintf("groups %d seed %d", groups, seed), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { observeRandomFaults(t, seed, groups) })
			})
		}
	}
}

func observeRandomFaults(t *testing.T, seed uint64, groups int) {
	const messages = 120
	d := newDice(seed)
	queue, records := memory.New(memory.Config{}), store.New()
	for i := range messages {
		m := memory.Message{Body: fmt.Appendf(nil, `{"amount":%d}`, i%3), Attributes: map[string]string{}}
		if i%4 > 0 {
			m.Attributes[consumer.DefaultKeyAttribute] = fmt.Sprint("k", i%20)
		}
		if groups > 0 {
			m.Group = fmt.Sprint("g", i%groups)
		}
		queue.Send(m)
	}
	var mu sync.Mutex
	runs, done := map[string]int{}, map[string]bool{}
	var events []consumer.Event
	stopping := false
	handle := func(ctx context.Context, op *dedupe.Operation, _ order) (string, error) {
		id := consumer.FromContext(ctx).ID
		mu.Lock()
		runs[id]++
		mu.Unlock()
		for step := range 2 {
			if s, err := op.Begin(ctx, fmt.Sprint("step", step)); err != nil || s.Key() == "" {
				t.Errorf("Begin gave %q and %v", s.Key(), err)
			}
		}
		err := wait(ctx, d.upTo(20*time.Second))
		mu.Lock()
		defer mu.Unlock()
		if err != nil {
			if !stopping {
				t.Errorf("a handler's context ended with %v while its worker runs", err)
			}
			return "", err
		}
		if d.roll(0.2) {
			return "", errPlain
		}
		done[id] = true
		return "done", nil
	}
	w, err := consumer.New(operation, queue.Source(), hangingStore{flakyStore{records, d}}, consumer.JSON(handle), consumer.Config{
		OnAbandoned: dedupe.RerunUnlessBegun, Workers: 8, ObserveOnly: "a trial", Ledger: dedupe.Config{AttemptBound: 1, Lease: 30 * time.Second},
		Observe: func(_ context.Context, e consumer.Event) {
			mu.Lock()
			defer mu.Unlock()
			events = append(events, e)
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	running := startWorker(t, w)
	elapse(2 * time.Hour)
	mu.Lock()
	stopping = true
	mu.Unlock()
	running.stop()
	if queue.Len() != 0 || len(queue.DeadLetters()) != 0 || len(done) != messages {
		t.Errorf("%d left, %d dead letters, %d of %d done", queue.Len(), len(queue.DeadLetters()), len(done), messages)
	}
	total := 0
	for _, n := range runs {
		total += n
	}
	n := w.Counts()
	if int64(total) != n.Ran || n.WouldHave.Ran == 0 || n.WouldHave.Withheld[consumer.ReasonMissingKey] == 0 || n.WouldHave.Waited == 0 {
		t.Errorf("%d handlers ran; counts\n%s", total, n)
	}
	for _, e := range events {
		if groups == 0 && !e.Ran {
			t.Errorf("a delivery of a worker that runs was not run: %+v", e)
		}
	}
}
