package dedupe_test

import (
	"context"
	"errors"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/claimonce/claimonce/dedupe"
)

// bubble is a worker's ledger over a line of its own, in a synctest bubble.
func bubble(t *testing.T, cfg dedupe.Config, f func(t *testing.T, ln *line, l *dedupe.Ledger)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		ln := &line{register: newRegister()}
		f(t, ln, newLedger(t, ln, cfg))
	})
}

var byMode = map[string]dedupe.Config{
	"rerun": {OnAbandoned: dedupe.Rerun}, "marked": {OnAbandoned: dedupe.RerunUnlessBegun}, "reconcile": {OnAbandoned: dedupe.Reconcile},
}

// lasting is a handler that takes a while, unless it is told to stop.
func lasting(d time.Duration) dedupe.Handler {
	return func(ctx context.Context, _ *dedupe.Operation) (dedupe.Result, error) {
		select {
		case <-time.After(d):
			return dedupe.Result{}, nil
		case <-ctx.Done():
			return dedupe.Result{}, context.Cause(ctx)
		}
	}
}

func TestLeaseIsRenewedForTenMinutes(t *testing.T) {
	t.Parallel()
	bubble(t, byMode["reconcile"], func(t *testing.T, ln *line, l *dedupe.Ledger) {
		other := newLedger(t, ln.register, byMode["reconcile"])
		a := claim(t, l, bodyA)
		done := make(chan dedupe.Settlement, 1)
		go func() { done <- a.Operation.Run(t.Context(), lasting(10*time.Minute), dedupe.RunOptions{}) }()
		for range 10*60 - 1 {
			time.Sleep(time.Second)
			wantOutcome(t, claim(t, other, bodyA), dedupe.OutcomeBusy)
		}
		if s := <-done; s.State != dedupe.StateCompleted || s.Err != nil {
			t.Errorf("got %v, %v; want completed", s.State, s.Err)
		}
		before := ln.get(key)
		time.Sleep(time.Hour)
		if after := ln.get(key); after.Revision != before.Revision {
			t.Error("the lease was renewed after the run")
		}
	})
}

// The handler is told to stop while nobody else can have taken over yet, whatever keeps the renewals from landing.
func TestLostLeaseStopsTheHandlerInTime(t *testing.T) {
	t.Parallel()
	for name, cfg := range map[string]dedupe.Config{
		"defaults":     {OnAbandoned: dedupe.Rerun},
		"long lease":   {OnAbandoned: dedupe.Rerun, Lease: 20 * time.Minute, OwnerMargin: time.Second, SkewMargin: 2 * time.Second},
		"long and few": {OnAbandoned: dedupe.Rerun, Lease: time.Hour, RenewEvery: 19 * time.Minute, OwnerMargin: time.Millisecond, SkewMargin: 2 * time.Second},
	} {
		for kind, f := range map[string]fault{"refused": neverArrives, "hangs": hangs} {
			t.Run(name+", "+kind, func(t *testing.T) {
				bubble(t, cfg, func(t *testing.T, ln *line, l *dedupe.Ledger) {
					a := claim(t, l, bodyA)
					lease := l.Rules().Lease
					ln.set(f)
					var stopped time.Time
					var cause error
					s := make(chan dedupe.Settlement, 1)
					go func() {
						s <- a.Operation.Run(t.Context(), func(ctx context.Context, op *dedupe.Operation) (dedupe.Result, error) {
							<-ctx.Done()
							stopped, cause = time.Now(), context.Cause(ctx)
							ln.set(noFault)
							return dedupe.Result{}, cause
						}, dedupe.RunOptions{})
					}()
					set := <-s
					if !errors.Is(cause, dedupe.ErrLeaseLost) || !errors.Is(set.HandlerErr, dedupe.ErrLeaseLost) {
						t.Errorf("cause %v, want %v", cause, dedupe.ErrLeaseLost)
					}
					end := ln.get(key).ClaimedAt.Add(lease)
					if late := stopped.Sub(end); late >= 0 {
						t.Errorf("the handler was told to stop %v after its lease", late)
					}
				})
			})
		}
	}
}

