package dedupe_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/claimonce/claimonce/dedupe"
)

// finishing runs a handler that returns a result, beside what happens to the store meanwhile.
func finishing(ctx context.Context, op *dedupe.Operation, res dedupe.Result, err error) <-chan dedupe.Settlement {
	done := make(chan dedupe.Settlement, 1)
	go func() {
		done <- op.Run(ctx, func(context.Context, *dedupe.Operation) (dedupe.Result, error) { return res, err }, dedupe.RunOptions{})
	}()
	return done
}

// The effect happened; an outage far longer than the lease must not lose its completion.
func TestCompletionOutlivesALongOutage(t *testing.T) {
	t.Parallel()
	for name, f := range map[string]fault{"refused": neverArrives, "answers lost": loseAnswer} {
		t.Run(name, func(t *testing.T) {
			bubble(t, byMode["rerun"], func(t *testing.T, ln *line, l *dedupe.Ledger) {
				op := claim(t, l, bodyA).Operation
				ln.set(f)
				done := finishing(t.Context(), op, dedupe.Result{Status: 201}, nil)
				time.Sleep(10 * time.Minute)
				ln.set(noFault)
				s := <-done
				if s.Err != nil || s.State != dedupe.StateCompleted {
					t.Fatalf("got %v, %v; want completed", s.State, s.Err)
				}
				if rec := ln.get(key); rec.State != dedupe.StateCompleted || rec.Result.Status != 201 {
					t.Errorf("the record is %v, %v", rec.State, rec.Result)
				}
			})
		})
	}
}

// An outage between the worker and the store that others do not have: the lease is renewed beside the tries as soon as a call gets
// through, so that a completion which cannot land does not lose the operation.
func TestLeaseIsRenewedWhileTheCompletionCannotLand(t *testing.T) {
	t.Parallel()
	bubble(t, byMode["rerun"], func(t *testing.T, ln *line, others *dedupe.Ledger) {
		var mended atomic.Bool
		l := newLedger(t, refusing{ln.register, dedupe.StateCompleted, &mended}, byMode["rerun"])
		done := finishing(t.Context(), claim(t, l, bodyA).Operation, dedupe.Result{}, nil)
		for range 10 {
			time.Sleep(30 * time.Second)
			wantOutcome(t, claim(t, others, bodyA), dedupe.OutcomeBusy)
		}
		mended.Store(true)
		if s := <-done; s.State != dedupe.StateCompleted {
			t.Errorf("got %v, %v; want completed", s.State, s.Err)
		}
	})
}

// refusing fails every write to one state until it is mended.
type refusing struct {
	*register

	state  dedupe.State
	mended *atomic.Bool
}

func (r refusing) Swap(ctx context.Context, key dedupe.Key, expect dedupe.Expect, next dedupe.Record) (dedupe.Record, error) {
	if next.State == r.state && !r.mended.Load() {
		return dedupe.Record{}, errStore
	}
	return r.register.Swap(ctx, key, expect, next)
}

// The worker is told to end: the outcome is still tried for a while, then the run returns, and nothing is released.
func TestSettlingEndsAWhileAfterTheContext(t *testing.T) {
	t.Parallel()
	bubble(t, byMode["rerun"], func(t *testing.T, ln *line, l *dedupe.Ledger) {
		op := claim(t, l, bodyA).Operation
		ctx, cancel := context.WithCancel(t.Context())
		ln.set(neverArrives)
		done := finishing(ctx, op, dedupe.Result{}, nil)
		time.Sleep(time.Minute)
		started := time.Now()
		cancel()
		s := <-done
		if took := time.Since(started); took < 25*time.Second || took > 31*time.Second {
			t.Errorf("gave up after %v, want 25 s", took)
		}
		if s.Err == nil || s.State != dedupe.StateInProgress || s.Outcome != dedupe.OutcomeLost || s.HandlerErr != nil {
			t.Errorf("got %+v, want no outcome", s)
		}
		if rec := ln.get(key); rec.State != dedupe.StateInProgress {
			t.Errorf("a completion that could not be written was followed by %v", rec.State)
		}
	})
}

