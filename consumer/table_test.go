package consumer_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/claimonce/claimonce/consumer"
	"github.com/claimonce/claimonce/dedupe"
)

// inBubble runs a test with a rig in a synctest bubble, which ends only when no goroutine is left.
func inBubble(t *testing.T, f func(t *testing.T, r *rig)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { f(t, newRig(t)) })
}

func TestClaimedIsCompletedBeforeItIsAcked(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.queue.send(message("k", `{"amount":1}`))
		r.work(time.Second)
		want := []string{"store in_progress k", "run k", "store completed k", "ack m-k", "close"}
		if got := r.queue.journal.all(); !slices.Equal(got, want) {
			t.Errorf("order of calls %q, want %q", got, want)
		}
		e := r.first("m-k")
		if e.Disposition != consumer.Acked || e.Outcome != dedupe.OutcomeClaimed || !e.Ran || e.Replayed || e.Err != nil || e.Key != keyOf("k") {
			t.Errorf("told %+v, want a run that was acked", e)
		}
		r.wantEmpty()
	})
}

func TestReplayIsAckedWithoutARun(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.queue.send(message("k", `{"amount":1}`))
		w := r.start()
		elapse(time.Second)
		again := message("k", `{ "amount" : 1 }`)
		again.ID = "again"
		r.queue.send(again)
		elapse(time.Second)
		w.stop()
		r.wantRuns("k", 1)
		if e := r.first("again"); e.Disposition != consumer.Acked || !e.Replayed || e.Ran || e.Outcome != dedupe.OutcomeReplay {
			t.Errorf("told %+v, want a replay that was acked", e)
		}
		r.wantEmpty()
	})
}

func TestFailedIsDeadLetteredWithTheStoredCause(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.handle = func(context.Context, *dedupe.Operation, order) (string, error) {
			return "", dedupe.Permanent(errors.New("card declined"))
		}
		copied := message("k", `{"amount":1}`)
		copied.ID = "copy"
		r.queue.send(message("k", `{"amount":1}`))
		w := r.start()
		elapse(time.Second)
		r.queue.send(copied)
		elapse(time.Second)
		w.stop()
		r.wantRuns("k", 1)
		r.wantState("k", dedupe.StateFailed)
		for _, id := range []string{"m-k", "copy"} {
			d := r.wantDead(id, consumer.ReasonFailed)
			if d.Detail != "card declined" || d.KeyHash != keyOf("k").Hash() || d.Attempts != 1 {
				t.Errorf("dead letter %+v, want the stored cause, the key's hash and one attempt", d.DeadLetter)
			}
		}
	})
}

func TestExhaustedAtTheReleaseIsDeadLettered(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.cfg.Ledger.AttemptBound = 3
		r.handle = func(context.Context, *dedupe.Operation, order) (string, error) { return "", errPlain }
		r.queue.send(message("k", `{"amount":1}`))
		w := r.start()
		elapse(time.Hour)
		r.wantRuns("k", 3)
		d := r.wantDead("m-k", consumer.ReasonExhausted)
		if d.Attempts != 3 || !strings.Contains(d.Detail, errPlain.Error()) || !strings.Contains(d.Detail, "back to its queue") {
			t.Errorf("dead letter %+v, want three attempts, the cause and how to redrive", d.DeadLetter)
		}
		if rec := r.store.record(keyOf("k")); rec.State != dedupe.StateReleased || rec.Troubled&dedupe.TroubleExhausted == 0 || rec.Attempt != 0 {
			t.Errorf("record %+v, want it released, listed as exhausted, and at attempt 0", rec)
		}
		r.queue.redrive()
		elapse(time.Hour)
		w.stop()
		r.wantRuns("k", 6) // a redrive is a new series
	})
}

func TestExhaustedIsListedBeforeItIsDeadLettered(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.cfg.Ledger.AttemptBound = 1
		r.handle = func(context.Context, *dedupe.Operation, order) (string, error) { return "", errPlain }
		r.queue.send(message("k", `{"amount":1}`))
		r.work(time.Minute)
		want := []string{"store in_progress k", "run k", "store released k", "dead m-k attempts_exhausted", "close"}
		if got := r.queue.journal.all(); !slices.Equal(got, want) {
			t.Errorf("order of calls %q, want %q", got, want)
		}
	})
}

// A worker that dies in its last attempt leaves a record that a claim finds exhausted.
func TestExhaustedAtTheClaimIsDeadLettered(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.store.put(r.abandoned("k", dedupe.Rerun, 5))
		r.queue.send(message("k", `{"amount":1}`))
		r.work(time.Minute)
		r.wantRuns("k", 0)
		d := r.wantDead("m-k", consumer.ReasonExhausted)
		if d.Attempts != 5 || !strings.Contains(d.Detail, "back to its queue") {
			t.Errorf("dead letter %+v, want five attempts and how to redrive", d.DeadLetter)
		}
		if e := r.first("m-k"); e.Outcome != dedupe.OutcomeExhausted || e.Reason != consumer.ReasonExhausted {
			t.Errorf("told %+v, want the outcome exhausted", e)
		}
	})
}

// abandoned is a record whose owner died an hour ago, of the request that message("…", `{"amount":1}`) makes.
func (r *rig) abandoned(id string, mode dedupe.Mode, attempt int) dedupe.Record {
	ago := time.Now().Add(-time.Hour).UTC()
	return dedupe.Record{
		Schema: dedupe.SchemaVersion, Key: keyOf(id), Fingerprint: r.digest(id), State: dedupe.StateInProgress, Mode: mode,
		Revision: "r1", Owner: "dead", Fence: ago.UnixMilli(), Attempt: attempt, LockedUntil: ago.Add(time.Minute),
		OwnerWroteAt: ago, FirstAttemptAt: ago, CreatedAt: ago, ClaimedAt: ago,
	}
}

