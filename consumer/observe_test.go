package consumer_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/claimonce/claimonce/consumer"
	"github.com/claimonce/claimonce/dedupe"
)

// observing is a rig whose workers only watch.
func observing(t *testing.T, f func(t *testing.T, r *rig)) {
	t.Helper()
	inBubble(t, func(t *testing.T, r *rig) {
		r.cfg.ObserveOnly = "a trial"
		f(t, r)
	})
}

// settledRecord is a record of the request that message(id, `{"amount":1}`) makes, in a state.
func (r *rig) settledRecord(id string, state dedupe.State) dedupe.Record {
	now := time.Now().UTC()
	rec := r.abandoned(id, dedupe.Rerun, 1)
	rec.State, rec.LockedUntil, rec.ClaimedAt = state, now.Add(time.Minute), now
	if state == dedupe.StateCompleted || state == dedupe.StateFailed {
		rec.ExpiresAt = now.Add(24 * time.Hour).Truncate(time.Second)
	}
	if state == dedupe.StateUnknown {
		rec.Troubled, rec.AttentionAt = dedupe.TroubleUnknown, now
	}
	return rec
}

// Whatever the usual mode would refuse, withhold or answer itself runs, once for each delivery, and is acked.
func TestObserveOnlyRunsEverything(t *testing.T) {
	key := consumer.DefaultKeyAttribute
	stored := func(state dedupe.State) func(*rig) {
		return func(r *rig) { r.store.put(r.settledRecord("k", state)) }
	}
	for _, c := range []struct {
		name   string
		change func(*consumer.Message)
		set    func(*rig)
		would  consumer.Disposition
		reason string
	}{
		{"no key", attrs(), nil, consumer.DeadLettered, consumer.ReasonMissingKey},
		{"malformed key", attrs(attr(key, `"k"`)), nil, consumer.DeadLettered, consumer.ReasonMalformedKey},
		{"no tenant", nil, func(r *rig) { r.cfg.Tenant = consumer.TenantAttribute("Tenant") }, consumer.DeadLettered, consumer.ReasonMissingTenant},
		{"too old", sentAgo(8 * 24 * time.Hour), nil, consumer.DeadLettered, consumer.ReasonOlderThanWindow},
		{"no time", created("yesterday"), nil, consumer.DeadLettered, consumer.ReasonMalformedCreated},
		{"no digest", body(`{"amount":1,"amount":2}`), nil, consumer.DeadLettered, consumer.ReasonMalformedBody},
		{"not read by the source", func(m *consumer.Message) { m.Fault = errBroken }, nil, consumer.DeadLettered, consumer.ReasonMalformedBody},
		{"completed", nil, stored(dedupe.StateCompleted), consumer.Acked, consumer.WithheldReplay},
		{"failed", nil, stored(dedupe.StateFailed), consumer.DeadLettered, consumer.ReasonFailed},
		{"in progress", nil, stored(dedupe.StateInProgress), consumer.Nacked, consumer.WithheldBusy},
		{"unknown", nil, stored(dedupe.StateUnknown), consumer.Nacked, consumer.ReasonPending},
		{"unknown for days", nil, func(r *rig) {
			rec := r.settledRecord("k", dedupe.StateUnknown)
			rec.AttentionAt = time.Now().Add(-48 * time.Hour)
			r.store.put(rec)
		}, consumer.DeadLettered, consumer.ReasonPending},
		{"another request", body(`{"amount":2}`), stored(dedupe.StateCompleted), consumer.DeadLettered, consumer.ReasonKeyReuse},
		{"exhausted", nil, func(r *rig) { r.store.put(r.abandoned("k", dedupe.Rerun, 5)) }, consumer.DeadLettered, consumer.ReasonExhausted},
		{"newer schema", nil, func(r *rig) { r.store.fail(dedupe.ErrNewerSchema) }, consumer.Nacked, consumer.WithheldNewerSchema},
		{"store out", nil, func(r *rig) { r.store.fail(errBroken) }, 0, consumer.WithheldStore},
		{"store broken", nil, func(r *rig) { r.store.script(func(string, string, dedupe.Record) error { panic("a nil map") }, nil) }, 0, consumer.WithheldStore},
	} {
		t.Run(c.name, func(t *testing.T) {
			observing(t, func(t *testing.T, r *rig) {
				m := message("k", `{"amount":1}`)
				if c.change != nil {
					c.change(&m)
				}
				if c.set != nil {
					c.set(r)
				}
				var claimed atomic.Bool
				r.handle = func(ctx context.Context, op *dedupe.Operation, _ order) (string, error) {
					claimed.Store(op.Claimed())
					step, err := op.Begin(ctx, "charge")
					if err != nil || step.Key() == "" || op.Attempt() != 1 {
						t.Errorf("Begin gave %q and %v in attempt %d, want a key in the first attempt", step.Key(), err, op.Attempt())
					}
					return "done", nil
				}
				r.queue.send(m)
				w := r.start()
				elapse(10 * time.Second)
				w.stop()
				if n := len(r.order()); n != 1 {
					t.Fatalf("the handler ran %d times, want once; journal %q", n, r.queue.journal.all())
				}
				r.wantEmpty()
				if claimed.Load() {
					t.Error("the operation says that it is claimed")
				}
				e := r.first(m.ID)
				if e.Disposition != consumer.Acked || !e.Ran || e.Replayed || e.Reason != "" {
					t.Errorf("told %+v, want it run and acked", e)
				}
				if v := e.WouldHave; v.Disposition != c.would || v.Reason != c.reason || v.Runs {
					t.Errorf("would have: %+v, want %v for %q without a run", v, c.would, c.reason)
				}
				n := w.Counts()
				if n.WouldHave.Withheld[c.reason] != 1 || n.Ran != 1 || n.Acked != 1 || n.WouldHave.Ran != 0 {
					t.Errorf("counts %+v, want one that ran and would have been withheld", n)
				}
				if !strings.Contains(n.String(), "withheld: "+c.reason) {
					t.Errorf("the report does not say what would have been withheld:\n%s", n)
				}
			})
		})
	}
}

