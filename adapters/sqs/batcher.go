package sqs

import (
	"context"
	"slices"
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
	send   sender[T]

	mu      sync.Mutex
	pending []*entry[T]
	calls   int // under way
	timer   *time.Timer
	closed  bool
	running sync.WaitGroup
}

// A sender reports once for each value, by its place, as soon as it is known what became of it.
type sender[T any] func(ctx context.Context, values []T, report func(i int, err error))

type entry[T any] struct {
	value T
	ended func(error)
	done  chan error
}

func (e *entry[T]) end(err error) {
	e.ended(err)
	e.done <- err
}

func newBatcher[T any](gather time.Duration, send sender[T]) *batcher[T] {
	return &batcher[T]{gather: gather, send: send}
}

// do waits for the entry's own result. If ctx ends first, an entry that was not sent yet is withdrawn; one that was goes on without
// its caller. ended is called once in any case, before do returns or after: when the entry can no longer change anything.
func (b *batcher[T]) do(ctx context.Context, v T, ended func(error)) error {
	e := &entry[T]{v, ended, make(chan error, 1)}
	if !b.add(e) {
		ended(errClosed)
		return errClosed
	}
	select {
	case err := <-e.done:
		return err
	case <-ctx.Done():
	}
	err := context.Cause(ctx)
	if b.withdraw(e) {
		ended(err)
	}
	return err
}

func (b *batcher[T]) add(e *entry[T]) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return false
	}
	b.pending = append(b.pending, e)
	switch {
	case len(b.pending) >= batchLimit || b.calls == 0:
		b.flushLocked()
	case b.timer == nil:
		b.timer = time.AfterFunc(b.gather, b.flush)
	}
	return true
}

func (b *batcher[T]) withdraw(e *entry[T]) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	i := slices.Index(b.pending, e)
	if i < 0 {
		return false
	}
	b.pending = slices.Delete(b.pending, i, i+1)
	return true
}

func (b *batcher[T]) flush() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.flushLocked()
}

// flushLocked finds nothing pending after close, so that no call begins while that waits.
func (b *batcher[T]) flushLocked() {
	if b.timer != nil {
		b.timer.Stop()
		b.timer = nil
	}
	for len(b.pending) > 0 {
		n := min(len(b.pending), batchLimit)
		batch := slices.Clone(b.pending[:n])
		b.pending = slices.Delete(b.pending, 0, n)
		b.calls++
		b.running.Go(func() { b.call(batch) })
	}
}

// callTime bounds a batch, its repeats included. It is on a context of its own: one caller's end must not fail the others' entries.
const callTime = 30 * time.Second

func (b *batcher[T]) call(batch []*entry[T]) {
	ctx, cancel := context.WithTimeout(context.Background(), callTime)
	defer cancel()
	values := make([]T, 0, len(batch))
	for _, e := range batch {
		values = append(values, e.value)
	}
	b.send(ctx, values, func(i int, err error) { batch[i].end(err) })
	b.mu.Lock()
	defer b.mu.Unlock()
	b.calls--
	if b.calls == 0 {
		b.flushLocked()
	}
}

// close sends what is pending and returns when nothing is under way. Nothing is taken after it.
func (b *batcher[T]) close() {
	b.mu.Lock()
	b.closed = true
	b.flushLocked()
	b.mu.Unlock()
	b.running.Wait()
}
