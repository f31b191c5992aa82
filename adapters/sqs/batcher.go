package sqs

import (
	"context"
	"sync"
	"time"
)

// batchLimit: https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-batch-api-actions.html
const batchLimit = 10

// A batcher gathers entries of concurrent callers into calls of up to ten. A call leaves at once when none is under way, so that an
// idle worker waits for nothing; while one is, entries gather until there are ten, it is answered, or the gather time is over.
// It has no goroutine while there is nothing to do.
type batcher[T any] struct {
	gather time.Duration
	send   func(context.Context, []T) []error // one error an entry, in order

	mu      sync.Mutex
	pending []entry[T]
	calls   int // under way
	timer   *time.Timer
	running sync.WaitGroup
}

type entry[T any] struct {
	value T
	done  chan error
}

func newBatcher[T any](gather time.Duration, send func(context.Context, []T) []error) *batcher[T] {
	return &batcher[T]{gather: gather, send: send}
}

// do waits for the entry's own result. If ctx ends first the entry may still be sent.
func (b *batcher[T]) do(ctx context.Context, v T) error {
	e := entry[T]{v, make(chan error, 1)}
	b.mu.Lock()
	b.pending = append(b.pending, e)
	switch {
	case len(b.pending) >= batchLimit || b.calls == 0:
		b.flushLocked()
	case b.timer == nil:
		b.timer = time.AfterFunc(b.gather, b.flush)
	}
	b.mu.Unlock()
	select {
	case err := <-e.done:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (b *batcher[T]) flush() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.flushLocked()
}

func (b *batcher[T]) flushLocked() {
	if b.timer != nil {
		b.timer.Stop()
		b.timer = nil
	}
	for len(b.pending) > 0 {
		n := min(len(b.pending), batchLimit)
		batch := b.pending[:n:n]
		b.pending = b.pending[n:]
		b.calls++
		b.running.Go(func() { b.call(batch) })
	}
}

// callTime bounds a batch, its repeats included. It is on a context of its own: one caller's end must not fail the others' entries.
const callTime = 30 * time.Second

func (b *batcher[T]) call(batch []entry[T]) {
	ctx, cancel := context.WithTimeout(context.Background(), callTime)
	defer cancel()
	values := make([]T, 0, len(batch))
	for _, e := range batch {
		values = append(values, e.value)
	}
	for i, err := range b.send(ctx, values) {
		batch[i].done <- err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.calls--
	if b.calls == 0 {
		b.flushLocked()
	}
}

// wait returns when nothing is under way.
func (b *batcher[T]) wait() { b.running.Wait() }