// What is claimed is settled by the handler's outcome, so that later copies are recognised.
func TestObserveOnlyRecordsOutcomes(t *testing.T) {
	observing(t, func(t *testing.T, r *rig) {
		r.queue.send(message("k", `{"amount":1}`))
		w := r.start()
		elapse(time.Second)
		r.wantState("k", dedupe.StateCompleted)
		if v := r.first("m-k").WouldHave; v.Disposition != consumer.Acked || !v.Runs || v.Reason != "" {
			t.Errorf("would have: %+v, want run and acked", v)
		}
		again := message("k", `{"amount":1}`)
		again.ID = "again"
		r.queue.send(again)
		elapse(time.Second)
		w.stop()
		r.wantRuns("k", 2)
		if e := r.first("again"); e.WouldHave.Reason != consumer.WithheldReplay || e.Outcome != dedupe.OutcomeReplay || e.Replayed {
			t.Errorf("told %+v, want a claim that was answered with a replay, and a run", e)
		}
		r.wantEmpty()
		if n := w.Counts(); n.Claimed != 1 || n.Replayed != 1 || n.ReplayRatio() != 0.5 {
			t.Errorf("counts %+v, want one claim and one replay", n)
		}
	})
}

// A plain error is a nack with a back-off by deliveries: no attempt bound of the record's moves the message away.
func TestObserveOnlyRetriesWithoutABound(t *testing.T) {
	for _, mode := range []dedupe.Mode{dedupe.Rerun, dedupe.RerunUnlessBegun, dedupe.Reconcile} {
		t.Run(mode.String(), func(t *testing.T) {
			observing(t, func(t *testing.T, r *rig) {
				r.cfg.OnAbandoned, r.cfg.Ledger.AttemptBound = mode, 2
				r.handle = func(ctx context.Context, op *dedupe.Operation, _ order) (string, error) {
					if _, err := op.Begin(ctx, "charge"); err != nil {
						t.Errorf("Begin failed: %v", err)
					}
					if r.ran("k") < 8 {
						return "", errPlain
					}
					return "done", nil
				}
				r.queue.send(message("k", `{"amount":1}`))
				r.work(time.Hour)
				r.wantRuns("k", 8)
				r.wantEmpty()
				r.wantState("k", dedupe.StateCompleted) // nobody has to settle what a later delivery mended
				if res := r.store.record(keyOf("k")).Result; res == nil || string(res.Body) != `"done"` {
					t.Errorf("stored result %+v, want that of the run that succeeded", res)
				}
				e := r.queue.entry("m-k")
				if len(e.receives) != 8 || len(e.delays) != 7 {
					t.Errorf("%d deliveries and %d nacks, want 8 and 7", len(e.receives), len(e.delays))
				}
				for i, d := range e.delays {
					if most := time.Second << i; d > most || d < time.Second/2 {
						t.Errorf("nack %d for %v, want at most %v", i, d, most)
					}
				}
				exhausted := slices.ContainsFunc(r.told("m-k"), func(e consumer.Event) bool { return e.WouldHave.Reason == consumer.ReasonExhausted })
				if exhausted != (mode == dedupe.Rerun) {
					t.Errorf("told of an exhausted one: %v", exhausted)
				}
			})
		})
	}
}

