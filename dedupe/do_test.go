package dedupe_test

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/claimonce/claimonce/dedupe"
	"github.com/claimonce/claimonce/dedupe/fingerprint"
)

type refund struct {
	Amount int `json:"amount"`
}

type receipt struct {
	ID string `json:"id"`
}

func give(v receipt, err error) func(context.Context, *dedupe.Operation) (receipt, error) {
	return func(context.Context, *dedupe.Operation) (receipt, error) { return v, err }
}

func neverRun(t *testing.T) func(context.Context, *dedupe.Operation) (receipt, error) {
	return func(context.Context, *dedupe.Operation) (receipt, error) {
		t.Error("the handler was run again")
		return receipt{}, nil
	}
}

func TestDoRunsOnceAndReplays(t *testing.T) {
	t.Parallel()
	l := newLedger(t, newRegister(), byMode["rerun"])
	first, err := dedupe.DoReply(t.Context(), l, key, refund{100}, give(receipt{"r1"}, nil))
	if err != nil || first.Replayed || first.Value.ID != "r1" {
		t.Fatalf("got %+v, %v", first, err)
	}
	again, err := dedupe.DoReply(t.Context(), l, key, refund{100}, neverRun(t))
	if err != nil || !again.Replayed || again.Omitted || again.Value.ID != "r1" {
		t.Fatalf("got %+v, %v; want the stored receipt", again, err)
	}
	v, err := dedupe.Do(t.Context(), l, key, refund{100}, neverRun(t))
	if err != nil || v.ID != "r1" {
		t.Fatalf("got %+v, %v; want the stored receipt", v, err)
	}
}

// Each answer that is no value says what to do.
func TestDoErrors(t *testing.T) {
	t.Parallel()
	boom := errors.New("boom")
	synctest.Test(t, func(t *testing.T) {
		do := func(l *dedupe.Ledger, amount int, err error) error {
			_, err = dedupe.Do(t.Context(), l, key, refund{amount}, give(receipt{"r1"}, err))
			return err
		}
		want := func(what string, err error, targets ...error) {
			t.Helper()
			for _, target := range targets {
				if !errors.Is(err, target) {
					t.Errorf("%s: got %v, want %v", what, err, target)
				}
			}
			if _, ok := errors.AsType[*dedupe.Error](err); !ok {
				t.Errorf("%s: got %T, want an *Error", what, err)
			}
		}
		cfg := dedupe.Config{OnAbandoned: dedupe.Rerun, AttemptBound: 2}

		reg := newRegister()
		l := newLedger(t, reg, cfg)
		a, err := l.Claim(t.Context(), request(t, l, key, `{"amount":100}`))
		if err != nil {
			t.Fatal(err)
		}
		err = do(l, 100, nil)
		want("in progress", err, dedupe.ErrInProgress)
		if e, ok := errors.AsType[*dedupe.InProgressError](err); !ok || e.RetryAfter != 65*time.Second {
			t.Errorf("in progress: got %v, want what is left of the lease", err)
		}
		want("another request", do(l, 200, nil), dedupe.ErrKeyReuse)
		a.Operation.Run(t.Context(), returning(dedupe.Unknown(boom)), dedupe.RunOptions{})
		want("pending", do(l, 100, nil), dedupe.ErrOutcomePending)

		l = newLedger(t, newRegister(), cfg)
		want("error", do(l, 100, boom), boom)
		want("second error", do(l, 100, boom), boom, dedupe.ErrExhausted)
		want("permanent, doubtful", do(l, 100, dedupe.Permanent(boom)), boom, dedupe.ErrExhausted)

		l = newLedger(t, newRegister(), cfg)
		want("permanent", do(l, 100, dedupe.Permanent(boom)), boom, dedupe.ErrFailed)
		err = do(l, 100, nil)
		want("failed", err, dedupe.ErrFailed)
		if e, ok := errors.AsType[*dedupe.FailedError](err); !ok || e.Reason != "boom" {
			t.Errorf("failed: got %v, want the stored reason", err)
		}

		l = newLedger(t, newRegister(), cfg)
		want("unknown", do(l, 100, dedupe.Unknown(boom)), boom, dedupe.ErrOutcomePending)

		l = newLedger(t, newRegister(), dedupe.Config{OnAbandoned: dedupe.Rerun, AttemptBound: 1})
		claim(t, l, `{"amount":100}`)
		time.Sleep(66 * time.Second)
		want("exhausted", do(l, 100, nil), dedupe.ErrExhausted)

		missing, malformed := key, key
		missing.ID, malformed.ID = "", "a b"
		_, err = dedupe.Do(t.Context(), l, missing, refund{}, neverRun(t))
		want("no key", err, dedupe.ErrMissingKey)
		_, err = dedupe.Do(t.Context(), l, malformed, refund{}, neverRun(t))
		want("bad key", err, dedupe.ErrMalformedKey)
		_, err = dedupe.Do(t.Context(), l, key, make(chan int), neverRun(t))
		want("request that is no JSON", err)
		_, err = dedupe.Do(t.Context(), l, key, math.NaN(), neverRun(t))
		want("request that is no JSON", err)
		_, err = dedupe.Do(t.Context(), l, key, json.RawMessage(`{"a":1,"a":2}`), neverRun(t))
		want("ambiguous request", err, fingerprint.ErrMalformed)
	})
}

