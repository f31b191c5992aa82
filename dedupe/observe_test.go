package dedupe_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/claimonce/claimonce/dedupe"
)

// A callback that ends its goroutine, as a test's FailNow does, would end the renewals without a word: the lease would lapse.
func TestObserveThatEndsItsGoroutine(t *testing.T) {
	t.Parallel()
	said := &collector{}
	cfg := byMode["rerun"]
	cfg.Logger = slog.New(slog.NewTextHandler(said, nil))
	cfg.Observe = func(context.Context, dedupe.Observation) { runtime.Goexit() }
	bubble(t, cfg, func(t *testing.T, ln *line, l *dedupe.Ledger) {
		settled := make(chan dedupe.Settlement, 1)
		op := claim(t, l, bodyA).Operation
		go func() { settled <- op.Run(t.Context(), lasting(5*time.Minute), dedupe.RunOptions{}) }()
		for range 4 {
			time.Sleep(time.Minute)
			if rec := ln.get(key); !rec.LockedUntil.After(time.Now()) {
				t.Fatalf("the lease lapsed at %v", rec.LockedUntil)
			}
		}
		if s := <-settled; s.State != dedupe.StateCompleted {
			t.Errorf("got %v, %v, want completed", s.State, s.Err)
		}
	})
	if text := said.String(); !strings.Contains(text, "it ended its goroutine") {
		t.Errorf("logged %q, want what happened", text)
	}
}

// Observations come before the call returns, with the caller's context.
func TestObserveIsWaitedFor(t *testing.T) {
	t.Parallel()
	type name struct{}
	var seen atomic.Int32
	cfg := byMode["rerun"]
	cfg.Observe = func(ctx context.Context, _ dedupe.Observation) {
		time.Sleep(time.Second)
		if ctx.Value(name{}) == "caller" {
			seen.Add(1)
		}
	}
	bubble(t, cfg, func(t *testing.T, _ *line, l *dedupe.Ledger) {
		if _, err := l.Claim(context.WithValue(t.Context(), name{}, "caller"), request(t, l, key, bodyA)); err != nil || seen.Load() != 1 {
			t.Errorf("got %v and %d observations by the time the claim returned, want 1", err, seen.Load())
		}
	})
}

// failing store: what only a person can mend.
type misconfigured struct {
	*line

	broken atomic.Bool
	calls  atomic.Int32
}

func (m *misconfigured) Swap(ctx context.Context, key dedupe.Key, expect dedupe.Expect, next dedupe.Record) (dedupe.Record, error) {
	if m.broken.Load() {
		m.calls.Add(1)
		return dedupe.Record{}, fmt.Errorf("no table: %w", dedupe.ErrSetup)
	}
	return m.line.Swap(ctx, key, expect, next)
}

// No repeat mends a set-up, so that a claim is not repeated; an outcome is, slowly, until somebody has mended it.
func TestDDB13_ErrorOfTheSetUpIsNotRepeatedAtOnce(t *testing.T) {
	t.Parallel()
	bubble(t, byMode["rerun"], func(t *testing.T, ln *line, _ *dedupe.Ledger) {
		m := &misconfigured{line: ln}
		l := newLedger(t, m, byMode["rerun"])
		m.broken.Store(true)
		if _, err := l.Claim(t.Context(), request(t, l, key, bodyA)); !errors.Is(err, dedupe.ErrSetup) || m.calls.Load() != 2 {
			t.Errorf("got %v after %d calls, want one, and one that gives the claim up", err, m.calls.Load())
		}
		m.broken.Store(false)
		op := claim(t, l, bodyA).Operation
		m.broken.Store(true)
		m.calls.Store(0)
		settled := make(chan dedupe.Settlement, 1)
		go func() { settled <- op.Run(t.Context(), returning(nil), dedupe.RunOptions{}) }()
		time.Sleep(time.Minute)
		if n := m.calls.Load(); n < 10 || n > 60 {
			t.Errorf("%d calls in a minute, want it tried again, with pauses", n)
		}
		m.broken.Store(false)
		if s := <-settled; s.State != dedupe.StateCompleted {
			t.Errorf("got %v, %v, want completed once it is mended", s.State, s.Err)
		}
	})
}
