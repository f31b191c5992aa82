package consumer_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/claimonce/claimonce/consumer"
	"github.com/claimonce/claimonce/dedupe"
)

func TestPendingGoesBackUntilTheBoundThenIsDeadLettered(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.cfg.OnAbandoned = dedupe.Reconcile
		r.handle = func(context.Context, *dedupe.Operation, order) (string, error) { return "", errPlain }
		r.queue.send(message("k", `{"amount":1}`))
		w := r.start()
		elapse(23 * time.Hour)
		r.wantRuns("k", 1)
		r.wantState("k", dedupe.StateUnknown)
		if dead := r.queue.letters(); len(dead) != 0 {
			t.Errorf("dead letters %+v within the bound", dead)
		}
		if e := r.told("m-k")[1]; e.Disposition != consumer.Nacked || e.Outcome != dedupe.OutcomePending {
			t.Errorf("told %+v, want pending and handed back", e)
		}
		elapse(3 * time.Hour)
		w.stop()
		r.wantRuns("k", 1)
		d := r.wantDead("m-k", consumer.ReasonPending)
		if !strings.Contains(d.Detail, "settle the record") || !strings.Contains(d.Detail, errPlain.Error()) || d.KeyHash == "" {
			t.Errorf("dead letter %+v, want the cause and what to do", d.DeadLetter)
		}
		rec := r.store.record(keyOf("k"))
		if rec.Troubled&dedupe.TroubleUnknown == 0 || rec.AttentionAt.IsZero() || rec.State != dedupe.StateUnknown {
			t.Errorf("record %+v, want it unknown and listed", rec)
		}
		r.pendingDelays()
	})
}

// pendingDelays: from 30 s to an hour, each at least as long as the outcome has been unknown.
func (r *rig) pendingDelays() {
	r.t.Helper()
	e := r.queue.entry("m-k")
	if n := len(e.delays); n < 20 || n > 40 {
		r.t.Errorf("went back %d times in a day, want it doubled to an hour: %v", n, e.delays)
	}
	for i, d := range e.delays {
		unknown := e.receives[i].Sub(e.receives[0])
		least := min(max(unknown-time.Second, 30*time.Second), time.Hour)
		if d < least || d > 66*time.Minute {
			r.t.Errorf("unknown for %v it went back for %v, want %v to 66m", unknown, d, least)
		}
	}
}

func TestPendingIsListedBeforeItIsDeadLettered(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.cfg.OnAbandoned = dedupe.Reconcile
		r.cfg.PendingBound = time.Nanosecond
		r.store.put(r.abandoned("k", dedupe.Reconcile, 1))
		r.queue.send(message("k", `{"amount":1}`))
		r.work(time.Hour)
		got := r.queue.journal.all()
		want := []string{"store unknown k", "nack m-k", "dead m-k outcome_pending", "close"}
		if !slices.Equal(got, want) {
			t.Errorf("order of calls %q, want %q", got, want)
		}
		r.wantRuns("k", 0)
	})
}

func TestPendingThatIsSettledRunsOrReplays(t *testing.T) {
	for _, to := range []dedupe.State{dedupe.StateCompleted, dedupe.StateReleased} {
		t.Run(to.String(), func(t *testing.T) {
			inBubble(t, func(t *testing.T, r *rig) {
				r.cfg.OnAbandoned = dedupe.Reconcile
				r.handle = func(context.Context, *dedupe.Operation, order) (string, error) {
					if r.ran("k") == 1 {
						return "", errors.New("timed out")
					}
					return "done", nil
				}
				r.queue.send(message("k", `{"amount":1}`))
				w := r.start()
				elapse(time.Hour)
				if _, err := w.Ledger().ResolveBy(t.Context(), seen(t, w.Ledger(), keyOf("k")), "anna", "looked it up", to, nil); err != nil {
					t.Fatal(err)
				}
				elapse(3 * time.Hour)
				w.stop()
				want := 1
				if to == dedupe.StateReleased {
					want = 2
				}
				r.wantRuns("k", want)
				r.wantState("k", dedupe.StateCompleted)
				r.wantEmpty()
			})
		})
	}
}

// Begun and failed: unknown, never rerun; nothing begun: released and run again.
func TestRerunUnlessBegunFollowsTheMark(t *testing.T) {
	for _, begins := range []bool{false, true} {
		t.Run(map[bool]string{true: "begun", false: "nothing begun"}[begins], func(t *testing.T) {
			inBubble(t, func(t *testing.T, r *rig) {
				r.cfg.OnAbandoned = dedupe.RerunUnlessBegun
				r.handle = func(ctx context.Context, op *dedupe.Operation, _ order) (string, error) {
					if begins {
						if _, err := op.Begin(ctx, "charge"); err != nil {
							return "", err
						}
					}
					if r.ran("k") == 1 {
						return "", errPlain
					}
					return "done", nil
				}
				r.queue.send(message("k", `{"amount":1}`))
				r.work(time.Hour)
				if begins {
					r.wantRuns("k", 1)
					r.wantState("k", dedupe.StateUnknown)
					return
				}
				r.wantRuns("k", 2)
				r.wantEmpty()
			})
		})
	}
}