// A renewal that failed once must not be the last one.
func TestRenewalGoesOnAfterErrors(t *testing.T) {
	t.Parallel()
	for name, faults := range map[string][]fault{"lost": {neverArrives, neverArrives}, "answers lost": {loseAnswer, loseAnswer}} {
		t.Run(name, func(t *testing.T) {
			bubble(t, byMode["rerun"], func(t *testing.T, ln *line, l *dedupe.Ledger) {
				a := claim(t, l, bodyA)
				ln.fail(faults...)
				s := a.Operation.Run(t.Context(), lasting(5*time.Minute), dedupe.RunOptions{})
				if s.State != dedupe.StateCompleted || s.HandlerErr != nil {
					t.Errorf("got %v, %v; want completed", s.State, s.HandlerErr)
				}
			})
		})
	}
}

// Renewals go on while a handler that was told to stop winds down, so that nobody starts beside it.
func TestRenewalGoesOnWhileTheHandlerWindsDown(t *testing.T) {
	t.Parallel()
	bubble(t, byMode["rerun"], func(t *testing.T, ln *line, l *dedupe.Ledger) {
		a := claim(t, l, bodyA)
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Second, func() { cancel(dedupe.ErrDraining) })
		done := make(chan dedupe.Settlement, 1)
		go func() {
			done <- a.Operation.Run(ctx, func(context.Context, *dedupe.Operation) (dedupe.Result, error) {
				time.Sleep(3 * time.Minute)
				return dedupe.Result{}, errors.New("stopped")
			}, dedupe.RunOptions{})
		}()
		time.Sleep(2 * time.Minute)
		wantOutcome(t, claim(t, l, bodyA), dedupe.OutcomeBusy)
		if s := <-done; s.State != dedupe.StateReleased || s.Record.Attempt != 0 {
			t.Errorf("got %v with attempt %d; want released, uncounted", s.State, s.Record.Attempt)
		}
	})
}

func TestLIF18_LateWorkerCannotOverwrite(t *testing.T) {
	t.Parallel()
	bubble(t, byMode["rerun"], func(t *testing.T, ln *line, l *dedupe.Ledger) {
		var lost atomic.Int32
		cfg := byMode["rerun"]
		cfg.Observe = func(_ context.Context, o dedupe.Observation) {
			if o.Note&dedupe.NoteEffectByLostOwner != 0 {
				lost.Add(1)
			}
		}
		slow := &line{register: ln.register}
		first := claim(t, newLedger(t, slow, cfg), bodyA).Operation
		release, done := make(chan struct{}), make(chan dedupe.Settlement, 1)
		go func() {
			done <- first.Run(t.Context(), func(context.Context, *dedupe.Operation) (dedupe.Result, error) {
				<-release // ignores its context
				return dedupe.Result{Body: []byte("RA")}, nil
			}, dedupe.RunOptions{})
		}()
		slow.set(neverArrives)
		time.Sleep(66 * time.Second)
		second := claim(t, l, bodyA).Operation
		if second.Fence() <= first.Fence() {
			t.Errorf("fence %d after %d; want it to rise", second.Fence(), first.Fence())
		}
		second.Run(t.Context(), func(context.Context, *dedupe.Operation) (dedupe.Result, error) {
			return dedupe.Result{Body: []byte("RB")}, nil
		}, dedupe.RunOptions{})
		slow.set(noFault)
		close(release)
		if s := <-done; s.Outcome != dedupe.OutcomeLost || !errors.Is(s.Err, dedupe.ErrLeaseLost) || s.HandlerErr != nil {
			t.Errorf("the late completion: got %v, %v; want lost", s.Outcome, s.Err)
		}
		if lost.Load() != 1 {
			t.Errorf("%d effects by lost owners were observed, want 1", lost.Load())
		}
		if got := string(ln.get(key).Result.Body); got != "RB" {
			t.Errorf("the stored result is %q, want RB", got)
		}
	})
}