// What the handler itself says for good is a dead letter, with a claim and without one; its delay is kept.
func TestObserveOnlyObeysTheHandler(t *testing.T) {
	observing(t, func(t *testing.T, r *rig) {
		r.store.put(r.settledRecord("shadow", dedupe.StateCompleted))
		r.handle = func(_ context.Context, op *dedupe.Operation, _ order) (string, error) {
			if op.Key().ID == "later" && r.ran("later") == 1 {
				return "", dedupe.RetryAfter(errPlain, time.Minute)
			}
			return "", dedupe.Permanent(errors.New("card declined"))
		}
		r.queue.send(message("claimed", `{"amount":1}`), message("shadow", `{"amount":1}`), message("later", `{"amount":1}`))
		r.work(time.Hour)
		for _, id := range []string{"m-claimed", "m-shadow"} {
			if d := r.wantDead(id, consumer.ReasonFailed); d.Detail != "card declined" {
				t.Errorf("dead letter %+v, want the handler's words", d)
			}
		}
		r.wantDead("m-later", consumer.ReasonPermanent) // an earlier attempt may have had an effect
		if d := r.queue.entry("m-later").delays; !slices.Equal(d, []time.Duration{time.Minute}) {
			t.Errorf("nacked for %v, want what the handler asked for", d)
		}
	})
}

func TestObserveOnlyPanicsCount(t *testing.T) {
	observing(t, func(t *testing.T, r *rig) {
		r.store.fail(errBroken)
		r.handle = func(context.Context, *dedupe.Operation, order) (string, error) {
			if r.ran("k") == 1 {
				panic("a bug")
			}
			return "done", nil
		}
		r.queue.send(message("k", `{"amount":1}`))
		w := r.start()
		elapse(time.Minute)
		w.stop()
		r.wantRuns("k", 2)
		r.wantEmpty()
		if n := w.Counts(); n.Panicked != 1 || n.Nacked != 1 || n.Acked != 1 {
			t.Errorf("counts %+v, want a panic that was nacked, then an ack", n)
		}
	})
}

// A body that the decoder refuses is left to the broker's bound of deliveries.
func TestObserveOnlyHandsBackWhatCannotBeDecoded(t *testing.T) {
	observing(t, func(t *testing.T, r *rig) {
		r.queue.send(message("k", `{"amount":"much"}`))
		w := r.start()
		elapse(time.Minute)
		w.stop()
		r.wantNothingRan()
		if dead := r.queue.letters(); len(dead) != 0 || r.queue.left() != 1 {
			t.Errorf("dead letters %+v, want the message kept", dead)
		}
		if n := len(r.queue.entry("m-k").receives); n < 3 || n > 60 {
			t.Errorf("%d deliveries in a minute, want a back-off", n)
		}
		if v := r.first("m-k").WouldHave; v.Disposition != consumer.DeadLettered || v.Reason != consumer.ReasonMalformedBody {
			t.Errorf("would have: %+v", v)
		}
		if n := w.Counts(); n.Refused[consumer.ReasonMalformedBody] != n.Received || n.Received == 0 {
			t.Errorf("counts %+v, want each delivery refused for its body", n)
		}
	})
}

// A store that hangs costs some messages a second, then none, and is asked again later.
func TestObserveOnlyPassesAStoreThatHangs(t *testing.T) {
	observing(t, func(t *testing.T, r *rig) {
		r.cfg.Workers = 1
		log := &page{}
		r.cfg.Logger = slog.New(slog.NewTextHandler(log, nil))
		r.store.takes = time.Hour
		for i := range 20 {
			r.queue.send(message(fmt.Sprint("k", i), `{"amount":1}`))
		}
		w := r.start()
		elapse(6 * time.Second)
		if n := len(r.order()); n != 20 {
			t.Errorf("%d handlers ran in 6 s, want all 20: each that asks waits a second", n)
		}
		r.wantEmpty()
		if got := strings.Count(log.String(), "messages are run without a claim"); got != 1 {
			t.Errorf("the outage was logged %d times, want once:\n%s", got, log)
		}
		if n := w.Counts(); n.WouldHave.Waited != 20 {
			t.Errorf("%d would have waited, want 20", n.WouldHave.Waited)
		}
		r.store.mu.Lock()
		r.store.takes = 0
		r.store.mu.Unlock()
		elapse(5 * time.Second) // longer than the breaker's pause
		r.queue.send(message("after", `{"amount":1}`))
		elapse(time.Second)
		r.wantState("after", dedupe.StateCompleted)
		w.stop()
	})
}

