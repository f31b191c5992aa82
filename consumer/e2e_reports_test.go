package consumer_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/claimonce/claimonce/consumer"
	"github.com/claimonce/claimonce/dedupe"
)

// redrive moves all dead letters back to the work queue, as the console's button does.
func (c *cloud) redrive() {
	c.t.Helper()
	_, err := c.sqs.StartMessageMoveTask(c.t.Context(), &sqs.StartMessageMoveTaskInput{
		SourceArn: aws.String(c.arn(c.dead)), DestinationArn: aws.String(c.arn(c.queue)),
	})
	if err != nil {
		c.t.Fatal(err)
	}
}

// told finds the events of a key.
func (r *rig) toldOf(key string) []consumer.Event {
	r.mu.Lock()
	defer r.mu.Unlock()
	var es []consumer.Event
	for _, e := range r.events {
		if e.Key.ID == key {
			es = append(es, e)
		}
	}
	return es
}

// LIF-12: twenty handlers that a shutdown cancels are no failures, with one attempt allowed, in each mode in which nothing says that
// there was an effect: the next worker runs and completes all of them.
func TestLIF12_ShutdownIsNoFailureInTheCloud(t *testing.T) {
	for _, mode := range []dedupe.Mode{dedupe.Rerun, dedupe.RerunUnlessBegun} {
		for name, answer := range map[string]func(context.Context) error{
			"its context's error": func(ctx context.Context) error { return ctx.Err() },
			"the cause":           context.Cause,
			"an error of its own": func(context.Context) error { return errPlain },
		} {
			t.Run(mode.String()+", "+name, func(t *testing.T) {
				inCloud(t, func(t *testing.T, r *rig) {
					const n = 20
					r.cfg.OnAbandoned, r.cfg.Ledger.AttemptBound, r.cfg.Workers = mode, 1, n
					var again atomic.Bool
					r.handle = func(ctx context.Context, op *dedupe.Operation, _ order) (string, error) {
						if again.Load() {
							if op.Attempt() != 1 {
								t.Errorf("attempt %d after the stop, want the first given back", op.Attempt())
							}
							_, err := op.Begin(ctx, "charge")
							return "done", err
						}
						<-ctx.Done()
						return "", answer(ctx)
					}
					for i := range n {
						r.cloud.keyed(fmt.Sprint("k", i), `{"amount":1}`)
					}
					w := r.start()
					elapse(10 * time.Second)
					if got := w.Health().Running; got != n {
						t.Fatalf("%d handlers run before the stop, want %d", got, n)
					}
					w.stop()
					for i := range n {
						rec := r.cloud.wantState(keyOf(fmt.Sprint("k", i)), dedupe.StateReleased)
						if rec.Attempt != 0 || rec.Troubled != 0 {
							t.Errorf("record %s at attempt %d, troubled %b: want the attempt given back and nobody alarmed", rec.Key.ID, rec.Attempt, rec.Troubled)
						}
					}
					if len(r.cloud.letters()) != 0 || len(r.cloud.left()) != n {
						t.Errorf("%d dead letters and %d messages after the stop, want none and %d", len(r.cloud.letters()), len(r.cloud.left()), n)
					}
					again.Store(true)
					r.work(10 * time.Second)
					for i := range n {
						id := fmt.Sprint("k", i)
						r.cloud.wantState(keyOf(id), dedupe.StateCompleted)
						r.wantRuns(id, 2)
					}
					r.cloud.wantEmpty()
				})
			})
		}
	}
}

// elsewhere is another process on the same table: it claims an operation and runs it when it is told how it ends.
func (r *rig) elsewhere(id string) (end func(error)) {
	r.t.Helper()
	l := r.consumer().Ledger()
	req, err := l.Request(keyOf(id), []byte(`{"amount":1}`))
	if err != nil {
		r.t.Fatal(err)
	}
	a, err := l.Claim(r.t.Context(), req)
	if err != nil || a.Outcome != dedupe.OutcomeClaimed {
		r.t.Fatalf("claim elsewhere: %v, %v", a.Outcome, err)
	}
	return func(how error) {
		a.Operation.Run(r.t.Context(), func(context.Context, *dedupe.Operation) (dedupe.Result, error) {
			return dedupe.JSONResult("elsewhere"), how
		}, dedupe.RunOptions{})
	}
}

