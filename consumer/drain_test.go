package consumer_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/claimonce/claimonce/consumer"
	"github.com/claimonce/claimonce/dedupe"
)

func TestDrainLetsHandlersFinish(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.cfg.Workers = 2
		r.handle = func(context.Context, *dedupe.Operation, order) (string, error) {
			elapse(20 * time.Second)
			return "done", nil
		}
		for i := range 30 {
			r.queue.send(message(fmt.Sprint("k", i), `{"amount":1}`))
		}
		w := r.start()
		elapse(time.Second)
		if took := w.stop(); took != 19*time.Second {
			t.Errorf("the stop took %v, want the 19s that handlers needed", took)
		}
		if got := len(r.order()); got != 2 {
			t.Errorf("%d handlers were started, want the two of before the stop", got)
		}
		acked, nacked := 0, 0
		for _, e := range r.events {
			switch {
			case e.Disposition == consumer.Acked && e.Ran:
				acked++
			case e.Disposition == consumer.Nacked && e.Delay == 0 && !e.Ran:
				nacked++
			}
		}
		if acked != 2 || nacked != 10 {
			t.Errorf("%d acked and %d handed back at once, want 2 and the 10 that waited", acked, nacked)
		}
		if last := r.queue.journal.all(); last[len(last)-1] != "close" {
			t.Errorf("the source was not closed last: %q", last[len(last)-1])
		}
	})
}

func TestDrainCancelsAndReleasesUncounted(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		var cause reason
		r.handle = losing(&cause)
		r.queue.send(message("k", `{"amount":1}`))
		w := r.start()
		elapse(time.Second)
		if took := w.stop(); took != 25*time.Second {
			t.Errorf("the stop took %v, want the drain of 25s", took)
		}
		if !errors.Is(cause.get(), dedupe.ErrDraining) {
			t.Errorf("the handler's context ended with %v, want ErrDraining", cause.get())
		}
		rec := r.store.record(keyOf("k"))
		if rec.State != dedupe.StateReleased || rec.Attempt != 0 {
			t.Errorf("record %s at attempt %d, want released and the attempt given back", rec.State, rec.Attempt)
		}
		if e := r.first("m-k"); e.Disposition != consumer.Nacked || e.Delay != 0 {
			t.Errorf("told %+v, want it handed back at once", e)
		}
	})
}

// LIF-12: handlers that a shutdown cancelled are not counted as failures, even with one attempt allowed.
func TestLIF12_ShutdownIsNoFailure(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.cfg.Ledger.AttemptBound, r.cfg.Workers = 1, 20
		var draining atomic.Bool
		draining.Store(true)
		r.handle = func(ctx context.Context, _ *dedupe.Operation, _ order) (string, error) {
			if draining.Load() {
				<-ctx.Done()
				return "", ctx.Err()
			}
			return "done", nil
		}
		for i := range 20 {
			r.queue.send(message(fmt.Sprint("k", i), `{"amount":1}`))
		}
		w := r.start()
		elapse(time.Second)
		w.stop()
		draining.Store(false)
		r.work(time.Second)
		r.wantEmpty()
		for i := range 20 {
			r.wantState(fmt.Sprint("k", i), dedupe.StateCompleted)
		}
	})
}

func TestDrainLeavesHandlersBehindThatIgnoreIt(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		release := make(chan struct{})
		r.handle = func(context.Context, *dedupe.Operation, order) (string, error) {
			<-release
			return "too late", nil
		}
		r.queue.send(message("k", `{"amount":1}`))
		w := r.start()
		elapse(time.Second)
		if took := w.stop(); took > 25*time.Second+5*time.Second+10*time.Second {
			t.Errorf("the stop took %v, want it bounded", took)
		}
		if e := r.first("m-k"); e.Disposition != consumer.Left {
			t.Errorf("told %+v, want it left alone", e)
		}
		r.wantState("k", dedupe.StateInProgress)
		if n := r.queue.count("ack") + r.queue.count("nack"); n != 0 {
			t.Errorf("%d calls for a message whose handler may still run, want none", n)
		}
		close(release)
	})
}

// A store that hangs through the whole shutdown does not hold it up.
func TestDrainIsBoundedWhileTheStoreHangs(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.queue.send(message("a", `{"amount":1}`), message("b", `{"amount":1}`))
		r.handle = func(context.Context, *dedupe.Operation, order) (string, error) {
			r.store.mu.Lock()
			r.store.takes = time.Hour
			r.store.mu.Unlock()
			return "done", nil
		}
		w := r.start()
		elapse(30 * time.Second)
		if took := w.stop(); took > 25*time.Second+5*time.Second+10*time.Second {
			t.Errorf("the stop took %v, want it bounded", took)
		}
	})
}

