package dedupe_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/claimonce/claimonce/dedupe"
)

func TestTakeRefusesWhatIsNotToBeReconciled(t *testing.T) {
	t.Parallel()
	for _, s := range startStates() {
		reg := newRegister()
		l := newLedger(t, reg, byMode["reconcile"])
		if s.rec.State != dedupe.StateAbsent {
			reg.put(atNow(s.rec))
		}
		c, err := l.Take(t.Context(), key, dedupe.TakeOptions{For: time.Minute})
		switch taken := reg.get(key).TakenBy != s.rec.TakenBy; {
		case taken && (err != nil || c == nil || c.Record.State != dedupe.StateUnknown):
			t.Errorf("%s: taken, but got %v, %v", s.name, c, err)
		case !taken && (!errors.Is(err, dedupe.ErrRefused) || c != nil):
			t.Errorf("%s: not taken, but got %v, %v", s.name, c, err)
		}
	}
}

// The answer is bound to the write that took the record: any change in between makes it void.
func TestResolveNeedsTheRecordAsItWasTaken(t *testing.T) {
	t.Parallel()
	bubble(t, byMode["reconcile"], func(t *testing.T, ln *line, l *dedupe.Ledger) {
		inHandler(t, l, func(context.Context, *dedupe.Operation) error { return errors.New("boom") })
		c, err := l.Take(t.Context(), key, dedupe.TakeOptions{})
		if err != nil || c.Record.TakenUntil.Sub(c.Record.OwnerWroteAt) != time.Minute {
			t.Fatalf("got %+v, %v; want it taken for the lease", c, err)
		}
		changed := ln.get(key)
		changed.Revision = "another"
		ln.put(changed)
		if _, err := c.Resolve(t.Context(), dedupe.StateReleased, nil, "asked"); !errors.Is(err, dedupe.ErrConflict) {
			t.Errorf("got %v, want %v", err, dedupe.ErrConflict)
		}
		if rec := ln.get(key); rec.State != dedupe.StateUnknown {
			t.Errorf("the record is %v, want unknown", rec.State)
		}
	})
}

// The provider is asked only when a request that the owner sent in its lease, or just before its last word, has ended.
func TestAskFrom(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		locked, wrote, want time.Duration
	}{
		"doubted in its lease": {50 * time.Second, 10 * time.Second, 80 * time.Second},
		"doubted late":         {50 * time.Second, 70 * time.Second, 100 * time.Second},
	} {
		taken := dedupe.Case{Record: with(unknown(dedupe.Reconcile), func(r *dedupe.Record) { r.LockedUntil, r.OwnerWroteAt = in(c.locked), in(c.wrote) })}
		if got := taken.AskFrom(30 * time.Second); !got.Equal(in(c.want)) {
			t.Errorf("%s: got %v, want %v", name, got.Sub(noon), c.want)
		}
	}
}

// Answers lost on their way are recognised.
func TestReconcileWithLostAnswers(t *testing.T) {
	t.Parallel()
	bubble(t, byMode["reconcile"], func(t *testing.T, ln *line, l *dedupe.Ledger) {
		inHandler(t, l, func(context.Context, *dedupe.Operation) error { return errors.New("boom") })
		ln.fail(loseAnswer)
		c, err := l.Take(t.Context(), key, dedupe.TakeOptions{Voids: true})
		if err != nil || c.Record.Generation != 1 {
			t.Fatalf("take: got %+v, %v; want generation 1", c, err)
		}
		ln.fail(loseAnswer)
		rec, err := c.Resolve(t.Context(), dedupe.StateFailed, nil, "voided")
		if err != nil || rec.State != dedupe.StateFailed {
			t.Fatalf("resolve: got %v, %v; want failed", rec.State, err)
		}
	})
}

