package dedupe_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/claimonce/claimonce/dedupe"
)

// shadow is a run without a claim of what body asks for.
func shadow(t *testing.T, l *dedupe.Ledger, body string, rec dedupe.Record) *dedupe.Operation {
	t.Helper()
	req, err := l.Request(key, []byte(body))
	if err != nil {
		t.Fatal(err)
	}
	return l.Shadow(dedupe.Shadow{Request: req, Record: rec, Attempt: 3})
}

func begun(t *testing.T, op *dedupe.Operation) string {
	t.Helper()
	var got string
	op.Run(t.Context(), func(ctx context.Context, op *dedupe.Operation) (dedupe.Result, error) {
		step, err := op.Begin(ctx, "charge")
		got = step.Key()
		return dedupe.Result{}, err
	}, dedupe.RunOptions{Beside: time.Second})
	return got
}

// A shadow writes nothing, and its steps have the keys that a claimed run's have.
func TestShadowWritesNothing(t *testing.T) {
	t.Parallel()
	bubble(t, byMode["marked"], func(t *testing.T, ln *line, l *dedupe.Ledger) {
		op := shadow(t, l, bodyA, dedupe.Record{})
		if op.Claimed() || op.Attempt() != 3 || op.Key() != key || op.Fence() < time.Now().UnixMilli() {
			t.Errorf("claimed %v, attempt %d, key %v, fence %d: want none, 3, its own, and one of now", op.Claimed(), op.Attempt(), op.Key(), op.Fence())
		}
		got := begun(t, op)
		if rec := ln.get(key); rec.State != dedupe.StateAbsent {
			t.Errorf("a shadow wrote %+v", rec)
		}
		a := claim(t, l, bodyA)
		if !a.Operation.Claimed() {
			t.Error("a claimed operation says that it is none")
		}
		if want := begun(t, a.Operation); got != want || got == "" {
			t.Errorf("downstream key %q, want the claimed run's, %q", got, want)
		}
		if s := op.Run(t.Context(), returning(dedupe.Permanent(errors.New("declined"))), dedupe.RunOptions{Beside: time.Second}); s.Event != "fail" || s.Record.Reason != "declined" || s.Err != nil {
			t.Errorf("settlement %+v, want what the handler says", s)
		}
		if rec := ln.get(key); rec.State != dedupe.StateCompleted {
			t.Errorf("record %s, want it as the claimed run left it", rec.State)
		}
	})
}

// Of a record that is there, the shadow takes what downstream keys and fences are made of.
func TestShadowFollowsTheRecord(t *testing.T) {
	t.Parallel()
	bubble(t, byMode["marked"], func(t *testing.T, ln *line, l *dedupe.Ledger) {
		a := claim(t, l, bodyA)
		want := begun(t, a.Operation)
		rec := ln.get(key)
		rec.Fence += time.Hour.Milliseconds()
		if op := shadow(t, l, bodyB, rec); op.Fence() != rec.Fence || begun(t, op) != want {
			t.Error("the shadow does not follow the record's fingerprint and fence")
		}
		rec.Generation = 1
		if got := begun(t, shadow(t, l, bodyA, rec)); got == want || got != rec.DownstreamKey("charge", 1) {
			t.Errorf("downstream key %q, want that of the record's generation", got)
		}
		stand := l.Shadow(dedupe.Shadow{Request: dedupe.Request{Key: dedupe.Key{Operation: key.Operation}}, Stand: "message 1"})
		other := l.Shadow(dedupe.Shadow{Request: dedupe.Request{Key: dedupe.Key{Operation: key.Operation}}, Stand: "message 2"})
		if stand.Key().ID != "" || stand.Attempt() != 1 || begun(t, stand) == begun(t, other) {
			t.Error("what stands in for the key shows in the operation's key, or not in its downstream keys")
		}
	})
}

// A store that hangs keeps a handler beside it from nothing: a renewal under way does not hold up its Undone for long.
func TestBesideNothingWaitsForARenewal(t *testing.T) {
	t.Parallel()
	bubble(t, byMode["marked"], func(t *testing.T, ln *line, l *dedupe.Ledger) {
		a := claim(t, l, bodyA)
		s := a.Operation.Run(t.Context(), func(ctx context.Context, op *dedupe.Operation) (dedupe.Result, error) {
			step, err := op.Begin(ctx, "charge")
			if err != nil {
				return dedupe.Result{}, err
			}
			ln.set(hangs)
			time.Sleep(20*time.Second + time.Millisecond) // the renewal has just begun
			started := time.Now()
			op.Undone(step)
			if took := time.Since(started); took > time.Second {
				t.Errorf("Undone took %v", took)
			}
			time.Sleep(10 * time.Minute)
			return dedupe.Result{}, ctx.Err()
		}, dedupe.RunOptions{Beside: time.Second})
		if s.HandlerErr != nil || s.Err == nil || s.Event != "complete" {
			t.Errorf("settlement %+v, want the handler's nil, and an outcome that could not be written", s)
		}
	})
}

