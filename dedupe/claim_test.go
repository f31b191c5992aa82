package dedupe_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/claimonce/claimonce/dedupe"
	"github.com/claimonce/claimonce/dedupe/fingerprint"
)

const bodyA, bodyB = `{"amount":100}`, `{"amount":900}`

// claim asks for the key of this package's tests.
func claim(t testing.TB, l *dedupe.Ledger, body string) dedupe.Answer {
	t.Helper()
	return claimKey(t, l, key, body)
}

func claimKey(t testing.TB, l *dedupe.Ledger, k dedupe.Key, body string) dedupe.Answer {
	t.Helper()
	a, err := l.Claim(t.Context(), request(t, l, k, body))
	if err != nil {
		t.Fatalf("claim: %v", err)
	}
	return a
}

func request(t testing.TB, l *dedupe.Ledger, k dedupe.Key, body string) dedupe.Request {
	t.Helper()
	req, err := l.Request(k, []byte(body))
	if err != nil {
		t.Fatalf("request: %v", err)
	}
	return req
}

func wantOutcome(t testing.TB, a dedupe.Answer, want dedupe.Outcome) {
	t.Helper()
	if a.Outcome != want {
		t.Fatalf("claim: got %v, want %v; the record is %s", a.Outcome, want, a.Record.State)
	}
	if (a.Operation != nil) != (want == dedupe.OutcomeClaimed) {
		t.Fatalf("claim: outcome %v with operation %v", a.Outcome, a.Operation)
	}
}

// returning is a handler that returns at once.
func returning(err error) dedupe.Handler {
	return func(context.Context, *dedupe.Operation) (dedupe.Result, error) {
		return dedupe.Result{Status: 200, Body: []byte(`"done"`)}, err
	}
}

// finish claims and completes.
func finish(t testing.TB, l *dedupe.Ledger, k dedupe.Key, body string) {
	t.Helper()
	a := claimKey(t, l, k, body)
	wantOutcome(t, a, dedupe.OutcomeClaimed)
	if s := a.Operation.Run(t.Context(), returning(nil), dedupe.RunOptions{}); s.State != dedupe.StateCompleted {
		t.Fatalf("run: %+v", s)
	}
}

// The costs that the design promises: one conditional write wherever the key is new, expired, held or settled.
func TestCallsPerClaim(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		reg := newRegister()
		l := newLedger(t, reg, dedupe.Config{OnAbandoned: dedupe.RerunUnlessBegun, AttemptBound: 1})
		calls := func(what string, loads, swaps int) {
			t.Helper()
			if gotLoads, gotSwaps := reg.calls(); gotLoads != loads || gotSwaps != swaps {
				t.Errorf("%s: %d loads and %d writes, want %d and %d", what, gotLoads, gotSwaps, loads, swaps)
			}
		}
		a := claim(t, l, bodyA)
		calls("fresh claim", 0, 1)
		wantOutcome(t, claim(t, l, bodyA), dedupe.OutcomeBusy)
		calls("busy", 0, 1)
		wantOutcome(t, claim(t, l, bodyB), dedupe.OutcomeMismatch)
		calls("mismatch", 0, 1)
		_, _ = a.Operation.Begin(t.Context(), "charge")
		calls("mark", 0, 1)
		a.Operation.Run(t.Context(), returning(dedupe.NotCommitted(errors.New("no"))), dedupe.RunOptions{})
		calls("release that exhausts", 0, 1)
		a = claim(t, l, bodyA)
		calls("claim of a released record", 0, 2)
		a.Operation.Run(t.Context(), returning(nil), dedupe.RunOptions{})
		calls("completion", 0, 1)
		wantOutcome(t, claim(t, l, bodyA), dedupe.OutcomeReplay)
		calls("duplicate", 0, 1)
		time.Sleep(8 * 24 * time.Hour)
		claim(t, l, bodyA)
		calls("expired key", 0, 1)
		time.Sleep(66 * time.Second)
		wantOutcome(t, claim(t, l, bodyA), dedupe.OutcomeExhausted)
		calls("exhausted at a claim", 0, 2)
		claim(t, l, bodyA)
		calls("redrive", 0, 2)
	})
}

func TestDDB01_OwnWriteIsNoRival(t *testing.T) {
	t.Parallel()
	for name, faults := range map[string][]fault{
		"the ledger repeats":      {loseAnswer},
		"and once more":           {loseAnswer, loseAnswer},
		"the store's own client":  {repeatedSDK},
		"lost on its way, then":   {neverArrives, loseAnswer},
		"late, after the repeat":  {delayed},
		"both of them repeat":     {loseAnswer, repeatedSDK},
		"late, and the next lost": {delayed, loseAnswer},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ln := &line{register: newRegister()}
				l := newLedger(t, ln, dedupe.Config{OnAbandoned: dedupe.Rerun})
				ln.fail(faults...)
				a := claim(t, l, bodyA)
				wantOutcome(t, a, dedupe.OutcomeClaimed)
				ln.arrive()
				if rec := ln.get(key); a.Operation.Attempt() != 1 || rec.Attempt != 1 {
					t.Errorf("attempt %d, stored %d; want 1", a.Operation.Attempt(), rec.Attempt)
				}
				runs := 0
				s := a.Operation.Run(t.Context(), func(context.Context, *dedupe.Operation) (dedupe.Result, error) {
					runs++
					return dedupe.Result{}, nil
				}, dedupe.RunOptions{})
				if s.State != dedupe.StateCompleted || runs != 1 {
					t.Errorf("got %v after %d runs, want completed after 1", s.State, runs)
				}
			})
		})
	}
}