// The token is made for each claim, so that a stalled attempt does not pass for its own successor on the same worker.
func TestDDB20_SameWorkerIsAnotherOwner(t *testing.T) {
	t.Parallel()
	bubble(t, byMode["rerun"], func(t *testing.T, ln *line, l *dedupe.Ledger) {
		first := claim(t, l, bodyA).Operation
		release := make(chan struct{})
		done := make(chan dedupe.Settlement, 1)
		go func() {
			ln.set(neverArrives)
			done <- first.Run(t.Context(), func(ctx context.Context, op *dedupe.Operation) (dedupe.Result, error) {
				<-release
				if _, err := op.Begin(ctx, "charge"); !errors.Is(err, dedupe.ErrLeaseLost) && !errors.Is(err, context.Canceled) {
					t.Errorf("begin of the stalled attempt: got %v, want it refused", err)
				}
				return dedupe.Result{Body: []byte("first")}, nil
			}, dedupe.RunOptions{})
		}()
		time.Sleep(66 * time.Second)
		same := newLedger(t, ln.register, byMode["rerun"]) // another line, so that the stalled one stays cut
		second := claim(t, same, bodyA).Operation
		ln.set(noFault)
		close(release)
		if s := <-done; !errors.Is(s.Err, dedupe.ErrLeaseLost) {
			t.Errorf("the stalled attempt: got %v, want it refused", s.Err)
		}
		rec := ln.get(key)
		if rec.State != dedupe.StateInProgress || rec.Attempt != 2 {
			t.Errorf("attempt 2 was disturbed: %v, attempt %d", rec.State, rec.Attempt)
		}
		if s := second.Run(t.Context(), returning(nil), dedupe.RunOptions{}); s.State != dedupe.StateCompleted {
			t.Errorf("attempt 2: got %v, want completed", s.State)
		}
	})
}

// A killed worker blocks its key for a lease, not for the window.
func TestLIF01_KilledWorkerBlocksForALeaseOnly(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		cfg  dedupe.Config
		want dedupe.Outcome
	}{
		"rerun": {byMode["rerun"], dedupe.OutcomeClaimed}, "nothing begun": {byMode["marked"], dedupe.OutcomeClaimed},
		"reconcile": {byMode["reconcile"], dedupe.OutcomePending},
	} {
		t.Run(name, func(t *testing.T) {
			c.cfg.Lease, c.cfg.Window = 30*time.Second, 72*time.Hour
			bubble(t, c.cfg, func(t *testing.T, _ *line, l *dedupe.Ledger) {
				claim(t, l, bodyA)
				time.Sleep(10 * time.Second)
				a := claim(t, l, bodyA)
				wantOutcome(t, a, dedupe.OutcomeBusy)
				time.Sleep(a.RetryAfter + time.Millisecond)
				wantOutcome(t, claim(t, l, bodyA), c.want)
			})
		})
	}
}

// A panic and runtime.Goexit are plain errors, and end nothing but the handler.
func TestHandlerThatDoesNotReturn(t *testing.T) {
	t.Parallel()
	for name, handler := range map[string]dedupe.Handler{
		"panic": func(context.Context, *dedupe.Operation) (dedupe.Result, error) { panic("card 4111") },
		"nil reference": func(context.Context, *dedupe.Operation) (dedupe.Result, error) {
			var p *int
			return dedupe.Result{Status: *p}, nil
		},
		"goexit": func(context.Context, *dedupe.Operation) (dedupe.Result, error) {
			runtime.Goexit()
			return dedupe.Result{}, nil
		},
	} {
		for mode, want := range map[string]dedupe.State{"rerun": dedupe.StateReleased, "marked": dedupe.StateReleased, "reconcile": dedupe.StateUnknown} {
			t.Run(name+", "+mode, func(t *testing.T) {
				bubble(t, byMode[mode], func(t *testing.T, _ *line, l *dedupe.Ledger) {
					s := claim(t, l, bodyA).Operation.Run(t.Context(), handler, dedupe.RunOptions{})
					if _, ok := errors.AsType[*dedupe.PanicError](s.HandlerErr); !ok {
						t.Errorf("got %v, want a *PanicError", s.HandlerErr)
					}
					if s.State != want || s.Err != nil {
						t.Errorf("got %v, %v; want %v", s.State, s.Err, want)
					}
				})
			})
		}
	}
}

