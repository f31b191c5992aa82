package dedupe_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/claimonce/claimonce/dedupe"
)

// A store that panics has failed, whatever is written: neither the process nor the handler's word is lost.
func TestStoreThatPanics(t *testing.T) {
	t.Parallel()
	for name, opts := range map[string]dedupe.RunOptions{"usual": {}, "beside": {Beside: time.Second}} {
		for _, at := range []string{"renew", "begin", "complete"} {
			t.Run(name+" "+at, func(t *testing.T) {
				t.Parallel()
				var log strings.Builder
				var told []string
				cfg := byMode["marked"]
				cfg.Logger = slog.New(slog.NewTextHandler(&log, nil))
				cfg.Observe = func(_ context.Context, o dedupe.Observation) {
					if o.Err != nil {
						told = append(told, o.Event)
					}
				}
				bubble(t, cfg, func(t *testing.T, ln *line, l *dedupe.Ledger) {
					var broken atomic.Bool
					ln.before = func(dedupe.Record) {
						if broken.Load() {
							panic("card 4111")
						}
					}
					a := claim(t, l, bodyA)
					var beginErr error
					s := a.Operation.Run(t.Context(), func(ctx context.Context, op *dedupe.Operation) (dedupe.Result, error) {
						broken.Store(true)
						switch at {
						case "begin":
							_, beginErr = op.Begin(ctx, "charge")
						case "renew":
							time.Sleep(30 * time.Second) // a renewal is due in between
						}
						broken.Store(at == "complete")
						return dedupe.Result{}, nil
					}, opts)
					wantPanicTold(t, at, s, told, log.String())
					if failed := beginErr != nil; at == "begin" && failed != (opts.Beside == 0) {
						t.Errorf("Begin gave %v", beginErr)
					}
					if rec := ln.get(key); rec.State != s.State {
						t.Errorf("the record is %v, and the settlement says %v", rec.State, s.State)
					}
				})
			})
		}
	}
}

func wantPanicTold(t *testing.T, at string, s dedupe.Settlement, told []string, log string) {
	t.Helper()
	want := dedupe.StateCompleted
	if at == "complete" {
		want = dedupe.StateInProgress
	}
	if written := s.Err == nil; s.State != want || s.HandlerErr != nil || s.Event != "complete" || written != (at != "complete") {
		t.Errorf("settlement %+v, want the handler's nil and %v", s, want)
	}
	var other *dedupe.Error
	if at == "complete" && (!errors.As(s.Err, &other) || !strings.Contains(s.Err.Error(), "the store panicked")) {
		t.Errorf("got %v, want that the store panicked", s.Err)
	}
	if len(told) == 0 || told[0] != at {
		t.Errorf("told of failures at %q, want %s", told, at)
	}
	if !strings.Contains(log, "fault_test.go") || strings.Contains(log, "4111") {
		t.Errorf("the log wants the stack without the value:\n%s", log)
	}
}

// What could not be written since the store panicked is not tried again in the place of others: a repeat would panic too.
func TestCompletionThatPanicsReturnsAtOnce(t *testing.T) {
	t.Parallel()
	bubble(t, byMode["rerun"], func(t *testing.T, ln *line, l *dedupe.Ledger) {
		a := claim(t, l, bodyA)
		ln.before = func(dedupe.Record) { panic("a nil map") }
		started := time.Now()
		s := a.Operation.Run(t.Context(), lasting(time.Second), dedupe.RunOptions{})
		if took := time.Since(started); took != time.Second || s.Err == nil {
			t.Errorf("got %v after %v, want an error when the handler has ended", s.Err, took)
		}
	})
}