// A claim whose answer never came is given up: whatever becomes of the write, nobody waits for a handler that never started.
func TestClaimGivenUp(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		first  dedupe.Record // what is stored before
		faults []fault
		state  dedupe.State
	}{
		{"landed", dedupe.Record{}, []fault{loseAnswer, loseAnswer, loseAnswer}, dedupe.StateReleased},
		{"not landed", dedupe.Record{}, []fault{neverArrives, neverArrives, neverArrives}, dedupe.StateReleased},
		{"delayed", dedupe.Record{}, []fault{delayed, delayed, delayed}, dedupe.StateReleased},
		{"delayed, of a released record", released(), []fault{noFault, delayed, delayed, delayed}, dedupe.StateReleased},
		{"delayed takeover", abandoned(dedupe.Rerun), []fault{noFault, delayed, delayed, delayed}, dedupe.StateInProgress},
		{"landed takeover", abandoned(dedupe.Rerun), []fault{noFault, loseAnswer, loseAnswer, loseAnswer}, dedupe.StateReleased},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ln := &line{register: newRegister()}
				l := newLedger(t, ln, dedupe.Config{OnAbandoned: dedupe.Rerun})
				req := request(t, l, key, bodyA)
				if c.first.State != dedupe.StateAbsent {
					c.first.Fingerprint = req.Digest
					ln.put(atNow(c.first))
				}
				ln.fail(c.faults...)
				a, err := l.Claim(t.Context(), req)
				if !errors.Is(err, errStore) || a.Operation != nil {
					t.Fatalf("got %v, %v; want the store's error", a.Outcome, err)
				}
				ln.arrive()
				rec := ln.get(key)
				if rec.State != c.state {
					t.Errorf("the record is %v, want %v", rec.State, c.state)
				}
				if rec.State == dedupe.StateInProgress && rec.Owner != c.first.Owner {
					t.Error("a claim landed whose handler never started")
				}
				if a := claim(t, l, bodyA); a.Outcome != dedupe.OutcomeClaimed || a.Operation.Attempt() != c.first.Attempt+1 {
					t.Errorf("the next claim gets %v, attempt %d; want claimed, %d", a.Outcome, a.Record.Attempt, c.first.Attempt+1)
				}
			})
		})
	}
}

// atNow shifts a record of the table from noon to the present.
func atNow(r dedupe.Record) dedupe.Record {
	shift := time.Now().UTC().Truncate(time.Second).Sub(noon)
	for _, at := range []*time.Time{
		&r.LockedUntil, &r.OwnerWroteAt, &r.TakenUntil, &r.AttentionAt, &r.FirstAttemptAt, &r.CreatedAt, &r.ClaimedAt, &r.ExpiresAt,
	} {
		if !at.IsZero() {
			*at = at.Add(shift)
		}
	}
	return r
}

// The worker's context has ended, but the claim may have landed: the release goes out on a context of its own.
func TestClaimGivenUpSinceItsContextEnded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ln := &line{register: newRegister()}
		l := newLedger(t, ln, dedupe.Config{OnAbandoned: dedupe.Reconcile})
		ctx, cancel := context.WithCancel(t.Context())
		ln.fail(loseAnswer)
		ln.before = func(dedupe.Record) { cancel() }
		if _, err := l.Claim(ctx, request(t, l, key, bodyA)); err == nil {
			t.Fatal("a claim succeeded after its context had ended")
		}
		if rec := ln.get(key); rec.State != dedupe.StateReleased || rec.Attempt != 0 {
			t.Errorf("the record is %v with attempt %d; want released, 0", rec.State, rec.Attempt)
		}
	})
}

// The try is bounded: a store that hangs must not hold the worker.
func TestClaimGivenUpInBoundedTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ln := &line{register: newRegister()}
		ln.set(hangs)
		l := newLedger(t, ln, dedupe.Config{OnAbandoned: dedupe.Reconcile})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		started := time.Now()
		_, err := l.Claim(ctx, request(t, l, key, bodyA))
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v, want the context's error", err)
		}
		if took := time.Since(started); took > 5*time.Second {
			t.Errorf("gave up after %v", took)
		}
	})
}