// LIF-10: a poll answered after the stop: its messages go back at once.
func TestLIF10_LateAnswerIsHandedBack(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.queue.visibility = 10 * time.Minute
		r.queue.faults.late = func() []*consumer.Message {
			elapse(200 * time.Millisecond)
			for i := range 10 {
				r.queue.send(message(fmt.Sprint("k", i), `{"amount":1}`))
			}
			ms, _, _ := r.queue.take(10)
			return ms
		}
		w := r.start()
		elapse(time.Second)
		if took := w.stop(); took > time.Second {
			t.Errorf("the stop took %v", took)
		}
		if got := r.queue.count("nack"); got != 10 || len(r.order()) != 0 {
			t.Errorf("%d handed back and %d run, want all 10 back", got, len(r.order()))
		}
		if r.store.asked() != 0 {
			t.Errorf("%d calls to the store, want none", r.store.asked())
		}
		r.queue.faults.late = nil
		r.work(time.Second)
		r.wantEmpty()
	})
}

// Nothing starts after the stop, not even what waits for a slot that becomes free at the same moment.
func TestNothingStartsAfterTheStop(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.cfg.Workers = 20
		var stopped atomic.Bool
		r.handle = func(ctx context.Context, op *dedupe.Operation, _ order) (string, error) {
			if stopped.Load() {
				t.Errorf("%s was started after the stop", op.Key().ID)
			}
			return "done", wait(ctx, 10*time.Second)
		}
		for i := range 200 {
			r.queue.send(message(fmt.Sprint("k", i), `{"amount":1}`))
		}
		w := r.start()
		elapse(10*time.Second - time.Nanosecond)
		stopped.Store(true)
		w.stop()
		if n := len(r.order()); n != 20 {
			t.Errorf("%d handlers were started, want 20", n)
		}
	})
}

// A claim that is on its way at the stop is given back when it is answered.
func TestClaimUnderWayAtTheStopIsGivenBack(t *testing.T) {
	for _, mode := range []dedupe.Mode{dedupe.Rerun, dedupe.RerunUnlessBegun, dedupe.Reconcile} {
		t.Run(mode.String(), func(t *testing.T) {
			inBubble(t, func(t *testing.T, r *rig) {
				r.cfg.OnAbandoned = mode
				r.store.takes = 4 * time.Second
				r.queue.send(message("k", `{"amount":1}`))
				w := r.start()
				elapse(time.Second)
				w.stop()
				r.wantRuns("k", 0)
				rec := r.store.record(keyOf("k"))
				if rec.State != dedupe.StateReleased || rec.Attempt != 0 || rec.Doubtful {
					t.Errorf("record %+v, want it released, uncounted and not doubtful", rec)
				}
				if e := r.first("m-k"); e.Disposition != consumer.Nacked || e.Delay != 0 || e.Ran {
					t.Errorf("told %+v, want it handed back at once, not run", e)
				}
			})
		})
	}
}

func TestGroupIsHandedBackInOrderAtTheStop(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.handle = func(ctx context.Context, _ *dedupe.Operation, _ order) (string, error) {
			return "done", wait(ctx, 3*time.Second)
		}
		r.queue.send(grouped("g", "a", "b", "c")...)
		w := r.start()
		elapse(time.Second)
		w.stop()
		if got := r.order(); !slices.Equal(got, []string{"a"}) {
			t.Errorf("ran %q, want the head only", got)
		}
		if got := of(r.queue.journal.all(), "nack"); !slices.Equal(got, []string{"nack m-b", "nack m-c"}) {
			t.Errorf("handed back %q, want the rest in order", got)
		}
		r.work(time.Minute)
		r.wantEmpty()
	})
}

func TestRunReportsThatClosingFailedAndRunsOnce(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.queue.faults.closing = func() error { return errBroken }
		c := r.consumer()
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- c.Run(ctx) }()
		elapse(time.Second)
		cancel()
		if err := <-done; !errors.Is(err, errBroken) {
			t.Errorf("Run returned %v, want what closing failed with", err)
		}
		if err := c.Run(t.Context()); err == nil {
			t.Error("a second Run was accepted")
		}
	})
}