// A lease that is lost while the handler runs neither ends its context nor its message.
func TestObserveOnlyOutlivesItsLease(t *testing.T) {
	observing(t, func(t *testing.T, r *rig) {
		r.handle = func(ctx context.Context, op *dedupe.Operation, _ order) (string, error) {
			if err := wait(ctx, 30*time.Second); err != nil {
				return "", err
			}
			if _, err := op.Begin(ctx, "charge"); err != nil {
				return "", err
			}
			return "done", wait(ctx, 10*time.Minute)
		}
		r.queue.send(message("stolen", `{"amount":1}`), message("dark", `{"amount":1}`))
		w := r.start()
		elapse(time.Second)
		rec := r.store.record(keyOf("stolen"))
		rec.Owner, rec.Revision = "another", "another"
		r.store.put(rec)
		r.store.script(func(_, id string, _ dedupe.Record) error {
			if id == "dark" {
				return errBroken
			}
			return nil
		}, nil)
		elapse(12 * time.Minute)
		w.stop()
		r.wantRuns("stolen", 1)
		r.wantRuns("dark", 1)
		r.wantEmpty()
		for _, id := range []string{"m-stolen", "m-dark"} {
			if e := r.first(id); e.Disposition != consumer.Acked || e.WouldHave.Disposition != consumer.Left || e.Err != nil {
				t.Errorf("told %+v, want it acked where the usual mode would have left it", e)
			}
		}
	})
}

// Copies run beside each other, as they do without claimonce, and the report says so.
func TestObserveOnlyLetsCopiesRunTogether(t *testing.T) {
	observing(t, func(t *testing.T, r *rig) {
		r.handle = func(ctx context.Context, _ *dedupe.Operation, _ order) (string, error) {
			return "done", wait(ctx, time.Minute)
		}
		again := message("k", `{"amount":1}`)
		again.ID = "again"
		r.queue.send(message("k", `{"amount":1}`), again)
		w := r.start()
		elapse(30 * time.Second)
		r.wantRuns("k", 2)
		elapse(time.Minute)
		w.stop()
		r.wantEmpty()
		if n := w.Counts(); n.Nacked != 0 || n.WouldHave.Withheld[consumer.WithheldBusy] != 1 || n.WouldHave.Ran != 1 {
			t.Errorf("counts %+v, want one that would have run and one that would have waited", n)
		}
	})
}

// A group keeps its order, and what waits behind a slow head is not handed back for it.
func TestObserveOnlyKeepsTheOrderOfAGroup(t *testing.T) {
	observing(t, func(t *testing.T, r *rig) {
		r.handle = func(ctx context.Context, _ *dedupe.Operation, _ order) (string, error) {
			return "done", wait(ctx, time.Minute)
		}
		r.queue.send(grouped("g", "a", "b", "c")...)
		r.work(4 * time.Minute)
		if got := r.order(); !slices.Equal(got, []string{"a", "b", "c"}) {
			t.Errorf("ran %q, want the order of the group, each once", got)
		}
		if n := r.queue.count("nack"); n != 0 {
			t.Errorf("%d nacks, want none", n)
		}
		r.wantEmpty()
	})
}

// Messages without a key are not one to a provider, though they ask for the same; deliveries of one of them are.
func TestObserveOnlyDownstreamKeysWithoutAKey(t *testing.T) {
	observing(t, func(t *testing.T, r *rig) {
		keys := map[string][]string{}
		r.handle = func(ctx context.Context, op *dedupe.Operation, _ order) (string, error) {
			step, err := op.Begin(ctx, "charge")
			if err != nil {
				return "", err
			}
			r.mu.Lock()
			defer r.mu.Unlock()
			id := consumer.FromContext(ctx).ID
			keys[id] = append(keys[id], step.Key())
			if len(keys[id]) == 1 {
				return "", errPlain
			}
			return "done", nil
		}
		for _, id := range []string{"a", "b"} {
			r.queue.send(consumer.Message{ID: id, Body: []byte(`{"amount":1}`)})
		}
		r.work(time.Minute)
		for id, got := range keys {
			if len(got) != 2 || got[0] != got[1] {
				t.Errorf("message %s has the downstream keys %q, want the same twice", id, got)
			}
		}
		if len(keys) != 2 || keys["a"][0] == keys["b"][0] {
			t.Errorf("downstream keys %q, want one for each message", keys)
		}
	})
}

