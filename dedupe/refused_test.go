package dedupe_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/claimonce/claimonce/dedupe"
)

// decisions are what reconcilers and people ask for, by name.
func decisions() map[string]func(context.Context, *dedupe.Ledger, dedupe.Record) error {
	m := map[string]func(context.Context, *dedupe.Ledger, dedupe.Record) error{
		"take": func(ctx context.Context, l *dedupe.Ledger, _ dedupe.Record) error {
			_, err := l.Take(ctx, key, dedupe.TakeOptions{})
			return err
		},
	}
	for _, to := range []dedupe.State{dedupe.StateCompleted, dedupe.StateFailed, dedupe.StateReleased, dedupe.StateUnknown} {
		m["resolve to "+to.String()] = func(ctx context.Context, l *dedupe.Ledger, seen dedupe.Record) error {
			return second(l.ResolveBy(ctx, seen, "ann", "looked", to, nil))
		}
	}
	for _, action := range []dedupe.Action{dedupe.ActionRelease, dedupe.ActionForget, dedupe.ActionDismiss, dedupe.Action(9)} {
		m["override: "+action.String()] = func(ctx context.Context, l *dedupe.Ledger, seen dedupe.Record) error {
			return second(l.Override(ctx, seen, dedupe.Override{Action: action, Operator: "ann", Reason: "looked", Resend: "ann"}))
		}
	}
	return m
}

// In whatever state a decision is refused, the error says which state and what to do.
func TestEveryRefusalSaysWhy(t *testing.T) {
	t.Parallel()
	says := map[string]bool{}
	for _, s := range startStates() {
		for name, decide := range decisions() {
			synctest.Test(t, func(t *testing.T) {
				reg := newRegister()
				l := newLedger(t, reg, byMode["reconcile"])
				seen := dedupe.Record{Key: key}
				if s.rec.State != dedupe.StateAbsent {
					seen = atNow(s.rec)
					reg.put(seen)
				}
				err := decide(t.Context(), l, seen)
				if !errors.Is(err, dedupe.ErrRefused) {
					return
				}
				_, why, ok := strings.Cut(err.Error(), dedupe.ErrRefused.Error())
				_, why, also := strings.Cut(why, ": ")
				if !ok || !also || len(why) < 10 {
					t.Errorf("%s, %s: the error %q does not say why", s.name, name, err)
				}
				says[why] = true
			})
		}
	}
	if len(says) < 8 {
		t.Errorf("only %d reasons are told apart: %q", len(says), slices.Sorted(maps.Keys(says)))
	}
}

func TestRefusalsSayWhatToDo(t *testing.T) {
	t.Parallel()
	running := func(r *dedupe.Record) { r.LockedUntil = in(10 * time.Second) }
	over := func(r *dedupe.Record) { r.LockedUntil = ago(time.Minute) }
	inProgress := func(changes ...change) dedupe.Record {
		return with(unknown(dedupe.RerunUnlessBegun), append([]change{func(r *dedupe.Record) {
			r.State, r.Marks, r.Troubled, r.AttentionAt, r.TakenBy, r.TakenUntil = dedupe.StateInProgress, nil, 0, time.Time{}, "", time.Time{}
		}}, changes...)...)
	}
	taken := with(unknown(dedupe.Reconcile), func(r *dedupe.Record) { r.TakenBy, r.TakenUntil = "another", in(time.Minute) })
	for name, c := range map[string]struct {
		rec    dedupe.Record
		decide string
		want   string
	}{
		"nothing is stored":         {dedupe.Record{Key: key}, "resolve to completed", "nothing is stored"},
		"another reconciler's":      {taken, "take", "another reconciler has it until 2000-01-01T00:01:05Z"},
		"alive":                     {inProgress(running), "take", "presumed alive until 2000-01-01T00:00:15Z"},
		"alive, by a person":        {inProgress(running), "override: release", "presumed alive until 2000-01-01T00:00:15Z"},
		"may run again":             {inProgress(over), "take", "the next delivery of its message"},
		"released":                  {released(), "take", "send its message again"},
		"released again":            {released(), "resolve to released", "released already"},
		"settled":                   {completed(), "take", "it is settled"},
		"settled, answered":         {completed(), "resolve to failed", "with Override"},
		"no answer":                 {unknown(dedupe.Reconcile), "resolve to unknown", "completed, failed or released, not unknown"},
		"forgotten before settled":  {unknown(dedupe.Reconcile), "override: forget", "settle it with ResolveBy"},
		"dismissed before released": {unknown(dedupe.Reconcile), "override: dismiss", "only a released record"},
		"no action":                 {released(), "override: invalid", "no such action"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				reg, seen := newRegister(), c.rec
				if seen.State != dedupe.StateAbsent {
					seen = atNow(seen)
					reg.put(seen)
				}
				err := decisions()[c.decide](t.Context(), newLedger(t, reg, byMode["reconcile"]), seen)
				if !errors.Is(err, dedupe.ErrRefused) || !strings.Contains(fmt.Sprint(err), c.want) {
					t.Errorf("got %v, want it to say %q", err, c.want)
				}
			})
		})
	}
}