// A process that is about to end does not wait for a handler that ignores its context, and says nothing of its outcome.
func TestAbandon(t *testing.T) {
	t.Parallel()
	bubble(t, byMode["marked"], func(t *testing.T, ln *line, l *dedupe.Ledger) {
		abandon, release := make(chan struct{}), make(chan struct{})
		a := claim(t, l, bodyA)
		time.AfterFunc(time.Minute, func() { close(abandon) })
		s := a.Operation.Run(t.Context(), func(context.Context, *dedupe.Operation) (dedupe.Result, error) {
			<-release
			return dedupe.Result{}, nil
		}, dedupe.RunOptions{Abandon: abandon})
		if s.Err == nil || s.State != dedupe.StateInProgress || s.Outcome != dedupe.OutcomeLost {
			t.Errorf("got %+v, want no outcome", s)
		}
		rec := ln.get(key)
		if rec.State != dedupe.StateInProgress {
			t.Errorf("the record is %v, want in_progress", rec.State)
		}
		time.Sleep(10 * time.Minute)
		if after := ln.get(key); after.Revision != rec.Revision {
			t.Error("the abandoned run was still renewed")
		}
		wantOutcome(t, claim(t, l, bodyA), dedupe.OutcomeClaimed) // nothing was begun
		close(release)
	})
}

// A claim that was answered after its trust window is not started, and not counted.
func TestNeverStarted(t *testing.T) {
	t.Parallel()
	bubble(t, byMode["reconcile"], func(t *testing.T, ln *line, l *dedupe.Ledger) {
		a := claim(t, l, bodyA)
		time.Sleep(55 * time.Second)
		s := a.Operation.Run(t.Context(), func(context.Context, *dedupe.Operation) (dedupe.Result, error) {
			t.Error("the handler was started")
			return dedupe.Result{}, nil
		}, dedupe.RunOptions{})
		if s.State != dedupe.StateReleased || ln.get(key).Attempt != 0 || !errors.Is(s.HandlerErr, dedupe.ErrLeaseLost) {
			t.Errorf("got %v, attempt %d, %v; want released, uncounted", s.State, ln.get(key).Attempt, s.HandlerErr)
		}
	})
}

// A run whose context is over before it starts is given back too: a worker that stops must not use up attempts.
func TestNotStartedSinceTheContextIsOver(t *testing.T) {
	t.Parallel()
	bubble(t, byMode["reconcile"], func(t *testing.T, ln *line, l *dedupe.Ledger) {
		a := claim(t, l, bodyA)
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(dedupe.ErrDraining)
		s := a.Operation.Run(ctx, returning(nil), dedupe.RunOptions{})
		if s.State != dedupe.StateReleased || ln.get(key).Attempt != 0 || !errors.Is(s.HandlerErr, dedupe.ErrDraining) {
			t.Errorf("got %v, attempt %d, %v; want released, uncounted", s.State, ln.get(key).Attempt, s.HandlerErr)
		}
	})
}

// A handler may run another operation inside. That the inner one was never started says nothing of the outer one.
func TestInnerOperationNeverStarted(t *testing.T) {
	t.Parallel()
	bubble(t, byMode["marked"], func(t *testing.T, ln *line, l *dedupe.Ledger) {
		inner := key
		inner.ID = "inner"
		slow := &line{register: ln.register, slow: 56 * time.Second}
		innerLedger := newLedger(t, slow, byMode["marked"])
		s := inHandler(t, l, func(ctx context.Context, op *dedupe.Operation) error {
			begin(ctx, t, op, "charge")
			_, err := dedupe.Do(ctx, innerLedger, inner, 1, func(context.Context, *dedupe.Operation) (int, error) { return 1, nil })
			if !errors.Is(err, dedupe.ErrLeaseLost) {
				t.Errorf("the inner operation: got %v, want %v", err, dedupe.ErrLeaseLost)
			}
			return err
		})
		if s.State != dedupe.StateUnknown {
			t.Errorf("got %v, want unknown: the outer one had begun", s.State)
		}
	})
}
