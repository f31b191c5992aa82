package dedupe

import (
	"context"
	"errors"
	"strings"
	"time"
	"unicode/utf8"
)

// settle writes what the handler's return says, until it is written or refused.
func (op *Operation) settle(ctx context.Context, res Result, herr error) Settlement {
	verdict, delay := classify(herr)
	ev := op.outcome(res, herr, verdict, delay)
	out := Settlement{State: StateInProgress, Event: ev(nil).Name(), HandlerErr: herr, Delay: delay}
	if op.shadow {
		out.State, out.Record = op.rec.State, op.rec // nothing is written
		out.Record.Reason = reason(herr)
		return out
	}
	detached, cancel := op.settleTime(ctx)
	defer cancel()
	w, err := op.writeOutcome(detached, ev)
	switch {
	case err != nil:
		out.Outcome, out.Err, out.Record = OutcomeLost, &Error{Op: out.Event, Key: op.Key(), Err: err}, op.rec
	case w.Outcome == OutcomeLost:
		out.Outcome, out.Err, out.Record = OutcomeLost, &Error{Op: out.Event, Key: op.Key(), Err: ErrLeaseLost}, w.Next
	default:
		out.Outcome, out.State, out.Record = w.Outcome, w.Next.State, w.Next
	}
	return out
}

// outcome is the event that a handler's return stands for; Step decides what it means in the record's mode.
func (op *Operation) outcome(res Result, herr error, v verdict, delay time.Duration) func([]string) Event {
	owner, why := op.owner, reason(herr)
	// Of this very run: a handler may return the error of another operation that it ran inside.
	_, drained := herr.(*drainedError)        //nolint:errorlint // see above
	_, unstarted := herr.(*neverStartedError) //nolint:errorlint // see above
	cause := CausePlainError
	switch {
	case herr == nil:
		stored := op.ledger.cfg.storable(res)
		return func(undone []string) Event { return Complete{Owner: owner, Result: &stored, Undone: undone} }
	case v == verdictPermanent:
		return func(undone []string) Event { return Fail{Owner: owner, Reason: why, Undone: undone} }
	case v == verdictUnknown:
		return func(undone []string) Event { return Suspect{Owner: owner, Reason: why, Undone: undone} }
	case v == verdictNotCommitted:
		cause = CauseNotCommitted
	case unstarted:
		cause = CauseNeverStarted
	case drained:
		cause = CauseDrain
	}
	return func(undone []string) Event {
		return Release{Owner: owner, Cause: cause, Reason: why, Delay: delay, Undone: undone}
	}
}

// writeOutcome repeats until the outcome lands or is refused. Between tries it renews the lease, so that a long outage does
// not make others take over an operation that is done.
func (op *Operation) writeOutcome(ctx context.Context, event func([]string) Event) (written, error) {
	if err := op.lock(ctx); err != nil {
		return written{}, err
	}
	defer op.unlock()
	ev := event(op.undone)
	var pauses backoff
	again := func(int) bool { return pauses.wait(ctx) && time.Since(op.wroteAt) < op.ledger.cfg.RenewEvery }
	tried := map[string]written{}
	small := false
	for {
		w, err := op.advance(ctx, ev, again, tried)
		op.ledger.observe(ctx, ev, w, err, time.Since(op.claimed))
		if c, ok := ev.(Complete); ok && errors.Is(err, ErrTooLarge) && !small {
			res := withoutBody(*c.Result)
			c.Result = &res
			ev, small = c, true
			continue
		}
		if err == nil {
			if w.Write {
				op.rec = w.Next
			}
			return w, nil
		}
		if ctx.Err() != nil || errors.Is(err, ErrNewerSchema) || errors.Is(err, ErrTooLarge) || errors.Is(err, errFaulty) {
			return w, err
		}
		if returnsAtOnce := errors.Is(err, ErrConflict) || errors.Is(err, ErrSetup); returnsAtOnce && !pauses.wait(ctx) {
			return w, err
		}
		op.renewOnce(ctx)
	}
}

// renewOnce is best effort: if the outcome has landed meanwhile, the next try finds it.
func (op *Operation) renewOnce(ctx context.Context) {
	started := time.Now()
	w, err := op.advance(ctx, Renew{Owner: op.owner}, func(int) bool { return false }, map[string]written{})
	if err == nil && w.Write {
		op.rec, op.wroteAt = w.Next, started
	}
}

// outlive gives a context that ends a while after ctx does, whatever its deadline.
func outlive(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	out, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(d, cancel) })
	return out, func() {
		stop()
		cancel()
	}
}

// backoff waits 100 ms, doubling to 5 s, with jitter.
type backoff struct{ next time.Duration }

func (b *backoff) wait(ctx context.Context) bool {
	b.next = min(max(b.next*2, 100*time.Millisecond), 5*time.Second)
	return pause(ctx, jitter(b.next))
}

// maxReason keeps the record small: an error may quote whole responses.
const maxReason = 200

// reason is what the record keeps of a handler's error.
func reason(err error) string {
	if err == nil {
		return ""
	}
	s := strings.ToValidUTF8(err.Error(), "?")
	if len(s) <= maxReason {
		return s
	}
	cut := maxReason
	for !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut]
}
