package dynamo_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/claimonce/claimonce/awstest"
	"github.com/claimonce/claimonce/dedupe"
)

// fast is a store as a worker sees it whose clock is ahead: the bubble has one clock, so every time that the worker reads is
// earlier by as much, and every time that it writes later.
type fast struct {
	dedupe.Store

	ahead time.Duration
}

func (f fast) Load(ctx context.Context, key dedupe.Key) (dedupe.Record, error) {
	rec, err := f.Store.Load(ctx, key)
	return shifted(rec, -f.ahead), err
}

func (f fast) Swap(ctx context.Context, key dedupe.Key, expect dedupe.Expect, next dedupe.Record) (dedupe.Record, error) {
	if _, ok := expect.Revision(); !ok {
		expect = dedupe.AbsentAt(time.Unix(expect.ExpiredBy(), 0).Add(f.ahead))
	}
	current, err := f.Store.Swap(ctx, key, expect, shifted(next, f.ahead))
	return shifted(current, -f.ahead), err
}

// measuring is a fast store that can compare its clock with the server's, as the real one does.
type measuring struct{ fast }

func (m measuring) ClockSkew() (time.Duration, bool) { return m.ahead, true }

func shifted(rec dedupe.Record, d time.Duration) dedupe.Record {
	rec = rec.Clone()
	for _, t := range []*time.Time{
		&rec.LockedUntil, &rec.OwnerWroteAt, &rec.TakenUntil, &rec.AttentionAt, &rec.FirstAttemptAt, &rec.CreatedAt, &rec.ClaimedAt, &rec.ExpiresAt,
	} {
		if !t.IsZero() {
			*t = t.Add(d)
		}
	}
	return rec
}

// A tally counts what people are told.
type tally struct {
	mu   sync.Mutex
	seen []dedupe.Observation
}

func (c *tally) observe(_ context.Context, o dedupe.Observation) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.seen = append(c.seen, o)
}

func (c *tally) count(is func(dedupe.Observation) bool) (n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, o := range c.seen {
		if is(o) {
			n++
		}
	}
	return n
}

func acceptedCompletion(o dedupe.Observation) bool {
	return o.Event == "complete" && o.Outcome == dedupe.OutcomeApplied
}

func takeover(o dedupe.Observation) bool {
	return o.Event == "claim" && o.Outcome == dedupe.OutcomeClaimed && o.From == dedupe.StateInProgress
}

func effectByLostOwner(o dedupe.Observation) bool { return o.Note&dedupe.NoteEffectByLostOwner != 0 }

// The holder runs 30 s with a lease of 8 s renewed every 2 s; the contender, whose clock is 10 s ahead, tries every second.
func TestDDB07_AFastClockTakesNothingOverWithinTheMargin(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		margin   time.Duration
		measured bool // the contender's store knows how far its clock is ahead
		lost     bool // the contender takes over
	}{
		"skew within the margin":                       {12 * time.Second, false, false},
		"skew as large as the margin":                  {10 * time.Second, false, false},
		"skew beyond the margin, which nobody can see": {2 * time.Second, false, true},
		"skew beyond the margin, measured":             {2 * time.Second, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				r, told := newRig(t), &tally{}
				cfg := dedupe.Config{
					Lease: 8 * time.Second, RenewEvery: 2 * time.Second, OwnerMargin: time.Second, SkewMargin: c.margin, Observe: told.observe,
				}
				contender := dedupe.Store(fast{r.again(t), 10 * time.Second})
				if c.measured {
					contender = measuring{fast{r.again(t), 10 * time.Second}}
				}
				taken := contend(t, newLedger(t, r.store, cfg), newLedger(t, contender, cfg))
				if n := told.count(takeover); (n > 0) != c.lost || n > 1 || taken != c.lost {
					t.Errorf("%d takeovers, want one: %v", n, c.lost)
				}
				if n := told.count(acceptedCompletion); n != 1 {
					t.Errorf("%d completions were accepted, want 1", n)
				}
				if n := told.count(effectByLostOwner); (n == 1) != c.lost || n > 1 {
					t.Errorf("%d effects by a lost owner were told of, want one: %v", n, c.lost)
				}
			})
		})
	}
}

// contend runs the holder, which ignores that it is told to stop, and reports whether the contender took over.
func contend(t *testing.T, holder, contender *dedupe.Ledger) (taken bool) {
	t.Helper()
	key, settled := keyOf(t), make(chan dedupe.Settlement, 1)
	op := want(t, holder, key, `{}`, dedupe.OutcomeClaimed).Operation
	var cause error
	go func() {
		settled <- op.Run(t.Context(), func(ctx context.Context, _ *dedupe.Operation) (dedupe.Result, error) {
			pass(30 * time.Second)
			cause = context.Cause(ctx)
			return dedupe.Result{Body: []byte("holder")}, nil
		}, dedupe.RunOptions{})
	}()
	winner := "holder"
	for range 29 {
		pass(time.Second)
		if a := claim(t, contender, key, `{}`); a.Outcome == dedupe.OutcomeClaimed {
			taken, winner = true, "contender"
			run(t, a.Operation, dedupe.Result{Body: []byte("contender")}, nil)
		}
	}
	set := <-settled
	if taken != errors.Is(set.Err, dedupe.ErrLeaseLost) || taken != errors.Is(cause, dedupe.ErrLeaseLost) {
		t.Errorf("the holder settled as %v, %v and was told %v; it lost its lease: %v", set.Outcome, set.Err, cause, taken)
	}
	if got := string(want(t, holder, key, `{}`, dedupe.OutcomeReplay).Record.Result.Body); got != winner {
		t.Errorf("replayed %q, want the %s's result", got, winner)
	}
	return taken
}