func TestOperatorsSayWhoAndWhy(t *testing.T) {
	t.Parallel()
	var seen []dedupe.Observation
	cfg := byMode["reconcile"]
	cfg.Observe = func(_ context.Context, o dedupe.Observation) { seen = append(seen, o) }
	reg := newRegister()
	reg.put(atNow(unknown(dedupe.Reconcile)))
	l := newLedger(t, reg, cfg)
	ctx := t.Context()
	for name, err := range map[string]error{
		"resolve without who":     second(l.ResolveBy(ctx, lookedAt(ctx, l, key), "", "looked", dedupe.StateReleased, nil)),
		"resolve without why":     second(l.ResolveBy(ctx, lookedAt(ctx, l, key), "ann", "", dedupe.StateReleased, nil)),
		"override without who":    second(l.Override(ctx, lookedAt(ctx, l, key), dedupe.Override{Action: dedupe.ActionRelease, Reason: "looked", Resend: "ann"})),
		"override without why":    second(l.Override(ctx, lookedAt(ctx, l, key), dedupe.Override{Action: dedupe.ActionRelease, Operator: "ann", Resend: "ann"})),
		"override without resend": second(l.Override(ctx, lookedAt(ctx, l, key), dedupe.Override{Action: dedupe.ActionRelease, Operator: "ann", Reason: "looked"})),
	} {
		if err == nil || errors.Is(err, dedupe.ErrRefused) {
			t.Errorf("%s: got %v, want an error that asks for it", name, err)
		}
	}
	if _, swaps := reg.calls(); swaps+len(seen) > 0 {
		t.Errorf("%d writes and %d observations of incomplete decisions", swaps, len(seen))
	}
	if _, err := l.ResolveBy(ctx, lookedAt(ctx, l, key), "ann", "phoned", dedupe.StateReleased, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Override(ctx, lookedAt(ctx, l, key), dedupe.Override{Action: dedupe.ActionDismiss, Operator: "bob", Reason: "purged"}); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Override(ctx, lookedAt(ctx, l, key), dedupe.Override{Action: dedupe.ActionForget, Operator: "eve", Reason: "wrong", Resend: "eve"}); err != nil {
		t.Fatal(err)
	}
	if len(seen) != 3 || seen[0].Operator != "ann" || seen[0].Reason != "phoned" || seen[1].Operator != "bob" || seen[2].Resend != "eve" {
		t.Errorf("observed %+v; want who, why, and who sends again", seen)
	}
	err := second(l.ResolveBy(ctx, lookedAt(ctx, l, key), "ann", "again", dedupe.StateReleased, nil))
	if !errors.Is(err, dedupe.ErrRefused) || seen[3].Outcome != dedupe.OutcomeRefused || seen[3].Err != nil {
		t.Errorf("a refusal is an outcome, not a failure of the store: %+v", seen[3])
	}
}

// lookedAt is the record as a person looks at it before deciding.
func lookedAt(ctx context.Context, l *dedupe.Ledger, key dedupe.Key) dedupe.Record {
	rec, _ := l.Load(ctx, key)
	rec.Key = key
	return rec
}

func second(_ dedupe.Record, err error) error { return err }

// A failed write is observed as nothing decided: counted as done it would be counted twice, or never have happened.
func TestObservationOfAFailedWrite(t *testing.T) {
	t.Parallel()
	bubble(t, byMode["rerun"], func(t *testing.T, ln *line, _ *dedupe.Ledger) {
		var seen []dedupe.Observation
		cfg := byMode["rerun"]
		cfg.Observe = func(_ context.Context, o dedupe.Observation) { seen = append(seen, o) }
		l := newLedger(t, ln, cfg)
		ln.set(neverArrives)
		_, err := l.Claim(t.Context(), request(t, l, key, bodyA))
		if !errors.Is(err, errStore) {
			t.Fatalf("got %v, want the store's error", err)
		}
		if len(seen) != 2 { // the claim, and its release
			t.Fatalf("%d observations, want 2", len(seen))
		}
		for _, o := range seen {
			if o.Outcome != 0 || o.From != o.To || o.Err == nil || o.Note != 0 || o.Key != key {
				t.Errorf("got %+v; want the error alone", o)
			}
		}
	})
}

// A callback that panics must not end a worker.
func TestObserveThatPanics(t *testing.T) {
	t.Parallel()
	cfg := byMode["rerun"]
	cfg.Observe = func(context.Context, dedupe.Observation) { panic("no") }
	bubble(t, cfg, func(t *testing.T, ln *line, l *dedupe.Ledger) {
		s := claim(t, l, bodyA).Operation.Run(t.Context(), lasting(time.Minute), dedupe.RunOptions{})
		if s.State != dedupe.StateCompleted || ln.get(key).State != dedupe.StateCompleted {
			t.Errorf("got %v, want completed", s.State)
		}
	})
}