// LIF-20: nothing is kept in a worker of what it saw of a record. One that met an operation in progress, or of unknown outcome, goes
// by what the table says at the next delivery; so it does after an operator's decision and after the window.
func TestLIF20_NothingStaleIsServed(t *testing.T) {
	inCloud(t, func(t *testing.T, r *rig) {
		r.cfg.OnAbandoned, r.cfg.Ledger.Window, r.cfg.AcceptShortWindow = dedupe.Reconcile, time.Hour, "a test"
		w := r.start()
		defer w.stop()
		key := keyOf("k")
		// step delivers a copy, and says what its first delivery is to come to.
		step := func(when string, want dedupe.Outcome, disposition consumer.Disposition, runs int) {
			t.Helper()
			id := r.cloud.keyed("k", `{"amount":1}`)
			elapse(2 * time.Second)
			if e := r.first(id); e.Outcome != want || e.Disposition != disposition {
				t.Errorf("%s: told %v and %v, want %v and %v", when, e.Outcome, e.Disposition, want, disposition)
			}
			r.wantRuns("k", runs)
		}
		decide := func(o dedupe.Override) {
			t.Helper()
			o.Operator, o.Reason, o.Resend = "ops", "a test", "ops"
			if _, err := w.Ledger().Override(t.Context(), seen(t, w.Ledger(), key), o); err != nil {
				t.Fatal(err)
			}
		}

		end := r.elsewhere("k")
		step("in progress elsewhere", dedupe.OutcomeBusy, consumer.Nacked, 0)
		end(nil)
		step("completed elsewhere", dedupe.OutcomeReplay, consumer.Acked, 0)
		elapse(2 * time.Minute) // the copy that met it in progress comes back
		r.cloud.wantEmpty()

		decide(dedupe.Override{Action: dedupe.ActionRelease})
		step("released by an operator", dedupe.OutcomeClaimed, consumer.Acked, 1)
		step("completed here", dedupe.OutcomeReplay, consumer.Acked, 1)

		decide(dedupe.Override{Action: dedupe.ActionRelease})
		end = r.elsewhere("k")
		end(errPlain)
		r.cloud.wantState(key, dedupe.StateUnknown)
		step("unknown", dedupe.OutcomePending, consumer.Nacked, 1)
		if _, err := w.Ledger().ResolveBy(t.Context(), seen(t, w.Ledger(), key), "ops", "asked the provider", dedupe.StateCompleted, nil); err != nil {
			t.Fatal(err)
		}
		step("resolved", dedupe.OutcomeReplay, consumer.Acked, 1)
		elapse(2 * time.Minute)
		r.cloud.wantEmpty()

		// expires_at is obeyed when it is read, whatever was served before, and whether or not the table has deleted the record.
		rec := r.cloud.record(key)
		elapse(time.Until(rec.ExpiresAt) - time.Minute)
		step("a minute before it expires", dedupe.OutcomeReplay, consumer.Acked, 1)
		elapse(time.Minute + 2*w.Ledger().Rules().SkewMargin)
		step("after it expired", dedupe.OutcomeClaimed, consumer.Acked, 2)
		r.cloud.wantEmpty()
	})
}