// The holder is killed; each claim after that is the first thing that a new process does.
func TestDDB08_ANewProcessDecidesFromTheStoredTimes(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		mode    dedupe.Mode
		begun   bool
		outcome dedupe.Outcome
	}{
		"rerun":                             {dedupe.Rerun, false, dedupe.OutcomeClaimed},
		"rerun unless begun, nothing begun": {dedupe.RerunUnlessBegun, false, dedupe.OutcomeClaimed},
		"rerun unless begun, begun":         {dedupe.RerunUnlessBegun, true, dedupe.OutcomePending},
		"reconcile":                         {dedupe.Reconcile, false, dedupe.OutcomePending},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				const lease, margin = 30 * time.Second, 2 * time.Second
				r, key := newRig(t), keyOf(t)
				process := func() *dedupe.Ledger {
					return newLedger(t, r.again(t), dedupe.Config{OnAbandoned: c.mode, Lease: lease, SkewMargin: margin})
				}
				op := want(t, process(), key, `{}`, dedupe.OutcomeClaimed).Operation
				if c.begun {
					begun(t, op, "charge")
				}
				started := time.Now()
				// At 31 s the lease is over by the holder's clock, which may be slow by the margin: the claim says how long that is.
				pass(31 * time.Second)
				r.requests(t, "a claim within the margin", 1, func() {
					if a := want(t, process(), key, `{}`, dedupe.OutcomeBusy); a.RetryAfter != lease+margin-31*time.Second {
						t.Errorf("come back after %v, want the rest of lease and margin, 1s", a.RetryAfter)
					}
				})
				pass(time.Second + time.Millisecond)
				r.requests(t, "a claim after the margin", 2, func() { want(t, process(), key, `{}`, c.outcome) })
				if waited := time.Since(started); waited != lease+margin+time.Millisecond {
					t.Errorf("the claims waited %v in themselves, want not at all", waited-lease-margin-time.Millisecond)
				}
			})
		})
	}
}

// ofRenewals are the writes of an owner whose handler runs.
func ofRenewals(c awstest.Call) bool {
	return strings.Contains(string(c.Body), ":revision") && strings.Contains(string(c.Body), "in_progress")
}

func TestDDB10_RenewalsGoOnAfterErrors(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r, told, runs, second := newRig(t), &tally{}, 0, 0
		var throttled, hung bool
		throttle := awstest.Throttle("PutItem")
		throttle.Match = func(c awstest.Call) bool { // the second renewal, with all of the SDK's tries
			if !ofRenewals(c) {
				return false
			}
			second++
			throttled = throttled || second == 2
			return second >= 2 && second < 5
		}
		r.server.Inject(throttle)
		hang := awstest.Delay("PutItem", time.Hour, 0).Once() // the third
		hang.Match = func(c awstest.Call) bool {
			hung = hung || ofRenewals(c) && second == 5
			return ofRenewals(c) && second == 5
		}
		r.server.Inject(hang)
		cfg := dedupe.Config{Lease: 10 * time.Second, RenewEvery: 2 * time.Second, OwnerMargin: 2 * time.Second, Observe: told.observe}
		l, other, key := newLedger(t, r.store, cfg), newLedger(t, r.again(t), cfg), keyOf(t)
		op, settled := want(t, l, key, `{}`, dedupe.OutcomeClaimed).Operation, make(chan dedupe.Settlement, 1)
		go func() {
			settled <- op.Run(t.Context(), func(ctx context.Context, _ *dedupe.Operation) (dedupe.Result, error) {
				runs++
				pass(20 * time.Second)
				return dedupe.Result{}, context.Cause(ctx)
			}, dedupe.RunOptions{})
		}()
		for range 19 {
			pass(time.Second)
			if until := lockedUntil(t, r, key); !until.After(time.Now()) {
				t.Errorf("the lease lapsed at %v", until)
			}
			want(t, other, key, `{}`, dedupe.OutcomeBusy)
		}
		if set := <-settled; set.State != dedupe.StateCompleted || runs != 1 {
			t.Errorf("settled as %v (%v, %v) after %d runs, want completed after one", set.State, set.Err, set.HandlerErr, runs)
		}
		failed := told.count(func(o dedupe.Observation) bool { return o.Event == "renew" && o.Err != nil })
		fine := told.count(func(o dedupe.Observation) bool { return o.Event == "renew" && o.Err == nil })
		if !throttled || !hung || failed != 2 || fine < 6 {
			t.Errorf("%d renewals failed and %d did not, want the two with a fault and the rest; throttled %v, hung %v", failed, fine, throttled, hung)
		}
	})
}

// lockedUntil looks at the item without the store.
func lockedUntil(t *testing.T, r rig, key dedupe.Key) time.Time {
	t.Helper()
	var n struct{ N json.Number }
	raw, err := json.Marshal(wireValue(t, r.item(t, key.StoreID())["locked_until"]))
	if err := errors.Join(err, json.Unmarshal(raw, &n)); err != nil {
		t.Fatal(err)
	}
	ms, err := n.N.Int64()
	if err != nil {
		t.Fatal(err)
	}
	return time.UnixMilli(ms)
}
