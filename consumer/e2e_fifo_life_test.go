package consumer_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/claimonce/claimonce/awstest"
	"github.com/claimonce/claimonce/consumer"
	"github.com/claimonce/claimonce/dedupe"
)

// LIF-10: a long poll is answered with ten messages 200 ms after the stop began. They go back at once, in order and without a record.
func TestLIF10_FIFOPollAnsweredAfterTheStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.cloud = newCloud(t, awstest.New(awstest.Config{}), "work")
		r.cloud.useFIFO("600", 1000)
		r.cfg.Drain = 5 * time.Second
		w := r.start()
		elapse(5 * time.Second)
		w.cancel()
		elapse(200 * time.Millisecond)
		var want []string
		for i := range 5 {
			r.cloud.toGroup("a", fmt.Sprint("a", i))
			want = append(want, fmt.Sprint("a", i))
		}
		for i := range 5 {
			r.cloud.toGroup("b", fmt.Sprint("b", i))
		}
		if err := <-w.done; err != nil {
			t.Fatal(err)
		}
		stopped := time.Now()
		for _, id := range want {
			r.wantRuns(id, 0)
			r.cloud.wantState(keyOf(id), dedupe.StateAbsent)
		}
		other := r.start()
		elapse(3 * time.Second)
		if got := of(r.order(), "a"); !slices.Equal(got, want) {
			t.Errorf("%v after the stop another worker has run %q, want all in order", time.Since(stopped), got)
		}
		other.stop()
		r.cloud.wantEmpty()
	})
}

// LIF-11: a stop while a handler of three seconds runs, on a queue whose redrive policy allows one receive. With time to finish, it does.
func TestLIF11_FIFOStopWithTimeToFinish(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.cloud = newCloud(t, awstest.New(awstest.Config{}), "work")
		r.cloud.useFIFO("30", 1)
		r.cfg.Drain = 10 * time.Second
		r.handle = func(ctx context.Context, _ *dedupe.Operation, _ order) (string, error) {
			return "done", wait(ctx, 3*time.Second)
		}
		r.cloud.toGroup("a", "a1")
		w := r.start()
		elapse(time.Second)
		if took := w.stop(); took < 2*time.Second || took > 3*time.Second {
			t.Errorf("the stop took %v, want what was left of the handler", took)
		}
		r.wantRuns("a1", 1)
		r.cloud.wantState(keyOf("a1"), dedupe.StateCompleted)
		r.cloud.wantEmpty()
		// In order: nothing is received any more, the outcome, the delete.
		names, _ := r.cloud.operations("ReceiveMessage", "PutItem", "DeleteMessageBatch")
		if tail := names[len(names)-2:]; !slices.Equal(tail, []string{"PutItem", "DeleteMessageBatch"}) {
			t.Errorf("calls %q, want them to end with the completion and the delete", names)
		}
	})
}

// LIF-11: with a grace shorter than the handler, its context ends, the claim is given back by the mode, and the message goes back at
// once: another worker has it within seconds, and what is behind it comes after it.
func TestLIF11_FIFOStopWithoutTimeToFinish(t *testing.T) {
	for _, c := range []struct {
		mode  dedupe.Mode
		state dedupe.State
		order []string
	}{
		{dedupe.Rerun, dedupe.StateReleased, []string{"a1", "a1", "a2"}},
		{dedupe.RerunUnlessBegun, dedupe.StateReleased, []string{"a1", "a1", "a2"}},
		{dedupe.Reconcile, dedupe.StateUnknown, []string{"a1"}},
	} {
		t.Run(c.mode.String(), func(t *testing.T) {
			inFIFOCloud(t, func(t *testing.T, r *rig) {
				r.cfg.OnAbandoned, r.cfg.Drain = c.mode, time.Second
				var cause error
				r.handle = func(ctx context.Context, _ *dedupe.Operation, _ order) (string, error) {
					err := wait(ctx, 3*time.Second)
					if err != nil {
						cause = err
					}
					return "done", err
				}
				r.cloud.toGroup("a", "a1", "a2")
				w := r.start()
				elapse(time.Second)
				if took := w.stop(); took > 2*time.Second {
					t.Errorf("the stop took %v, want the grace of a second", took)
				}
				if !errors.Is(cause, dedupe.ErrDraining) {
					t.Errorf("the handler's context ended with %v, want ErrDraining", cause)
				}
				r.cloud.wantState(keyOf("a1"), c.state)
				if n := w.Health().BlockedGroups; c.mode != dedupe.Reconcile && n != 0 {
					t.Errorf("%d groups blocked by a stop", n)
				}
				other := r.start()
				elapse(10 * time.Second)
				other.stop()
				if got := r.order(); !slices.Equal(got, c.order) {
					t.Errorf("ran %q, want %q", got, c.order)
				}
			})
		})
	}
}

// An unknown head: the group waits for it, or goes on without it, as the configuration says.
func TestFIFOPendingGroups(t *testing.T) {
	for _, choice := range []consumer.PendingGroups{consumer.PendingBlock, consumer.PendingSkip} {
		t.Run(choice.String(), func(t *testing.T) {
			inFIFOCloud(t, func(t *testing.T, r *rig) {
				r.cfg.OnAbandoned, r.cfg.PendingGroups = dedupe.Reconcile, choice
				r.handle = func(_ context.Context, op *dedupe.Operation, _ order) (string, error) {
					if op.Key().ID == "a1" {
						return "", errPlain
					}
					return "done", nil
				}
				die(t, r, "b1")
				r.cloud.toGroup("a", "a1", "a2")
				r.cloud.toGroup("b", "b1", "b2") // found abandoned, not seen to fail
				w := r.start()
				elapse(5 * time.Minute)
				for _, id := range []string{"a1", "b1"} {
					if rec := r.cloud.wantState(keyOf(id), dedupe.StateUnknown); rec.AttentionAt.IsZero() {
						t.Errorf("record %s is on nobody's list", id)
					}
				}
				h, letters := w.Health(), len(r.cloud.letters())
				w.stop()
				if choice == consumer.PendingBlock {
					if r.ran("a2") != 0 || r.ran("b2") != 0 || letters != 0 || h.BlockedGroups != 2 {
						t.Errorf("ran %q, %d dead letters, %d groups blocked; want both groups to wait", r.order(), letters, h.BlockedGroups)
					}
					return
				}
				if r.ran("a2") != 1 || r.ran("b2") != 1 || letters != 2 || h.BlockedGroups != 0 {
					t.Errorf("ran %q, %d dead letters, %d groups blocked; want both groups to go on", r.order(), letters, h.BlockedGroups)
				}
				m := r.cloud.wantDead(consumer.ReasonPending, `{"amount":1}`)
				if m.Attributes["Claimonce-Key-Hash"] == "" {
					t.Errorf("dead letter %+v, want its key named", m)
				}
			})
		})
	}
}
