package consumer_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/claimonce/claimonce/consumer"
	"github.com/claimonce/claimonce/dedupe"
)

// A claim whose answer comes after its handler has started without it is given back: it leaves no record in progress.
func TestObserveOnlyGivesALateClaimBack(t *testing.T) {
	observing(t, func(t *testing.T, r *rig) {
		r.store.script(nil, func(call, _ string, _ dedupe.Record) error {
			if call == "swap in_progress" {
				elapse(1500 * time.Millisecond) // it landed, and its answer ignores the caller's patience
			}
			return nil
		})
		r.handle = func(_ context.Context, op *dedupe.Operation, _ order) (string, error) {
			if op.Claimed() {
				t.Error("the handler was told of a claim that had not been answered")
			}
			return "done", nil
		}
		r.queue.send(message("k", `{"amount":1}`))
		w := r.start()
		elapse(1200 * time.Millisecond)
		r.wantRuns("k", 1)
		r.wantEmpty()
		elapse(time.Minute)
		w.stop()
		if rec := r.store.record(keyOf("k")); rec.State != dedupe.StateReleased || rec.Attempt != 0 {
			t.Errorf("record %s at attempt %d, want it released and not counted", rec.State, rec.Attempt)
		}
	})
}

// The record's generation is part of downstream keys where only the claim has seen it.
func TestObserveOnlyFollowsTheRecordsGeneration(t *testing.T) {
	observing(t, func(t *testing.T, r *rig) {
		rec := r.settledRecord("k", dedupe.StateCompleted)
		rec.Generation = 2
		r.store.put(rec)
		r.handle = func(ctx context.Context, op *dedupe.Operation, _ order) (string, error) {
			if step, err := op.Begin(ctx, "charge"); err != nil || step.Key() != rec.DownstreamKey("charge", 2) {
				t.Errorf("downstream key %q, %v; want that of the record's generation", step.Key(), err)
			}
			return "done", nil
		}
		r.queue.send(message("k", `{"amount":1}`))
		r.work(time.Second)
		r.wantRuns("k", 1)
	})
}

// While one message finds out whether the store answers again, the others do not wait.
func TestObserveOnlyAsksAgainWithOneMessage(t *testing.T) {
	observing(t, func(t *testing.T, r *rig) {
		r.store.takes = time.Hour
		send := func(name string) {
			for i := range 10 {
				r.queue.send(message(fmt.Sprint(name, i), `{"amount":1}`))
			}
		}
		w := r.start()
		send("first")
		elapse(10 * time.Second) // longer than the breaker's pause
		send("second")
		elapse(100 * time.Millisecond)
		if n := len(r.order()); n != 19 {
			t.Errorf("%d handlers ran, want all but the one that asks", n)
		}
		elapse(time.Second)
		w.stop()
		r.wantEmpty()
	})
}

// The loss of a message ends its handler as it does in a plain loop, and the message is left to its next holder.
func TestObserveOnlyLeavesALostMessage(t *testing.T) {
	observing(t, func(t *testing.T, r *rig) {
		for _, id := range []string{"claimed", "shadow"} {
			m := message(id, `{"amount":1}`)
			if id == "shadow" {
				r.store.put(r.settledRecord(id, dedupe.StateCompleted))
			}
			revoked := make(chan struct{})
			m.SetRevoked(revoked)
			r.handle = func(ctx context.Context, _ *dedupe.Operation, _ order) (string, error) {
				close(revoked)
				<-ctx.Done()
				return "", context.Cause(ctx)
			}
			r.queue.send(m)
			r.work(time.Second)
			if e := r.first(m.ID); e.Disposition != consumer.Left || !errors.Is(e.Err, consumer.ErrNotHeld) || !e.Ran {
				t.Errorf("%s: told %+v, want it left alone", id, e)
			}
			r.queue.entries = nil
		}
	})
}

// A handler that ignores its context is left behind when the process has to end.
func TestObserveOnlyLeavesHandlersBehind(t *testing.T) {
	observing(t, func(t *testing.T, r *rig) {
		release := make(chan struct{})
		defer close(release)
		r.store.put(r.settledRecord("shadow", dedupe.StateCompleted))
		r.handle = func(context.Context, *dedupe.Operation, order) (string, error) {
			<-release
			return "too late", nil
		}
		r.queue.send(message("k", `{"amount":1}`), message("shadow", `{"amount":1}`))
		w := r.start()
		elapse(time.Second)
		if took := w.stop(); took > 40*time.Second {
			t.Errorf("the stop took %v, want it bounded", took)
		}
		for _, id := range []string{"m-k", "m-shadow"} {
			if e := r.first(id); e.Disposition != consumer.Left || !e.Ran {
				t.Errorf("told %+v, want it left alone", e)
			}
		}
	})
}

// A message whose claim is on its way at the stop is not started, and no verdict is told of it.
func TestObserveOnlyStartsNothingAfterTheStop(t *testing.T) {
	observing(t, func(t *testing.T, r *rig) {
		r.store.takes = 500 * time.Millisecond
		r.queue.send(message("k", `{"amount":1}`))
		w := r.start()
		elapse(100 * time.Millisecond)
		w.stop()
		if e := r.first("m-k"); e.Disposition != consumer.Nacked || e.Delay != 0 || e.Ran || e.WouldHave != (consumer.Verdict{}) {
			t.Errorf("told %+v, want it handed back at once", e)
		}
		if rec := r.store.record(keyOf("k")); rec.State != dedupe.StateReleased || rec.Attempt != 0 {
			t.Errorf("record %s at attempt %d, want it released and not counted", rec.State, rec.Attempt)
		}
	})
}