func TestCompletionIsRefusedAfterATakeover(t *testing.T) {
	t.Parallel()
	bubble(t, byMode["rerun"], func(t *testing.T, ln *line, l *dedupe.Ledger) {
		op := claim(t, l, bodyA).Operation
		ln.set(neverArrives)
		done := finishing(t.Context(), op, dedupe.Result{Status: 1}, nil)
		time.Sleep(66 * time.Second)
		second := claim(t, newLedger(t, ln.register, byMode["rerun"]), bodyA)
		wantOutcome(t, second, dedupe.OutcomeClaimed)
		ln.set(noFault)
		s := <-done
		if s.Outcome != dedupe.OutcomeLost || !errors.Is(s.Err, dedupe.ErrLeaseLost) {
			t.Errorf("got %v, %v; want lost", s.Outcome, s.Err)
		}
		if rec := ln.get(key); rec.State != dedupe.StateInProgress || rec.Attempt != 2 {
			t.Errorf("the successor was disturbed: %v, attempt %d", rec.State, rec.Attempt)
		}
	})
}

// Every outcome whose answers are lost is recognised when it is tried again, however many rounds that takes.
func TestOutcomeWhoseAnswersAreLostIsRecognised(t *testing.T) {
	t.Parallel()
	boom := errors.New("boom")
	for name, c := range map[string]struct {
		mode string
		err  error
		want dedupe.State
		out  dedupe.Outcome
	}{
		"completion":          {"rerun", nil, dedupe.StateCompleted, dedupe.OutcomeApplied},
		"failure":             {"rerun", dedupe.Permanent(boom), dedupe.StateFailed, dedupe.OutcomeApplied},
		"release":             {"marked", boom, dedupe.StateReleased, dedupe.OutcomeApplied},
		"doubt":               {"reconcile", boom, dedupe.StateUnknown, dedupe.OutcomeApplied},
		"release, bound of 1": {"bound", boom, dedupe.StateReleased, dedupe.OutcomeExhausted},
	} {
		for _, outage := range []time.Duration{time.Second, 10 * time.Minute} {
			t.Run(fmt.Sprintf("%s, %v", name, outage), func(t *testing.T) {
				cfg := byMode[c.mode]
				if c.mode == "bound" {
					cfg = dedupe.Config{OnAbandoned: dedupe.Rerun, AttemptBound: 1}
				}
				bubble(t, cfg, func(t *testing.T, ln *line, l *dedupe.Ledger) {
					op := claim(t, l, bodyA).Operation
					ln.set(loseAnswer)
					done := finishing(t.Context(), op, dedupe.Result{}, c.err)
					time.Sleep(outage)
					ln.set(noFault)
					s := <-done
					if s.Err != nil || s.State != c.want || s.Outcome != c.out {
						t.Errorf("got %v, %v, %v; want %v, %v", s.State, s.Outcome, s.Err, c.want, c.out)
					}
				})
			})
		}
	}
}

// A store that can never hold the result gets a small one, whatever made it large.
func TestResultTooLargeForTheStore(t *testing.T) {
	t.Parallel()
	big := strings.Repeat("x", 1000)
	for name, res := range map[string]dedupe.Result{
		"body":                    {Status: 200, Body: []byte(big)},
		"headers":                 {Status: 200, Headers: map[string]string{"Location": big}},
		"headers, body left out":  {Status: 200, Headers: map[string]string{"Location": big}, Omitted: "secret"},
		"content type":            {Status: 200, ContentType: big},
		"body above the config's": {Status: 200, Body: []byte(big + big + big)},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := dedupe.Config{OnAbandoned: dedupe.Rerun, MaxResult: 2000}
			ln := &line{register: newRegister()}
			l := newLedger(t, bounded{ln}, cfg)
			s := claim(t, l, bodyA).Operation.Run(t.Context(), func(context.Context, *dedupe.Operation) (dedupe.Result, error) {
				return res, nil
			}, dedupe.RunOptions{})
			rec := ln.get(key)
			if s.State != dedupe.StateCompleted || rec.Result == nil || rec.Result.Omitted != dedupe.OmittedTooLarge || rec.Result.Status != 200 {
				t.Errorf("got %v, %v, stored %+v; want completed without what was too large", s.State, s.Err, rec.Result)
			}
		})
	}
}

