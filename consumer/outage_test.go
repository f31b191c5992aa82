package consumer_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/claimonce/claimonce/consumer"
	"github.com/claimonce/claimonce/dedupe"
)

// Claims fail for ten minutes: nothing runs, nothing more is received, what is held stays hidden, and no receive count is burned.
func TestStoreOutageBurnsNothing(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.cfg.Workers = 2
		for i := range 40 {
			r.queue.send(inGroup(fmt.Sprint("g", i%3), message(fmt.Sprint("k", i), `{"amount":1}`)))
		}
		r.store.fail(errBroken)
		w := r.start()
		elapse(10 * time.Minute)
		if ids := r.order(); len(ids) != 0 {
			t.Errorf("ran %q while the store was out", ids)
		}
		if n := r.queue.count("receive"); n > 3 {
			t.Errorf("%d calls of Receive during the outage, want it to stop", n)
		}
		if n := r.queue.count("nack"); n != 0 {
			t.Errorf("%d messages handed back during the outage, want none", n)
		}
		if h := w.Health(); h.Ready() || !errors.Is(h.StoreErr, errBroken) || h.Running != 0 {
			t.Errorf("health %+v, want it not ready, with the cause", h)
		}
		if n := r.store.asked(); n > 400 {
			t.Errorf("%d calls to the store in ten minutes, want it probed with a back-off", n)
		}
		r.store.fail(nil)
		elapse(time.Minute)
		if h := w.Health(); !h.Ready() {
			t.Errorf("health %+v, want it ready again", h)
		}
		w.stop()
		r.wantEmpty()
		for _, e := range r.queue.entries {
			if len(e.receives) != 1 || r.ran(strings.TrimPrefix(e.m.ID, "m-")) != 1 {
				t.Errorf("message %s was received %d times and ran %d times, want once each", e.m.ID, len(e.receives), r.ran(strings.TrimPrefix(e.m.ID, "m-")))
			}
		}
	})
}

// The store reads but refuses writes: the same, although the probe succeeds.
func TestOutageOfWritesBurnsNothing(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		for i := range 20 {
			r.queue.send(message(fmt.Sprint("k", i), `{"amount":1}`))
		}
		r.store.script(func(call, _ string, _ dedupe.Record) error {
			if call != "load" {
				return errBroken
			}
			return nil
		}, nil)
		w := r.start()
		elapse(10 * time.Minute)
		if n := r.queue.count("nack"); n != 0 {
			t.Errorf("%d messages handed back, want none", n)
		}
		if n := r.store.asked(); n > 8000 {
			t.Errorf("%d calls to the store in ten minutes for 20 messages, want a back-off", n)
		}
		r.store.fail(nil)
		elapse(2 * time.Minute)
		w.stop()
		r.wantEmpty()
	})
}

func TestNothingIsReceivedDuringAnOutage(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.store.fail(errBroken)
		r.queue.send(message("a", `{"amount":1}`))
		w := r.start()
		elapse(time.Second)
		r.queue.send(message("b", `{"amount":1}`))
		elapse(time.Minute)
		if n := len(r.queue.entry("m-b").receives); n != 0 {
			t.Errorf("received %d times during the outage, want not at all, not even by the poll that was under way", n)
		}
		if h := w.Health(); h.Held != 1 || h.ReceiveErr != nil {
			t.Errorf("health %+v, want the one held of before, and no fault of the queue", h)
		}
		r.store.fail(nil)
		elapse(time.Minute)
		w.stop()
		r.wantEmpty()
	})
}

func TestOutageDuringCompletion(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.handle = func(context.Context, *dedupe.Operation, order) (string, error) {
			r.store.fail(errBroken)
			return "done", nil
		}
		r.queue.send(message("k", `{"amount":1}`))
		w := r.start()
		elapse(10 * time.Minute)
		r.wantRuns("k", 1)
		if n := r.queue.count("ack") + r.queue.count("nack"); n != 0 {
			t.Errorf("the message was disposed of %d times before its outcome was written", n)
		}
		r.store.fail(nil)
		elapse(time.Minute)
		w.stop()
		r.wantRuns("k", 1)
		r.wantState("k", dedupe.StateCompleted)
		r.wantEmpty()
		if n := len(r.queue.entry("m-k").receives); n != 1 {
			t.Errorf("received %d times, want once", n)
		}
	})
}

// An effect that has happened is written down even if the message is lost meanwhile.
func TestOutageDuringCompletionOutlivesTheLossOfTheMessage(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		var lost atomic.Bool
		r.queue.faults.extend = func(*consumer.Message) error {
			if lost.Load() {
				return consumer.ErrNotHeld
			}
			return nil
		}
		r.cfg.OnAbandoned = dedupe.Reconcile
		r.handle = func(context.Context, *dedupe.Operation, order) (string, error) {
			r.store.fail(errBroken)
			lost.Store(true)
			return "done", nil
		}
		r.queue.send(message("k", `{"amount":1}`))
		w := r.start()
		elapse(2 * time.Minute)
		r.store.fail(nil)
		elapse(10 * time.Minute)
		w.stop()
		r.wantRuns("k", 1)
		r.wantState("k", dedupe.StateCompleted)
		r.wantEmpty()
	})
}