// A clock that is known to be off takes nothing, and says so.
func TestTakeWithABadClockSaysSo(t *testing.T) {
	t.Parallel()
	bubble(t, byMode["reconcile"], func(t *testing.T, ln *line, l *dedupe.Ledger) {
		claim(t, l, bodyA)
		time.Sleep(time.Hour)
		ln.skew = time.Minute
		if _, err := l.Take(t.Context(), key, dedupe.TakeOptions{}); !errors.Is(err, dedupe.ErrRefused) || !strings.Contains(err.Error(), "clock is off") {
			t.Errorf("got %v, want that the clock is off", err)
		}
	})
}

// What a reconciler or a person found out is kept without its result where that does not fit.
func TestSettlementNeverFailsForSize(t *testing.T) {
	t.Parallel()
	for name, resolve := range map[string]func(*testing.T, *dedupe.Ledger, *dedupe.Result) (dedupe.Record, error){
		"reconciler": func(t *testing.T, l *dedupe.Ledger, res *dedupe.Result) (dedupe.Record, error) {
			t.Helper()
			c, err := l.Take(t.Context(), key, dedupe.TakeOptions{})
			if err != nil {
				t.Fatal(err)
			}
			return c.Resolve(t.Context(), dedupe.StateCompleted, res, "found")
		},
		"operator": func(t *testing.T, l *dedupe.Ledger, res *dedupe.Result) (dedupe.Record, error) {
			t.Helper()
			return l.ResolveBy(t.Context(), lookedAt(t.Context(), l, key), "ann", "found", dedupe.StateCompleted, res)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bubble(t, byMode["reconcile"], func(t *testing.T, ln *line, _ *dedupe.Ledger) {
				l := newLedger(t, small{ln}, byMode["reconcile"])
				inHandler(t, l, func(context.Context, *dedupe.Operation) error { return errors.New("boom") })
				rec, err := resolve(t, l, &dedupe.Result{Status: 201, Body: make([]byte, 1000)})
				if err != nil || rec.State != dedupe.StateCompleted || ln.get(key).State != dedupe.StateCompleted {
					t.Fatalf("got %v, %v, want completed", rec.State, err)
				}
				if res := ln.get(key).Result; res.Omitted != dedupe.OmittedTooLarge || res.Status != 201 || len(res.Body) > 0 {
					t.Errorf("stored %+v, want the status and that the body is omitted", res)
				}
			})
		})
	}
}

// small refuses records with a large body, as stores do that count otherwise than MaxResult.
type small struct{ *line }

func (b small) Swap(ctx context.Context, key dedupe.Key, expect dedupe.Expect, next dedupe.Record) (dedupe.Record, error) {
	if next.Result != nil && len(next.Result.Body) > 100 {
		return dedupe.Record{}, fmt.Errorf("small: %w", dedupe.ErrTooLarge)
	}
	return b.line.Swap(ctx, key, expect, next)
}