// bounded holds no more than 500 bytes of a result.
type bounded struct{ *line }

func (b bounded) Swap(ctx context.Context, key dedupe.Key, expect dedupe.Expect, next dedupe.Record) (dedupe.Record, error) {
	if r := next.Result; r != nil && len(r.Body)+len(r.ContentType)+len(fmt.Sprint(r.Headers)) > 500 {
		return dedupe.Record{}, fmt.Errorf("item of 600 bytes: %w", dedupe.ErrTooLarge)
	}
	return b.register.Swap(ctx, key, expect, next)
}

// Only headers that may be replayed are stored, and the application's own map is left as it is.
func TestStoredHeaders(t *testing.T) {
	t.Parallel()
	reg := newRegister()
	l := newLedger(t, reg, dedupe.Config{OnAbandoned: dedupe.Rerun, ReplayHeaders: []string{"x-receipt"}})
	headers := map[string]string{"location": "/1", "X-Receipt": "7", "Set-Cookie": "sid=1", "Date": "now", "X-Other": "1"}
	claim(t, l, bodyA).Operation.Run(t.Context(), func(context.Context, *dedupe.Operation) (dedupe.Result, error) {
		return dedupe.Result{Headers: headers}, nil
	}, dedupe.RunOptions{})
	got := reg.get(key).Result.Headers
	if len(got) != 2 || got["location"] != "/1" || got["X-Receipt"] != "7" || len(headers) != 5 {
		t.Errorf("stored %v; want location and X-Receipt", got)
	}
}

// The stored reason stays small and valid, however long and wild the error is.
func TestReasonIsCut(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"a" + strings.Repeat("ä", 500), "a" + strings.Repeat("\xffb", 500), strings.Repeat("x", 201)} {
		reg := newRegister()
		l := newLedger(t, reg, byMode["rerun"])
		claim(t, l, bodyA).Operation.Run(t.Context(), returning(errors.New(text)), dedupe.RunOptions{})
		if got := reg.get(key).Reason; len(got) > 200 || len(got) < 199 || !utf8.ValidString(got) {
			t.Errorf("stored a reason of %d bytes, valid %v", len(got), utf8.ValidString(got))
		}
	}
}

// What a handler's error says of its effect survives wrapping and joining, and the most cautious word counts.
func TestVerdicts(t *testing.T) {
	t.Parallel()
	boom := errors.New("boom")
	wrap := func(err error) error { return fmt.Errorf("a: %w", fmt.Errorf("b: %w", err)) }
	for name, c := range map[string]struct {
		err                         error
		rerun, marked, begun, recon dedupe.State
	}{
		"plain":                          {boom, dedupe.StateReleased, dedupe.StateReleased, dedupe.StateUnknown, dedupe.StateUnknown},
		"deadline":                       {context.DeadlineExceeded, dedupe.StateReleased, dedupe.StateReleased, dedupe.StateUnknown, dedupe.StateUnknown},
		"cancelled":                      {wrap(context.Canceled), dedupe.StateReleased, dedupe.StateReleased, dedupe.StateUnknown, dedupe.StateUnknown},
		"not committed":                  {dedupe.NotCommitted(boom), dedupe.StateReleased, dedupe.StateReleased, dedupe.StateReleased, dedupe.StateReleased},
		"not committed, wrapped":         {wrap(dedupe.NotCommitted(boom)), dedupe.StateReleased, dedupe.StateReleased, dedupe.StateReleased, dedupe.StateReleased},
		"not committed, joined":          {errors.Join(boom, dedupe.NotCommitted(boom)), dedupe.StateReleased, dedupe.StateReleased, dedupe.StateReleased, dedupe.StateReleased},
		"permanent":                      {dedupe.Permanent(boom), dedupe.StateFailed, dedupe.StateFailed, dedupe.StateFailed, dedupe.StateFailed},
		"permanent, wrapped":             {wrap(dedupe.Permanent(wrap(boom))), dedupe.StateFailed, dedupe.StateFailed, dedupe.StateFailed, dedupe.StateFailed},
		"permanent and not committed":    {errors.Join(dedupe.NotCommitted(boom), dedupe.Permanent(boom)), dedupe.StateFailed, dedupe.StateFailed, dedupe.StateFailed, dedupe.StateFailed},
		"unknown":                        {dedupe.Unknown(boom), dedupe.StateUnknown, dedupe.StateUnknown, dedupe.StateUnknown, dedupe.StateUnknown},
		"unknown, in a not committed":    {dedupe.NotCommitted(wrap(dedupe.Unknown(boom))), dedupe.StateUnknown, dedupe.StateUnknown, dedupe.StateUnknown, dedupe.StateUnknown},
		"unknown, joined to a permanent": {errors.Join(dedupe.Permanent(boom), wrap(dedupe.Unknown(boom))), dedupe.StateUnknown, dedupe.StateUnknown, dedupe.StateUnknown, dedupe.StateUnknown},
		"retry after, plain":             {dedupe.RetryAfter(boom, time.Hour), dedupe.StateReleased, dedupe.StateReleased, dedupe.StateUnknown, dedupe.StateUnknown},
		"retry after, not committed":     {dedupe.RetryAfter(dedupe.NotCommitted(boom), time.Hour), dedupe.StateReleased, dedupe.StateReleased, dedupe.StateReleased, dedupe.StateReleased},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for mode, want := range map[string]dedupe.State{"rerun": c.rerun, "marked": c.marked, "begun": c.begun, "reconcile": c.recon} {
				cfg := byMode[strings.Replace(mode, "begun", "marked", 1)]
				s := inHandler(t, newLedger(t, newRegister(), cfg), func(ctx context.Context, op *dedupe.Operation) error {
					if mode == "begun" {
						begin(ctx, t, op, "charge")
					}
					return c.err
				})
				if s.State != want || s.Err != nil || !errors.Is(s.HandlerErr, c.err) {
					t.Errorf("%s: got %v, %v; want %v", mode, s.State, s.Err, want)
				}
			}
		})
	}
}

