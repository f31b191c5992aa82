package consumer_test

import (
	"context"
	"testing"
	"time"

	"github.com/claimonce/claimonce/consumer"
	"github.com/claimonce/claimonce/dedupe"
)

// panics makes the store panic in what on says, and otherwise fail with an error, nil for none.
func (r *rig) panics(on func(call string) bool, otherwise error) {
	r.store.script(func(call, _ string, _ dedupe.Record) error {
		if on(call) {
			r.store.asking.Unlock() // the script is asked under it
			panic("a nil map")
		}
		return otherwise
	}, nil)
}

// A store that panics while an outcome is written changes nothing for a handler that is only observed.
func TestObserveOnlyPanicOfTheStoreAtTheCompletion(t *testing.T) {
	observing(t, func(t *testing.T, r *rig) {
		r.panics(func(call string) bool { return call == "swap completed" }, nil)
		r.queue.send(message("k", `{"amount":1}`))
		w := r.start()
		elapse(10 * time.Minute)
		w.stop()
		r.wantRuns("k", 1)
		r.wantEmpty()
		e := r.first("m-k")
		if e.Disposition != consumer.Acked || !e.Ran || e.Panicked || e.WouldHave.Disposition != consumer.Left || e.WouldHave.Err == nil {
			t.Errorf("told %+v, want a run that was acked where the usual mode would have left it", e)
		}
	})
}

// Nor does one that panics in every call after the claim: renewals, marks, and claims that are given back late.
func TestObserveOnlyPanicOfTheStoreInEveryCall(t *testing.T) {
	observing(t, func(t *testing.T, r *rig) {
		r.cfg.OnAbandoned = dedupe.RerunUnlessBegun
		r.handle = func(ctx context.Context, op *dedupe.Operation, _ order) (string, error) {
			r.panics(func(string) bool { return true }, nil)
			if step, err := op.Begin(ctx, "charge"); err != nil || step.Key() == "" {
				t.Errorf("Begin gave %q and %v", step.Key(), err)
			}
			return "done", wait(ctx, 2*time.Minute)
		}
		r.queue.send(message("k", `{"amount":1}`))
		r.work(3 * time.Minute)
		r.wantRuns("k", 1)
		r.wantEmpty()
	})
}

// In the usual mode the message is left alone, as after any outcome that could not be written, and told as one that ran.
func TestPanicOfTheStoreAtTheCompletion(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.panics(func(call string) bool { return call == "swap completed" }, nil)
		r.queue.send(message("k", `{"amount":1}`))
		w := r.start()
		elapse(time.Second)
		if e := r.first("m-k"); e.Disposition != consumer.Left || !e.Ran || e.Panicked || e.Err == nil {
			t.Errorf("told %+v, want it run and left", e)
		}
		if h := w.Health(); h.Running != 0 {
			t.Errorf("%d handlers count as running", h.Running)
		}
		w.stop()
	})
}

// A probe that panics is a probe that failed.
func TestPanicOfTheStoreAtTheProbe(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.panics(func(call string) bool { return call == "load" }, errBroken)
		r.queue.send(message("k", `{"amount":1}`))
		w := r.start()
		elapse(time.Minute)
		r.wantNoHandler()
		r.store.script(nil, nil)
		elapse(time.Minute)
		w.stop()
		r.wantRuns("k", 1)
		r.wantEmpty()
	})
}