func TestClaimRefusesBadRequests(t *testing.T) {
	t.Parallel()
	reg := newRegister()
	l := newLedger(t, reg, dedupe.Config{OnAbandoned: dedupe.Rerun})
	good := request(t, l, key, bodyA)
	missing, malformed, undigested := good, good, good
	missing.Key.ID = ""
	malformed.Key.ID = "a b"
	undigested.Digest = ""
	for _, c := range []struct {
		name string
		req  dedupe.Request
		want error
	}{{"missing key", missing, dedupe.ErrMissingKey}, {"malformed key", malformed, dedupe.ErrMalformedKey}, {"no digest", undigested, nil}} {
		a, err := l.Claim(t.Context(), c.req)
		if err == nil || a.Operation != nil || c.want != nil && !errors.Is(err, c.want) {
			t.Errorf("%s: got %v, %v; want %v", c.name, a.Outcome, err, c.want)
		}
	}
	if _, err := l.Request(key, []byte("no JSON")); !errors.Is(err, fingerprint.ErrMalformed) {
		t.Errorf("malformed body: got %v, want %v", err, fingerprint.ErrMalformed)
	}
	if loads, swaps := reg.calls(); loads+swaps > 0 {
		t.Errorf("%d calls to the store for requests that cannot be accepted", loads+swaps)
	}
}

func TestClaimLeavesNewerRecordsAlone(t *testing.T) {
	t.Parallel()
	newer := with(running(dedupe.Rerun), func(r *dedupe.Record) { r.Schema = dedupe.SchemaVersion + 1; r.LockedUntil = ago(time.Hour) })
	reg := newRegister()
	reg.put(newer)
	l := newLedger(t, reg, dedupe.Config{OnAbandoned: dedupe.Rerun})
	_, err := l.Claim(t.Context(), request(t, l, key, bodyA))
	_, terr := l.Take(t.Context(), key, dedupe.TakeOptions{})
	_, rerr := l.ResolveBy(t.Context(), lookedAt(t.Context(), l, key), "ann", "looked", dedupe.StateCompleted, nil)
	_, oerr := l.Override(t.Context(), lookedAt(t.Context(), l, key), dedupe.Override{Action: dedupe.ActionRelease, Operator: "ann", Reason: "looked", Resend: "ann"})
	for what, err := range map[string]error{"claim": err, "take": terr, "resolve": rerr, "override": oerr} {
		if !errors.Is(err, dedupe.ErrNewerSchema) {
			t.Errorf("%s: got %v, want %v", what, err, dedupe.ErrNewerSchema)
		}
	}
	if got := reg.get(key); got.Revision != newer.Revision {
		t.Error("a record of a newer version was overwritten")
	}
}

// A machine whose clock is known to be wrong takes nothing over, though it thinks that the lease is over, and writes times by the
// store's clock: neither its leases nor its windows end early for others.
func TestSkewAboveTheMarginStopsTakeovers(t *testing.T) {
	t.Parallel()
	for _, ahead := range []time.Duration{time.Minute, -time.Minute} {
		synctest.Test(t, func(t *testing.T) {
			reg := newRegister()
			good, skewed := newLedger(t, reg, dedupe.Config{OnAbandoned: dedupe.Rerun}), &line{register: reg, skew: ahead}
			bad := newLedger(t, skewed, dedupe.Config{OnAbandoned: dedupe.Rerun})
			claim(t, good, bodyA)
			time.Sleep(4 * time.Minute)
			a := claim(t, bad, bodyA)
			if a.Outcome != dedupe.OutcomeBusy || a.RetryAfter <= 0 {
				t.Errorf("clock ahead by %v: got %v after %v, want busy", ahead, a.Outcome, a.RetryAfter)
			}
			if _, err := bad.Take(t.Context(), key, dedupe.TakeOptions{}); !errors.Is(err, dedupe.ErrRefused) {
				t.Errorf("clock ahead by %v: take: got %v, want refused", ahead, err)
			}
			skewed.skew = 4 * time.Second // within the margin
			wantOutcome(t, claim(t, bad, bodyA), dedupe.OutcomeClaimed)

			other := key
			other.ID = "other"
			skewed.skew = ahead
			finish(t, bad, other, bodyA)
			rec := reg.get(other)
			serverNow := time.Now().Add(-ahead).UTC()
			if off := rec.ClaimedAt.Sub(serverNow).Abs(); off > time.Second {
				t.Errorf("clock ahead by %v: the record was written %v off the store's clock", ahead, off)
			}
		})
	}
}

// Load tells what counts now, not what happens to be stored.
func TestLoad(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ln := &line{register: newRegister()}
		l := newLedger(t, ln, dedupe.Config{OnAbandoned: dedupe.Rerun, Window: time.Hour})
		want := func(state dedupe.State) {
			t.Helper()
			rec, err := l.Load(t.Context(), key)
			if err != nil || rec.State != state || rec.Key != key {
				t.Errorf("got %v %v %v, want %v", rec.State, rec.Key, err, state)
			}
		}
		want(dedupe.StateAbsent)
		finish(t, l, key, bodyA)
		want(dedupe.StateCompleted)
		time.Sleep(time.Hour + 11*time.Second)
		want(dedupe.StateAbsent)
		ln.skew = time.Hour // by the store's clock, the window has not passed
		want(dedupe.StateCompleted)
		ln.set(neverArrives)
		if _, err := l.Load(t.Context(), key); !errors.Is(err, errStore) {
			t.Errorf("got %v, want the store's error", err)
		}
	})
}