func TestRetryAfterIsADelay(t *testing.T) {
	t.Parallel()
	boom := errors.New("boom")
	for _, c := range []struct {
		err  error
		want time.Duration
	}{
		{dedupe.RetryAfter(boom, time.Hour), time.Hour},
		{fmt.Errorf("x: %w", errors.Join(dedupe.RetryAfter(boom, time.Minute), dedupe.RetryAfter(boom, time.Hour))), time.Hour},
		{dedupe.NotCommitted(dedupe.RetryAfter(boom, time.Hour)), time.Hour},
		{dedupe.RetryAfter(boom, -time.Hour), 0},
		{boom, 0},
	} {
		reg := newRegister()
		s := claim(t, newLedger(t, reg, byMode["rerun"]), bodyA).Operation.Run(t.Context(), returning(c.err), dedupe.RunOptions{})
		rec := reg.get(key)
		if listed := rec.AttentionAt.Sub(rec.OwnerWroteAt); s.Delay != c.want || listed != 24*time.Hour+c.want {
			t.Errorf("%v: got a delay of %v, listed after %v; want %v", c.err, s.Delay, listed, c.want)
		}
	}
	for name, err := range map[string]error{
		"NotCommitted": dedupe.NotCommitted(nil), "Permanent": dedupe.Permanent(nil), "Unknown": dedupe.Unknown(nil), "RetryAfter": dedupe.RetryAfter(nil, 1),
	} {
		if err != nil {
			t.Errorf("%s of nil is %v, want nil", name, err)
		}
	}
}

// The lease and the window are two settings, and an error after a possible effect never frees the key by itself.
func TestLIF02_ErrorAfterAnEffectKeepsTheRecord(t *testing.T) {
	t.Parallel()
	l := newLedger(t, newRegister(), byMode["marked"])
	inHandler(t, l, func(ctx context.Context, op *dedupe.Operation) error {
		begin(ctx, t, op, "charge")
		return errors.New("lost the connection")
	})
	wantOutcome(t, claim(t, l, bodyA), dedupe.OutcomePending)

	l = newLedger(t, newRegister(), byMode["marked"])
	inHandler(t, l, func(ctx context.Context, op *dedupe.Operation) error {
		begin(ctx, t, op, "charge")
		return dedupe.NotCommitted(errors.New("connection refused"))
	})
	wantOutcome(t, claim(t, l, bodyA), dedupe.OutcomeClaimed)
}