func (r *rig) digest(id string) string {
	r.t.Helper()
	req, err := r.consumer().Ledger().Request(keyOf(id), []byte(`{"amount":1}`))
	if err != nil {
		r.t.Fatal(err)
	}
	return req.Digest
}

func TestPermanentWhileDoubtfulHasAReasonOfItsOwn(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.handle = func(context.Context, *dedupe.Operation, order) (string, error) {
			if r.ran("k") == 1 {
				return "", errPlain
			}
			return "", dedupe.Permanent(errors.New("card declined"))
		}
		r.queue.send(message("k", `{"amount":1}`))
		r.work(time.Hour)
		r.wantRuns("k", 2)
		r.wantState("k", dedupe.StateReleased)
		if d := r.wantDead("m-k", consumer.ReasonPermanent); !strings.Contains(d.Detail, "card declined") {
			t.Errorf("dead letter %+v, want the cause", d.DeadLetter)
		}
	})
}

// The back-off doubles up to its bound, with jitter over the whole of it: among fifty messages some come near to it, some early.
func TestReleasedComesBackAfterABackoff(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.cfg.Backoff, r.cfg.BackoffMax = 8*time.Second, 20*time.Second
		r.handle = func(_ context.Context, op *dedupe.Operation, _ order) (string, error) {
			if op.Attempt() < 5 {
				return "", errPlain
			}
			return "done", nil
		}
		for i := range 50 {
			r.queue.send(message(fmt.Sprint("k", i), `{"amount":1}`))
		}
		r.work(time.Hour)
		r.wantEmpty()
		longest, shortest := make([]time.Duration, 4), []time.Duration{time.Hour, time.Hour, time.Hour, time.Hour}
		for i := range 50 {
			delays := r.queue.entry(fmt.Sprint("m-k", i)).delays
			if len(delays) != 4 {
				t.Fatalf("delays %v, want four", delays)
			}
			for n, d := range delays {
				longest[n], shortest[n] = max(longest[n], d), min(shortest[n], d)
			}
		}
		for n, most := range []time.Duration{8 * time.Second, 16 * time.Second, 20 * time.Second, 20 * time.Second} {
			if longest[n] > most || longest[n] < most*2/3 || shortest[n] < 500*time.Millisecond || shortest[n] > most/3 {
				t.Errorf("delays after attempt %d are from %v to %v, want them spread up to %v", n+1, shortest[n], longest[n], most)
			}
		}
	})
}

func TestRetryAfterSetsTheDelay(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.handle = func(context.Context, *dedupe.Operation, order) (string, error) {
			if r.ran("k") == 1 {
				return "", dedupe.RetryAfter(errPlain, 77*time.Second)
			}
			return "done", nil
		}
		r.queue.send(message("k", `{"amount":1}`))
		r.work(time.Hour)
		if got := r.queue.entry("m-k").delays; !slices.Equal(got, []time.Duration{77 * time.Second}) {
			t.Errorf("delays %v, want 77s", got)
		}
		r.wantEmpty()
	})
}

func TestNewerSchemaGoesBackAndStopsNothing(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		rec := r.abandoned("newer", dedupe.Rerun, 1)
		rec.Schema = dedupe.SchemaVersion + 1
		r.store.put(rec)
		r.queue.send(message("newer", `{"amount":1}`))
		w := r.start()
		elapse(time.Second)
		if h := w.Health(); h.StoreErr != nil || !h.Ready() {
			t.Errorf("health %+v, want the gate open", h)
		}
		r.queue.send(message("k", `{"amount":1}`))
		elapse(time.Second)
		w.stop()
		r.wantRuns("k", 1)
		r.wantRuns("newer", 0)
		if e := r.first("m-newer"); e.Disposition != consumer.Nacked || !errors.Is(e.Err, dedupe.ErrNewerSchema) || e.Delay < time.Minute {
			t.Errorf("told %+v, want it handed back for a lease with the cause", e)
		}
		if got := r.store.record(keyOf("newer")); got.Revision != "r1" {
			t.Errorf("the newer record was written: %+v", got)
		}
	})
}

// The number of receives of a message whose operation runs elsewhere grows with the logarithm of the time, up to one an hour.
func TestBusyIsReceivedEverMoreRarely(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		other := r.consumer() // another process: it meets this one in the store only
		claimed := make(chan struct{})
		go func() {
			req, err := other.Ledger().Request(keyOf("k"), []byte(`{"amount":1}`))
			if err != nil {
				t.Error(err)
			}
			a, err := other.Ledger().Claim(t.Context(), req)
			if err != nil {
				t.Error(err)
			}
			close(claimed)
			a.Operation.Run(t.Context(), func(context.Context, *dedupe.Operation) (dedupe.Result, error) {
				elapse(5 * time.Hour)
				return dedupe.Result{}, nil
			}, dedupe.RunOptions{})
		}()
		<-claimed
		r.queue.send(message("k", `{"amount":1}`))
		r.work(7 * time.Hour)
		r.wantRuns("k", 0)
		r.wantEmpty()
		e := r.queue.entry("m-k")
		if n := len(e.receives); n < 8 || n > 14 {
			t.Errorf("%d receives in five hours, want about the logarithm of an hour over a lease, and one an hour", n)
		}
		for i, d := range e.delays {
			ran := e.receives[i].Sub(e.receives[0])
			if d < min(ran, time.Hour) || d < 40*time.Second || d > 66*time.Minute {
				t.Errorf("after %v it went back for %v, want at least as long and at least the rest of the lease", ran, d)
			}
		}
	})
}