// OPS-01: what a redrive of dead letters comes to after the fault is mended. Nothing is swallowed as a duplicate of its own failed
// attempt, and nothing vanishes.
func TestOPS01_RedriveAfterTheFaultIsMended(t *testing.T) {
	inCloud(t, func(t *testing.T, r *rig) {
		r.cfg.OnAbandoned, r.cfg.Ledger.AttemptBound = dedupe.RerunUnlessBegun, 3
		r.cfg.PendingBound = time.Hour
		var mended atomic.Bool
		r.handle = func(ctx context.Context, op *dedupe.Operation, _ order) (string, error) {
			id := op.Key().ID
			if id == "declined" && !mended.Load() {
				return "", dedupe.Permanent(errors.New("no such account"))
			}
			if id == "unknown" || mended.Load() {
				if _, err := op.Begin(ctx, "charge"); err != nil {
					return "", err
				}
			}
			if mended.Load() {
				return "done", nil
			}
			return "", errPlain
		}
		for _, id := range []string{"exhausted", "settled", "declined", "unknown"} {
			r.cloud.keyed(id, `{"amount":1}`)
		}
		w := r.start()
		defer w.stop()
		elapse(2 * time.Hour)
		reasons := map[string]int{}
		for _, e := range []string{"exhausted", "settled", "declined", "unknown"} {
			es := r.toldOf(e)
			reasons[es[len(es)-1].Reason]++
		}
		if reasons[consumer.ReasonExhausted] != 2 || reasons[consumer.ReasonFailed] != 1 || reasons[consumer.ReasonPending] != 1 || len(r.cloud.letters()) != 4 {
			t.Fatalf("dead letters %v, want two exhausted, one failed, one pending", reasons)
		}
		r.wantRuns("exhausted", 3)
		rec := r.cloud.wantState(keyOf("exhausted"), dedupe.StateReleased)
		if rec.Troubled&dedupe.TroubleExhausted == 0 {
			t.Error("the exhausted one is not on the operators' list")
		}

		mended.Store(true)
		r.cloud.keyed("settled", `{"amount":1}`) // its producer sends it again before the redrive
		elapse(5 * time.Second)
		r.cloud.wantState(keyOf("settled"), dedupe.StateCompleted)
		r.wantRuns("settled", 4)

		r.cloud.redrive()
		elapse(time.Minute)
		last := func(id string) consumer.Event { es := r.toldOf(id); return es[len(es)-1] }
		if e := last("exhausted"); e.Disposition != consumer.Acked || !e.Ran || e.Replayed {
			t.Errorf("exhausted: told %+v, want it run and acked", e)
		}
		if rec := r.cloud.wantState(keyOf("exhausted"), dedupe.StateCompleted); rec.Troubled != 0 {
			t.Error("the completed one is still on the operators' list")
		}
		r.wantRuns("exhausted", 4)
		if e := last("settled"); e.Disposition != consumer.Acked || !e.Replayed || e.Ran {
			t.Errorf("settled: told %+v, want it replayed and acked", e)
		}
		r.wantRuns("settled", 4)
		// What failed for good says so again, until an operator decides otherwise.
		if e := last("declined"); e.Disposition != consumer.DeadLettered || e.Reason != consumer.ReasonFailed || e.Ran {
			t.Errorf("declined: told %+v, want its stored failure", e)
		}
		r.wantRuns("declined", 1)
		if e := last("unknown"); e.Outcome != dedupe.OutcomePending || e.Disposition == consumer.Acked {
			t.Errorf("unknown: told %+v, want it to wait for its outcome", e)
		}
		r.wantRuns("unknown", 1)
		if n := len(r.cloud.left()) + len(r.cloud.letters()); n != 2 {
			t.Errorf("%d messages are there, want the failed and the unknown one", n)
		}

		l := w.Ledger()
		if _, err := l.Override(t.Context(), seen(t, l, keyOf("declined")), dedupe.Override{
			Action: dedupe.ActionRelease, Operator: "ops", Reason: "the account was opened", Resend: "ops",
		}); err != nil {
			t.Fatal(err)
		}
		if _, err := l.ResolveBy(t.Context(), seen(t, l, keyOf("unknown")), "ops", "charged, says the provider", dedupe.StateCompleted, nil); err != nil {
			t.Fatal(err)
		}
		r.cloud.redrive()
		elapse(2 * time.Hour)
		r.wantRuns("declined", 2)
		r.cloud.wantState(keyOf("declined"), dedupe.StateCompleted)
		if e := last("unknown"); !e.Replayed || e.Disposition != consumer.Acked {
			t.Errorf("unknown: told %+v, want the outcome replayed", e)
		}
		r.wantRuns("unknown", 1)
		r.cloud.wantEmpty()
	})
}
