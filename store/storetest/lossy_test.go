package storetest_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/claimonce/claimonce/dedupe"
	"github.com/claimonce/claimonce/store/memory"
)

// meeting lets those who wait for the same write go on together: two at a time, or one after a while.
func meeting() func() {
	turn := make(chan struct{})
	return func() {
		select {
		case turn <- struct{}{}:
		case <-turn:
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// lossy loses answers, before a swap lands, after, or while it is still on its way. That is allowed, but for the forced ones.
type lossy struct {
	*memory.Store

	forced bool // what is on its way lands against its condition

	calls   atomic.Int64
	mu      sync.Mutex
	delayed func()
}

func (l *lossy) Swap(ctx context.Context, key dedupe.Key, expect dedupe.Expect, next dedupe.Record) (dedupe.Record, error) {
	l.mu.Lock()
	land := l.delayed
	l.delayed = nil
	l.mu.Unlock()
	if land != nil {
		land()
	}
	lost := errors.New("connection reset")
	switch l.calls.Add(1) % 12 {
	case 1:
		return dedupe.Record{}, lost
	case 2:
		_, _ = l.Store.Swap(ctx, key, expect, next)
		return dedupe.Record{}, lost
	case 3:
		next := next.Clone()
		l.mu.Lock()
		defer l.mu.Unlock()
		l.delayed = func() {
			late := context.WithoutCancel(ctx)
			if current, err := l.Store.Swap(late, key, expect, next); l.forced && err != nil {
				_ = overwrite(late, l.Store, current, next)
			}
		}
		return dedupe.Record{}, lost
	}
	return l.Store.Swap(ctx, key, expect, next)
}

// lagging shows what it has shown before, once, when another handle has written since.
type lagging struct {
	*memory.Store

	conflicts bool // shows it in conflicts, not in loads

	mu  sync.Mutex
	old map[dedupe.Key]dedupe.Record
}

func (l *lagging) late(key dedupe.Key, now dedupe.Record) dedupe.Record {
	l.mu.Lock()
	defer l.mu.Unlock()
	was, ok := l.old[key]
	l.old[key] = now.Clone()
	if ok && was.Revision != now.Revision {
		return was.Clone()
	}
	return now
}

func (l *lagging) Load(ctx context.Context, key dedupe.Key) (dedupe.Record, error) {
	rec, err := l.Store.Load(ctx, key)
	if err != nil || l.conflicts {
		return rec, err
	}
	return l.late(key, rec), nil
}

func (l *lagging) Swap(ctx context.Context, key dedupe.Key, expect dedupe.Expect, next dedupe.Record) (dedupe.Record, error) {
	current, err := l.Store.Swap(ctx, key, expect, next)
	if l.conflicts && errors.Is(err, dedupe.ErrConflict) {
		current = l.late(key, current)
	}
	return current, err
}
