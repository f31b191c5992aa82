package dedupe_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/claimonce/claimonce/dedupe"
)

// inHandler claims and runs f as the handler.
func inHandler(t *testing.T, l *dedupe.Ledger, f func(ctx context.Context, op *dedupe.Operation) error) dedupe.Settlement {
	t.Helper()
	a := claim(t, l, bodyA)
	wantOutcome(t, a, dedupe.OutcomeClaimed)
	return a.Operation.Run(t.Context(), func(ctx context.Context, op *dedupe.Operation) (dedupe.Result, error) {
		return dedupe.Result{}, f(ctx, op)
	}, dedupe.RunOptions{})
}

func begin(ctx context.Context, t *testing.T, op *dedupe.Operation, name string) dedupe.Step {
	t.Helper()
	step, err := op.Begin(ctx, name)
	if err != nil {
		t.Errorf("begin %s: %v", name, err)
	}
	return step
}

func TestBeginIsTheSameStepAgain(t *testing.T) {
	t.Parallel()
	bubble(t, byMode["marked"], func(t *testing.T, ln *line, l *dedupe.Ledger) {
		inHandler(t, l, func(ctx context.Context, op *dedupe.Operation) error {
			first := begin(ctx, t, op, "charge")
			time.Sleep(10 * time.Second)
			again := begin(ctx, t, op, "charge")
			if first != again || first.Name() != "charge" || first.Key() == "" {
				t.Errorf("got %v, then %v; want the same step", first, again)
			}
			rec := ln.get(key)
			if len(rec.Marks) != 1 || !rec.LockedUntil.Equal(rec.OwnerWroteAt.Add(time.Minute)) || !rec.OwnerWroteAt.Equal(rec.ClaimedAt.Add(10*time.Second)) {
				t.Errorf("marks %v, lease to %v; want one mark, lease renewed", rec.Marks, rec.LockedUntil)
			}
			return nil
		})
	})
}

// Begin fails wherever the lease cannot be trusted when its answer is in hand.
func TestBeginNeedsTheLease(t *testing.T) {
	t.Parallel()
	for name, cut := range map[string]func(ln *line, op *dedupe.Operation){
		"lease over before the call": func(ln *line, _ *dedupe.Operation) {
			ln.set(neverArrives)
			time.Sleep(56 * time.Second)
			ln.set(noFault)
			ln.slow = 56 * time.Second
		},
		"answer after the lease": func(ln *line, _ *dedupe.Operation) { ln.slow = 56 * time.Second },
		"repeated after the lease": func(ln *line, _ *dedupe.Operation) {
			ln.fail(loseAnswer)
			ln.slow = 56 * time.Second
		},
		"answers lost": func(ln *line, _ *dedupe.Operation) { ln.fail(loseAnswer, loseAnswer, loseAnswer) },
	} {
		for _, mode := range []string{"marked", "reconcile"} {
			t.Run(name+", "+mode, func(t *testing.T) {
				bubble(t, byMode[mode], func(t *testing.T, ln *line, l *dedupe.Ledger) {
					op := claim(t, l, bodyA).Operation // no renewals beside it
					cut(ln, op)
					if step, err := op.Begin(t.Context(), "charge"); err == nil || step.Key() != "" {
						t.Errorf("got step %q, %v; want an error and no key", step.Key(), err)
					}
				})
			})
		}
	}
}

func TestBeginInRerunCostsNoCall(t *testing.T) {
	t.Parallel()
	bubble(t, byMode["rerun"], func(t *testing.T, ln *line, l *dedupe.Ledger) {
		op := claim(t, l, bodyA).Operation
		ln.calls()
		begin(t.Context(), t, op, "charge")
		if loads, swaps := ln.calls(); loads+swaps != 0 {
			t.Errorf("%d calls, want none", loads+swaps)
		}
		time.Sleep(55 * time.Second)
		if _, err := op.Begin(t.Context(), "charge"); !errors.Is(err, dedupe.ErrLeaseLost) {
			t.Errorf("after the trust window: got %v, want %v", err, dedupe.ErrLeaseLost)
		}
	})
}

