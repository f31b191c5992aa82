package dynamo_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/claimonce/claimonce/awstest"
	"github.com/claimonce/claimonce/dedupe"
)

var errPlain = errors.New("provider unreachable")

// What each path costs is a promise of the documentation. Counted are HTTP requests, whatever made them.
func TestRequestsOfEachPath(t *testing.T) {
	t.Parallel()
	for name, path := range map[string]func(*testing.T, rig){
		"claim, completion, replay": func(t *testing.T, r rig) {
			l, key := newLedger(t, r.store, dedupe.Config{}), keyOf(t)
			var op *dedupe.Operation
			r.requests(t, "fresh claim", 1, func() { op = want(t, l, key, `{}`, dedupe.OutcomeClaimed).Operation })
			r.requests(t, "busy", 1, func() { want(t, l, key, `{}`, dedupe.OutcomeBusy) })
			r.requests(t, "mismatch", 1, func() { want(t, l, key, `[]`, dedupe.OutcomeMismatch) })
			r.requests(t, "completion", 1, func() { run(t, op, dedupe.Result{Body: []byte("ok")}, nil) })
			r.requests(t, "replay", 1, func() { want(t, l, key, `{}`, dedupe.OutcomeReplay) })
			r.requests(t, "mismatch", 1, func() { want(t, l, key, `[]`, dedupe.OutcomeMismatch) })
			pass(8 * 24 * time.Hour)
			r.requests(t, "expired key", 1, func() { want(t, l, key, `[]`, dedupe.OutcomeClaimed) })
		},
		"large result": func(t *testing.T, r rig) {
			l, key := newLedger(t, r.store, dedupe.Config{}), keyOf(t)
			op := want(t, l, key, `{}`, dedupe.OutcomeClaimed).Operation
			r.requests(t, "completion", 2, func() { run(t, op, dedupe.Result{Body: make([]byte, 3000)}, nil) })
			r.requests(t, "replay", 2, func() { want(t, l, key, `{}`, dedupe.OutcomeReplay) })
			pass(8 * 24 * time.Hour)
			r.requests(t, "expired key", 1, func() { want(t, l, key, `{}`, dedupe.OutcomeClaimed) })
		},
		"failure": func(t *testing.T, r rig) {
			l, key := newLedger(t, r.store, dedupe.Config{}), keyOf(t)
			op := want(t, l, key, `{}`, dedupe.OutcomeClaimed).Operation
			r.requests(t, "failing", 1, func() { run(t, op, dedupe.Result{}, dedupe.Permanent(errPlain)) })
			r.requests(t, "failed", 1, func() { want(t, l, key, `{}`, dedupe.OutcomeFailed) })
		},
		"release": func(t *testing.T, r rig) {
			l, key := newLedger(t, r.store, dedupe.Config{AttemptBound: 2}), keyOf(t)
			op := want(t, l, key, `{}`, dedupe.OutcomeClaimed).Operation
			r.requests(t, "release", 1, func() { run(t, op, dedupe.Result{}, errPlain) })
			r.requests(t, "mismatch", 1, func() { want(t, l, key, `[]`, dedupe.OutcomeMismatch) })
			r.requests(t, "released key", 2, func() { op = want(t, l, key, `{}`, dedupe.OutcomeClaimed).Operation })
			r.requests(t, "exhausted at a release", 1, func() {
				if set := run(t, op, dedupe.Result{}, errPlain); set.Outcome != dedupe.OutcomeExhausted {
					t.Errorf("settled as %v, want exhausted", set.Outcome)
				}
			})
		},
		"exhausted at a claim": func(t *testing.T, r rig) {
			l, key := newLedger(t, r.store, dedupe.Config{AttemptBound: 1}), keyOf(t)
			want(t, l, key, `{}`, dedupe.OutcomeClaimed)
			pass(2 * time.Minute)
			r.requests(t, "exhausted", 2, func() { want(t, l, key, `{}`, dedupe.OutcomeExhausted) })
		},
		"takeover": func(t *testing.T, r rig) {
			l, key := newLedger(t, r.store, dedupe.Config{}), keyOf(t)
			want(t, l, key, `{}`, dedupe.OutcomeClaimed)
			pass(2 * time.Minute)
			r.requests(t, "takeover", 2, func() { want(t, l, key, `{}`, dedupe.OutcomeClaimed) })
		},
		"unknown": func(t *testing.T, r rig) {
			l, key := newLedger(t, r.store, dedupe.Config{OnAbandoned: dedupe.RerunUnlessBegun}), keyOf(t)
			op := want(t, l, key, `{}`, dedupe.OutcomeClaimed).Operation
			r.requests(t, "mark", 1, func() { begun(t, op, "charge") })
			pass(2 * time.Minute)
			r.requests(t, "first sight of an abandoned record", 2, func() { want(t, l, key, `{}`, dedupe.OutcomePending) })
			r.requests(t, "pending", 1, func() { want(t, l, key, `{}`, dedupe.OutcomePending) })
			var c *dedupe.Case
			var err error
			r.requests(t, "taking a case", 2, func() { c, err = l.Take(t.Context(), key, dedupe.TakeOptions{}) })
			if err != nil {
				t.Fatal(err)
			}
			r.requests(t, "resolving it", 1, func() { _, err = c.Resolve(t.Context(), dedupe.StateCompleted, nil, "") })
			if err != nil {
				t.Fatal(err)
			}
		},
		"renewal": func(t *testing.T, r rig) {
			l, key := newLedger(t, r.store, dedupe.Config{}), keyOf(t)
			op := want(t, l, key, `{}`, dedupe.OutcomeClaimed).Operation
			r.requests(t, "two renewals and a completion", 3, func() {
				op.Run(t.Context(), func(context.Context, *dedupe.Operation) (dedupe.Result, error) {
					pass(50 * time.Second)
					return dedupe.Result{}, nil
				}, dedupe.RunOptions{})
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { path(t, newRig(t)) })
		})
	}
}