// A mark that could not be written makes a plain error one of unknown outcome: the record says that nothing was begun.
func TestUnwrittenMarkIsNotTakenForNoEffect(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		err  error
		want dedupe.State
	}{
		"plain": {errors.New("reset"), dedupe.StateUnknown}, "none": {nil, dedupe.StateCompleted},
		"not committed": {dedupe.NotCommitted(errors.New("refused")), dedupe.StateReleased},
	} {
		bubble(t, byMode["marked"], func(t *testing.T, ln *line, l *dedupe.Ledger) {
			a := claim(t, l, bodyA)
			s := a.Operation.Run(t.Context(), func(ctx context.Context, op *dedupe.Operation) (dedupe.Result, error) {
				ln.set(hangs)
				defer ln.set(noFault)
				started := time.Now()
				for range 3 {
					if step, err := op.Begin(ctx, "charge"); err != nil || step.Key() == "" {
						t.Errorf("%s: Begin gave %q, %v", name, step.Key(), err)
					}
				}
				if took := time.Since(started); took > time.Second {
					t.Errorf("%s: three steps took %v, want one bound of a second", name, took)
				}
				return dedupe.Result{}, c.err
			}, dedupe.RunOptions{Beside: time.Second})
			if s.State != c.want || !errors.Is(s.HandlerErr, c.err) {
				t.Errorf("%s: settled as %s with %v, want %s", name, s.State, s.HandlerErr, c.want)
			}
		})
	}
}

// A shadow of a record that somebody holds touches neither its lease nor its marks, however it is run.
func TestShadowLeavesTheOwnerAlone(t *testing.T) {
	t.Parallel()
	bubble(t, byMode["marked"], func(t *testing.T, ln *line, l *dedupe.Ledger) {
		claim(t, l, bodyA)
		busy := claim(t, l, bodyA)
		before := ln.get(key)
		op := shadow(t, l, bodyA, busy.Record)
		if _, err := op.Begin(t.Context(), "before-run"); err != nil {
			t.Error(err)
		}
		op.Run(t.Context(), func(ctx context.Context, op *dedupe.Operation) (dedupe.Result, error) {
			_, err := op.Begin(ctx, "charge")
			time.Sleep(50 * time.Second)
			return dedupe.Result{}, err
		}, dedupe.RunOptions{})
		if after := ln.get(key); after.Revision != before.Revision {
			t.Errorf("the shadow wrote: marks %v, lease %v, was %v", after.Marks, after.LockedUntil, before.LockedUntil)
		}
	})
}

// Two steps were begun and the second one's mark is not written: what the handler says of the second proves nothing of the first.
func TestBesideKeepsTheDoubtOfAnEarlierStep(t *testing.T) {
	t.Parallel()
	for name, verdict := range map[string]func(error) error{"not committed": dedupe.NotCommitted, "permanent": dedupe.Permanent} {
		for _, undone := range []bool{false, true} {
			t.Run(fmt.Sprint(name, undone), func(t *testing.T) {
				t.Parallel()
				bubble(t, byMode["marked"], func(t *testing.T, ln *line, l *dedupe.Ledger) {
					a := claim(t, l, bodyA)
					s := a.Operation.Run(t.Context(), func(ctx context.Context, op *dedupe.Operation) (dedupe.Result, error) {
						one, _ := op.Begin(ctx, "one")
						if undone {
							op.Undone(one)
						}
						ln.set(hangs)
						_, _ = op.Begin(ctx, "two")
						ln.set(noFault)
						return dedupe.Result{}, verdict(errors.New("two was declined"))
					}, dedupe.RunOptions{Beside: time.Second})
					if unknown := s.State == dedupe.StateUnknown; unknown == undone {
						t.Errorf("got %v with open marks %v, step one undone: %v", s.State, s.Record.OpenMarks(), undone)
					}
				})
			})
		}
	}
}