func TestBeginRefusesBadSteps(t *testing.T) {
	t.Parallel()
	bubble(t, byMode["marked"], func(t *testing.T, ln *line, l *dedupe.Ledger) {
		op := claim(t, l, bodyA).Operation
		for _, name := range []string{"", "a b", strings.Repeat("x", 65), "köln", "a\nb"} {
			if _, err := op.Begin(t.Context(), name); err == nil {
				t.Errorf("step %q was accepted", name)
			}
		}
		for i := range 32 {
			begin(t.Context(), t, op, fmt.Sprintf("step.%d", i))
		}
		if _, err := op.Begin(t.Context(), "one-more"); err == nil {
			t.Error("a 33rd step was accepted: records must stay small")
		}
		begin(t.Context(), t, op, "step.7") // begun before, so no further mark
		if n := len(ln.get(key).Marks); n != 32 {
			t.Errorf("%d marks, want 32", n)
		}
	})
}

// What a handler undid is carried by the next write of any kind, and taken back by beginning it again.
func TestUndone(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		last func(ctx context.Context, t *testing.T, op *dedupe.Operation)
		err  error
		want dedupe.State
	}{
		"undone, then an error":           {nil, errors.New("boom"), dedupe.StateReleased},
		"undone, then Permanent":          {nil, dedupe.Permanent(errors.New("boom")), dedupe.StateFailed},
		"undone, a renewal, then error":   {func(context.Context, *testing.T, *dedupe.Operation) { time.Sleep(time.Minute) }, errors.New("boom"), dedupe.StateReleased},
		"begun again, then an error":      {beginAgain(0), errors.New("boom"), dedupe.StateUnknown},
		"begun again, a renewal, error":   {beginAgain(time.Minute), errors.New("boom"), dedupe.StateUnknown},
		"begun again, and not committed":  {beginAgain(time.Minute), dedupe.NotCommitted(errors.New("boom")), dedupe.StateReleased},
		"begun again, then success":       {beginAgain(time.Minute), nil, dedupe.StateCompleted},
		"another is open, then an error":  {beginOther, errors.New("boom"), dedupe.StateUnknown},
		"another is open, not committed":  {beginOther, dedupe.NotCommitted(errors.New("boom")), dedupe.StateReleased},
		"another is open, then Permanent": {beginOther, dedupe.Permanent(errors.New("boom")), dedupe.StateFailed},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, byMode["marked"], func(t *testing.T, _ *line, l *dedupe.Ledger) {
				s := inHandler(t, l, func(ctx context.Context, op *dedupe.Operation) error {
					op.Undone(begin(ctx, t, op, "charge"))
					if c.last != nil {
						c.last(ctx, t, op)
					}
					return c.err
				})
				if s.State != c.want {
					t.Errorf("got %v, want %v", s.State, c.want)
				}
			})
		})
	}
}

func beginAgain(wait time.Duration) func(context.Context, *testing.T, *dedupe.Operation) {
	return func(ctx context.Context, t *testing.T, op *dedupe.Operation) {
		begin(ctx, t, op, "charge")
		time.Sleep(wait)
	}
}

func beginOther(ctx context.Context, t *testing.T, op *dedupe.Operation) { begin(ctx, t, op, "mail") }

// All methods are safe beside the renewals and each other. Run with -race.
func TestOperationIsSafeForConcurrentUse(t *testing.T) {
	t.Parallel()
	bubble(t, byMode["marked"], func(t *testing.T, ln *line, l *dedupe.Ledger) {
		s := inHandler(t, l, func(ctx context.Context, op *dedupe.Operation) error {
			var wg sync.WaitGroup
			for i := range 8 {
				wg.Go(func() {
					for range 30 {
						step := begin(ctx, t, op, fmt.Sprintf("step-%d", i))
						if op.Key() != key || op.Attempt() != 1 || op.Fence() == 0 {
							t.Error("the operation changed while it ran")
						}
						op.Undone(step)
						time.Sleep(time.Second)
					}
				})
			}
			wg.Wait()
			return nil
		})
		if s.State != dedupe.StateCompleted {
			t.Errorf("got %v, want completed", s.State)
		}
	})
}

// After the handler returned, a goroutine that it left behind may begin nothing.
func TestBeginAfterTheRun(t *testing.T) {
	t.Parallel()
	for mode, cfg := range byMode {
		t.Run(mode, func(t *testing.T) {
			bubble(t, cfg, func(t *testing.T, _ *line, l *dedupe.Ledger) {
				op := claim(t, l, bodyA).Operation
				op.Run(t.Context(), returning(nil), dedupe.RunOptions{})
				if _, err := op.Begin(t.Context(), "charge"); !errors.Is(err, dedupe.ErrLeaseLost) {
					t.Errorf("got %v, want %v", err, dedupe.ErrLeaseLost)
				}
			})
		})
	}
}