// A duplicate has the downstream key of the first run, so that a provider that knows keys recognises it.
func TestObserveOnlyDuplicatesHaveOneDownstreamKey(t *testing.T) {
	observing(t, func(t *testing.T, r *rig) {
		var keys []string
		r.handle = func(ctx context.Context, op *dedupe.Operation, _ order) (string, error) {
			step, err := op.Begin(ctx, "charge")
			keys = append(keys, step.Key())
			return "done", err
		}
		w := r.start()
		for range 2 {
			r.queue.send(message("k", `{"amount":1}`))
			elapse(time.Second)
		}
		r.store.fail(errBroken)
		r.queue.send(message("k", `{"amount":1}`))
		elapse(10 * time.Second)
		w.stop()
		if len(keys) != 3 || keys[0] != keys[1] || keys[1] != keys[2] {
			t.Errorf("downstream keys %q, want one, three times", keys)
		}
	})
}

// Nothing of claimonce's own keeps a worker from starting.
func TestObserveOnlyStartsWhateverItsSetUp(t *testing.T) {
	observing(t, func(t *testing.T, r *rig) {
		log := &page{}
		r.cfg.Logger = slog.New(slog.NewTextHandler(log, nil))
		r.store.check = fmt.Errorf("%w: no table", dedupe.ErrSetup)
		r.src = redelivering{queue: r.queue, longest: 400 * 24 * time.Hour}
		r.queue.send(message("k", `{"amount":1}`))
		r.work(time.Second)
		r.wantRuns("k", 1)
		for _, want := range []string{"a trial", "no table", "the window of"} {
			if !strings.Contains(log.String(), want) {
				t.Errorf("the log does not say %q:\n%s", want, log)
			}
		}
	})
}

// At a stop, handlers have their time, then their contexts end, and their messages go back at once.
func TestObserveOnlyDrains(t *testing.T) {
	observing(t, func(t *testing.T, r *rig) {
		r.store.put(r.settledRecord("shadow", dedupe.StateCompleted))
		r.handle = func(ctx context.Context, _ *dedupe.Operation, _ order) (string, error) {
			<-ctx.Done()
			return "", context.Cause(ctx)
		}
		r.queue.send(message("k", `{"amount":1}`), message("shadow", `{"amount":1}`))
		w := r.start()
		elapse(time.Second)
		if took := w.stop(); took != 25*time.Second {
			t.Errorf("the stop took %v, want the drain", took)
		}
		for _, id := range []string{"m-k", "m-shadow"} {
			if e := r.first(id); e.Disposition != consumer.Nacked || e.Delay != 0 || !errors.Is(e.Err, dedupe.ErrDraining) {
				t.Errorf("told %+v, want it handed back at once", e)
			}
		}
		if rec := r.store.record(keyOf("k")); rec.State != dedupe.StateReleased || rec.Attempt != 0 {
			t.Errorf("record %s at attempt %d, want it released and the attempt given back", rec.State, rec.Attempt)
		}
	})
}

// The usual mode tells no verdicts.
func TestVerdictsAreForObserveOnly(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.queue.send(message("k", `{"amount":1}`), consumer.Message{ID: "m", Body: []byte(`{"amount":1}`)})
		w := r.start()
		elapse(time.Second)
		w.stop()
		for _, e := range append(r.told("m-k"), r.told("m")...) {
			if e.WouldHave != (consumer.Verdict{}) {
				t.Errorf("told %+v in the usual mode", e.WouldHave)
			}
		}
		n := w.Counts()
		if w := n.WouldHave; w.Ran+w.Acked+w.Nacked+w.Left+w.Waited != 0 || len(w.Withheld)+len(w.DeadLettered) != 0 {
			t.Errorf("would have %+v in the usual mode", w)
		}
		if strings.Contains(n.String(), "would have") {
			t.Errorf("the report tells what would have been:\n%s", n)
		}
	})
}