// A claim that landed although its answer was lost is this worker's own, not a rival's.
func TestDDB01_LostAnswersOfClaims(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		lost := 0
		r.store.script(nil, func(call, _ string, _ dedupe.Record) error {
			if call == "swap in_progress" && lost < 2 {
				lost++
				return errBroken
			}
			return nil
		})
		r.queue.send(message("k", `{"amount":1}`))
		r.work(10 * time.Second)
		r.wantRuns("k", 1)
		r.wantEmpty()
		if e := r.first("m-k"); e.Outcome != dedupe.OutcomeClaimed || r.queue.count("nack") != 0 {
			t.Errorf("told %+v, want it claimed at once", e)
		}
	})
}

// DDB-19: three of ten claims are refused beyond the client's own attempts.
func TestDDB19_ThrottledClaims(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		n := 0
		r.store.script(func(string, string, dedupe.Record) error {
			n++
			if n%10 < 3 {
				return errBroken
			}
			return nil
		}, nil)
		for i := range 1000 {
			r.queue.send(message(fmt.Sprint("k", i), `{"amount":1}`))
		}
		r.work(time.Hour)
		r.wantEmpty()
		for i := range 1000 {
			r.wantRuns(fmt.Sprint("k", i), 1)
		}
		for _, e := range r.queue.entries {
			if len(e.receives) != 1 {
				t.Errorf("message %s was received %d times, want once", e.m.ID, len(e.receives))
			}
		}
	})
}

// A record that cannot be read is one message's trouble, not the worker's.
func TestUnreadableRecordStopsNothing(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.store.script(func(_, id string, _ dedupe.Record) error {
			if strings.HasPrefix(id, "bad") {
				return errBroken
			}
			return nil
		}, nil)
		for i := range 20 {
			r.queue.send(message(fmt.Sprint("bad", i), `{"amount":1}`))
		}
		r.queue.send(message("first", `{"amount":1}`))
		w := r.start()
		for i := range 100 {
			r.queue.send(message(fmt.Sprint("k", i), `{"amount":1}`))
			elapse(10 * time.Second)
		}
		w.stop()
		for i := range 100 {
			r.wantRuns(fmt.Sprint("k", i), 1)
		}
		for i := range 20 {
			if e := r.queue.entry(fmt.Sprint("m-bad", i)); e.gone || len(e.delays) == 0 || e.delays[0] < time.Minute {
				t.Errorf("message bad%d: gone %v, handed back for %v, want it kept and handed back", i, e.gone, e.delays)
			}
		}
	})
}

// One key is throttled for a minute while all others work: it waits, and is not handed back.
func TestBrownOutOfOneKeyBurnsNothing(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		var out atomic.Bool
		out.Store(true)
		r.store.script(func(_, id string, _ dedupe.Record) error {
			if out.Load() && id == "hot" {
				return errBroken
			}
			return nil
		}, nil)
		r.queue.send(message("hot", `{"amount":1}`))
		w := r.start()
		for i := range 60 {
			r.queue.send(message(fmt.Sprint("k", i), `{"amount":1}`))
			elapse(time.Second)
			r.wantRuns(fmt.Sprint("k", i), 1)
		}
		out.Store(false)
		elapse(time.Minute)
		w.stop()
		r.wantRuns("hot", 1)
		if n := len(r.queue.entry("m-hot").receives); n != 1 {
			t.Errorf("received %d times, want once", n)
		}
	})
}

func TestOutageEndsWithNacksAtShutdownOnly(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.store.fail(errBroken)
		r.queue.send(message("a", `{"amount":1}`), message("b", `{"amount":1}`))
		w := r.start()
		elapse(5 * time.Minute)
		if n := r.queue.count("nack"); n != 0 {
			t.Errorf("%d handed back during the outage", n)
		}
		if took := w.stop(); took > 10*time.Second {
			t.Errorf("the stop took %v", took)
		}
		for _, id := range []string{"m-a", "m-b"} {
			if e := r.first(id); e.Disposition != consumer.Nacked || e.Delay != 0 {
				t.Errorf("told %+v, want it handed back at once", e)
			}
		}
	})
}

// After a long outage a short one is over as soon as it is.
func TestProbeStartsAnewAfterAnOutage(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.store.fail(errBroken)
		r.queue.send(message("a", `{"amount":1}`))
		w := r.start()
		elapse(10 * time.Minute)
		r.store.fail(nil)
		elapse(time.Minute)
		r.wantRuns("a", 1)
		r.store.fail(errBroken)
		r.queue.send(message("b", `{"amount":1}`))
		elapse(time.Second)
		r.store.fail(nil)
		elapse(2 * time.Second)
		w.stop()
		r.wantRuns("b", 1)
	})
}

func TestOPS04_OneErrorOnClaim(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		failed := 0
		r.store.script(func(string, string, dedupe.Record) error {
			if failed < 4 { // more than the ledger repeats by itself
				failed++
				return errBroken
			}
			return nil
		}, nil)
		r.queue.send(message("k", `{"amount":1}`))
		r.work(10 * time.Second)
		r.wantRuns("k", 1)
		r.wantEmpty()
	})
}
