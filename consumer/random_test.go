package consumer_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/claimonce/claimonce/adapters/memory"
	"github.com/claimonce/claimonce/consumer"
	"github.com/claimonce/claimonce/dedupe"
	store "github.com/claimonce/claimonce/store/memory"
)

// dice decides what fails. It is used by many goroutines.
type dice struct {
	mu  sync.Mutex
	rng *rand.Rand
}

func newDice(seed uint64) *dice { return &dice{rng: rand.New(rand.NewPCG(seed, 1))} }

func (d *dice) roll(chance float64) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.rng.Float64() < chance
}

func (d *dice) upTo(most time.Duration) time.Duration {
	d.mu.Lock()
	defer d.mu.Unlock()
	return time.Duration(d.rng.Int64N(int64(most)))
}

// flakyStore fails before a write, or after it, and takes its time.
type flakyStore struct {
	*store.Store

	dice *dice
}

func (s flakyStore) Load(ctx context.Context, key dedupe.Key) (dedupe.Record, error) {
	if s.dice.roll(0.05) {
		return dedupe.Record{}, errBroken
	}
	return s.Store.Load(ctx, key)
}

func (s flakyStore) Swap(ctx context.Context, key dedupe.Key, expect dedupe.Expect, next dedupe.Record) (dedupe.Record, error) {
	if s.dice.roll(0.1) {
		return dedupe.Record{}, errBroken
	}
	if err := wait(ctx, s.dice.upTo(100*time.Millisecond)); err != nil {
		return dedupe.Record{}, err
	}
	rec, err := s.Store.Swap(ctx, key, expect, next)
	if s.dice.roll(0.1) {
		return dedupe.Record{}, errBroken // the answer is lost
	}
	return rec, err
}

// flakySource fails in each of its calls, before or after they did what they should.
type flakySource struct {
	*memory.Source

	dice *dice
}

func (s flakySource) call(f func() error) error {
	if s.dice.roll(0.1) {
		return errBroken
	}
	if err := f(); err != nil {
		return err
	}
	if s.dice.roll(0.1) {
		return errBroken
	}
	return nil
}

func (s flakySource) Receive(ctx context.Context, limit int) ([]*consumer.Message, error) {
	if s.dice.roll(0.1) {
		return nil, errBroken
	}
	return s.Source.Receive(ctx, limit)
}

func (s flakySource) Ack(ctx context.Context, m *consumer.Message) error {
	return s.call(func() error { return s.Source.Ack(ctx, m) })
}

func (s flakySource) Nack(ctx context.Context, m *consumer.Message, d time.Duration) error {
	return s.call(func() error { return s.Source.Nack(ctx, m, d) })
}

func (s flakySource) Extend(ctx context.Context, m *consumer.Message) error {
	return s.call(func() error { return s.Source.Extend(ctx, m) })
}

// Workers that share a queue and a store, all calls of which fail at random, and that come and go: each key takes effect once,
// and the queue is empty in the end.
func TestRandomFaults(t *testing.T) {
	for _, groups := range []int{0, 5} {
		for seed := range uint64(12) {
			t.Run(fmt.Sprintf("groups %d seed %d", groups, seed), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { randomFaults(t, seed, groups) })
			})
		}
	}
}

func randomFaults(t *testing.T, seed uint64, groups int) {
	const keys = 40
	d := newDice(seed)
	queue, records := memory.New(memory.Config{}), store.New()
	for i := range keys * 3 {
		m := memory.Message{Body: []byte(`{"amount":1}`), Attributes: map[string]string{consumer.DefaultKeyAttribute: fmt.Sprint("k", i%keys)}}
		if groups > 0 {
			m.Group = fmt.Sprint("g", i%keys%groups)
		}
		queue.Send(m)
	}
	w := &world{d: d, effects: map[string]int{}}
	start := func() *worker {
		c, err := consumer.New(operation, flakySource{queue.Source(), d}, flakyStore{records, d}, consumer.JSON(w.handle), consumer.Config{
			OnAbandoned: dedupe.Rerun, Workers: 4, Drain: 5 * time.Second, Ledger: dedupe.Config{AttemptBound: 1000},
		})
		if err != nil {
			t.Fatal(err)
		}
		return startWorker(t, c)
	}
	workers := []*worker{start(), start(), start()}
	for i := range 20 { // deployments
		elapse(d.upTo(20 * time.Second))
		workers[i%3].stop()
		workers[i%3] = start()
	}
	elapse(3 * time.Hour)
	for _, w := range workers {
		w.stop()
	}
	if n := queue.Len(); n != 0 {
		t.Errorf("%d messages are left", n)
	}
	if dead := queue.DeadLetters(); len(dead) != 0 {
		t.Errorf("dead letters: %+v", dead)
	}
	for i := range keys {
		id := fmt.Sprint("k", i)
		if n := w.effects[id]; n != 1 {
			t.Errorf("%s took effect %d times, want once", id, n)
		}
	}
}

// world is where handlers have their effects.
type world struct {
	d       *dice
	mu      sync.Mutex
	effects map[string]int
}

func (w *world) handle(ctx context.Context, op *dedupe.Operation, _ order) (string, error) {
	if err := wait(ctx, w.d.upTo(15*time.Second)); err != nil {
		return "", err // nothing has happened yet
	}
	if w.d.roll(0.2) {
		return "", errPlain
	}
	if w.d.roll(0.1) {
		panic("at random")
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.effects[op.Key().ID]++
	return "done", nil
}