// A claim that is given up costs one request more if its own record is found, and two if it is not: the first finds what is there.
func TestRequestsOfAClaimGivenUp(t *testing.T) {
	t.Parallel()
	failing := func(f awstest.Fault) func(*testing.T, rig, int) {
		return func(t *testing.T, r rig, more int) {
			t.Helper()
			const tries = 3 * 3 // the ledger's and, in each, the SDK's
			l := newLedger(t, r.store, dedupe.Config{})
			other := dedupe.Key{Operation: "refund", ID: "other"}
			want(t, l, other, `{}`, dedupe.OutcomeClaimed)
			want(t, l, other, `{}`, dedupe.OutcomeBusy) // from here the store knows that this server brings items
			f.Times = tries
			r.server.Inject(f)
			r.requests(t, "given up", tries+more, func() {
				if _, err := l.Claim(t.Context(), request(t, l, keyOf(t), `{}`)); err == nil {
					t.Error("the claim succeeded, want an error")
				}
			})
			if got := r.load(t, keyOf(t)); got.State != dedupe.StateReleased || got.Attempt != 0 {
				t.Errorf("left is %v after %d attempts, want released after none", got.State, got.Attempt)
			}
			want(t, l, keyOf(t), `{}`, dedupe.OutcomeClaimed)
		}
	}
	for name, c := range map[string]struct {
		run  func(*testing.T, rig, int)
		more int
	}{
		"it had landed":     {failing(awstest.DropAnswer("PutItem")), 1},
		"it had not landed": {failing(awstest.FailBefore("PutItem", 500, "InternalServerError")), 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { c.run(t, newRig(t), c.more) })
		})
	}
}

// A settled record is read for the price of its own item: the large result is in another one.
func TestDuplicatesPayForASmallItem(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	l, key := newLedger(t, r.store, dedupe.Config{}), keyOf(t)
	op := want(t, l, key, `{}`, dedupe.OutcomeClaimed).Operation
	run(t, op, dedupe.Result{Body: []byte(strings.Repeat("x", 100<<10))}, nil)
	before := r.server.Usage(r.table)
	want(t, l, key, `[]`, dedupe.OutcomeMismatch)
	after := r.server.Usage(r.table)
	if got := after.Write - before.Write; got != 1 {
		t.Errorf("a duplicate was billed %v write units, want 1", got)
	}
}