// The effect happened and nobody could write it down, or somebody else owns it by now: never reported as done or as not done.
func TestDoWithoutAnOutcome(t *testing.T) {
	t.Parallel()
	bubble(t, byMode["rerun"], func(t *testing.T, ln *line, l *dedupe.Ledger) {
		others := newLedger(t, ln.register, byMode["rerun"])
		takenOver := func(err error) error {
			ln.put(dedupe.Record{Key: key})
			_, err = dedupe.Do(t.Context(), l, key, refund{100}, func(ctx context.Context, _ *dedupe.Operation) (receipt, error) {
				ln.set(neverArrives)
				<-ctx.Done()
				time.Sleep(11 * time.Second)
				a := claim(t, others, bodyA)
				ln.set(noFault)
				wantOutcome(t, a, dedupe.OutcomeClaimed)
				return receipt{}, err
			})
			return err
		}
		if err := takenOver(nil); !errors.Is(err, dedupe.ErrOutcomePending) || !errors.Is(err, dedupe.ErrLeaseLost) {
			t.Errorf("effect after the takeover: got %v, want %v", err, dedupe.ErrOutcomePending)
		}
		boom := errors.New("boom")
		if err := takenOver(boom); !errors.Is(err, boom) || !errors.Is(err, dedupe.ErrLeaseLost) || errors.Is(err, dedupe.ErrOutcomePending) {
			t.Errorf("error after the takeover: got %v, want %v and %v", err, boom, dedupe.ErrLeaseLost)
		}
	})
}

// A value that cannot be encoded or stored is left out of the replay; it never makes the completion fail.
func TestDoOmitsWhatCannotBeStored(t *testing.T) {
	t.Parallel()
	l := newLedger(t, newRegister(), dedupe.Config{OnAbandoned: dedupe.Rerun, MaxResult: 20})
	check := func(first, again dedupe.Reply[any], err1, err2 error) {
		t.Helper()
		if err1 != nil || first.Omitted || first.Value == nil {
			t.Errorf("first run: got %+v, %v; want the value", first, err1)
		}
		if err2 != nil || !again.Replayed || !again.Omitted || again.Value != nil {
			t.Errorf("replay: got %+v, %v; want it omitted", again, err2)
		}
	}
	for i, v := range []any{strings.Repeat("x", 30), make(chan int)} {
		k := key
		k.ID += string(rune('a' + i))
		f := func(context.Context, *dedupe.Operation) (any, error) { return v, nil }
		first, err1 := dedupe.DoReply(t.Context(), l, k, refund{100}, f)
		again, err2 := dedupe.DoReply(t.Context(), l, k, refund{100}, f)
		check(first, again, err1, err2)
	}
}

// A result that somebody settled without a body, or whose second item is gone, is a replay without a value.
func TestDoReplaysWithoutABody(t *testing.T) {
	t.Parallel()
	for name, res := range map[string]*dedupe.Result{"none": nil, "status only": {Status: 200}, "unavailable": {Body: []byte(`{"id":"r1"}`), Unavailable: true}} {
		reg := newRegister()
		l := newLedger(t, reg, byMode["reconcile"])
		inHandler(t, l, func(context.Context, *dedupe.Operation) error { return errors.New("boom") })
		if _, err := l.ResolveBy(t.Context(), lookedAt(t.Context(), l, key), "ann", "looked", dedupe.StateCompleted, res); err != nil {
			t.Fatal(err)
		}
		reply, err := dedupe.DoReply(t.Context(), l, key, json.RawMessage(bodyA), neverRun(t))
		if err != nil || !reply.Replayed || !reply.Omitted {
			t.Errorf("%s: got %+v, %v; want a replay without a value", name, reply, err)
		}
	}
}

// A handler that returns a Result controls what is stored and replayed.
func TestDoWithAResult(t *testing.T) {
	t.Parallel()
	l := newLedger(t, newRegister(), byMode["rerun"])
	f := func(context.Context, *dedupe.Operation) (dedupe.Result, error) {
		return dedupe.Result{Status: 201, ContentType: "text/plain", Body: []byte("hi"), Headers: map[string]string{"Location": "/1"}}, nil
	}
	for range 2 {
		res, err := dedupe.Do(t.Context(), l, key, refund{100}, f)
		if err != nil || res.Status != 201 || string(res.Body) != "hi" || res.Headers["Location"] != "/1" || res.ContentType != "text/plain" {
			t.Errorf("got %+v, %v", res, err)
		}
	}
}
