package consumer_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/claimonce/claimonce/consumer"
	"github.com/claimonce/claimonce/dedupe"
)

// In observe-only mode a delivery succeeds whose claim found a record that somebody left open. After the switch a copy must not run.
func TestObserveOnlySuccessSettlesWhatWasLeftOpen(t *testing.T) {
	for _, mode := range []dedupe.Mode{dedupe.Rerun, dedupe.Reconcile} {
		for name, left := range map[string]func(*rig) dedupe.Record{
			"killed, its lease running": func(r *rig) dedupe.Record {
				rec := r.abandoned("k", mode, 1)
				rec.LockedUntil, rec.ClaimedAt = time.Now().Add(30*time.Second), time.Now().Add(-30*time.Second)
				return rec
			},
			"out of attempts":    func(r *rig) dedupe.Record { return r.abandoned("k", mode, 5) },
			"killed, lease over": func(r *rig) dedupe.Record { return r.abandoned("k", mode, 1) },
		} {
			t.Run(mode.String()+" "+name, func(t *testing.T) {
				observing(t, func(t *testing.T, r *rig) {
					r.cfg.OnAbandoned = mode
					r.store.put(left(r))
					r.queue.send(message("k", `{"amount":1}`))
					r.work(2 * time.Minute)
					r.wantRuns("k", 1)
					r.wantEmpty()
					r.wantState("k", dedupe.StateCompleted)
					r.cfg.ObserveOnly = ""
					again := message("k", `{"amount":1}`)
					again.ID = "again"
					r.queue.send(again)
					r.work(time.Minute)
					r.wantRuns("k", 1)
					r.wantEmpty()
				})
			})
		}
	}
}

// An owner that lives and renews says itself what became of it: nothing is said for it.
func TestObserveOnlyLeavesALivingOwnerAlone(t *testing.T) {
	observing(t, func(t *testing.T, r *rig) {
		r.handle = func(ctx context.Context, op *dedupe.Operation, _ order) (string, error) {
			if op.Claimed() {
				elapse(5 * time.Minute)
				return "the owner's", nil
			}
			return "the copy's", nil
		}
		again := message("k", `{"amount":1}`)
		again.ID = "again"
		r.queue.send(message("k", `{"amount":1}`))
		w := r.start()
		elapse(time.Second)
		r.queue.send(again)
		elapse(4 * time.Minute)
		r.wantState("k", dedupe.StateInProgress)
		elapse(2 * time.Minute)
		w.stop()
		if rec := r.store.record(keyOf("k")); rec.State != dedupe.StateCompleted || string(rec.Result.Body) != `"the owner's"` {
			t.Errorf("got %s with %+v, want what the owner says", rec.State, rec.Result)
		}
	})
}

// The hold ends while the claim is on its way: the handler is not started on it, and nothing is unknown.
func TestHoldThatEndsDuringTheClaim(t *testing.T) {
	for _, e := range []error{consumer.ErrHoldOver, consumer.ErrNotHeld} {
		t.Run(e.Error(), func(t *testing.T) {
			inBubble(t, func(t *testing.T, r *rig) {
				r.cfg.OnAbandoned = dedupe.Reconcile
				r.store.takes = 12 * time.Second
				r.queue.faults.extend = func(*consumer.Message) error { return fmt.Errorf("the queue: %w", e) }
				r.queue.send(message("k", `{"amount":1}`))
				w := r.start()
				elapse(5 * time.Second)
				r.store.mu.Lock()
				r.store.takes = 0 // of the calls after the claim
				r.store.mu.Unlock()
				elapse(15 * time.Second)
				r.wantRuns("k", 0)
				r.wantState("k", dedupe.StateReleased)
				w.stop()
			})
		})
	}
}
