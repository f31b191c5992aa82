package dedupe

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// A Case is an operation that a reconciler has taken: its outcome is unknown, and nobody else asks about it meanwhile.
type Case struct {
	Record Record

	ledger *Ledger
	voids  bool
}

// TakeOptions are how a reconciler takes a record.
type TakeOptions struct {
	// For is how long the reconciler may take to answer. Default: the ledger's Lease.
	For time.Duration
	// Voids declares that after its answer the provider never executes the older downstream keys: the record's
	// generation is raised before the question, and every lower one must be voided.
	Voids bool
}

// Take takes the record of an unknown outcome, or of a run whose lease passed, before the provider is asked: its write
// refuses a late Begin of the owner. Two calls (a read and a write).
//
// The error wraps [ErrRefused] where there is nothing to reconcile: the record is settled, its owner is alive, another
// reconciler has it, or it may run again by itself. A record that may run again but was not redelivered for
// AttentionAfter is released and listed instead; the error wraps [ErrRefused] then too.
func (l *Ledger) Take(ctx context.Context, key Key, opts TakeOptions) (*Case, error) {
	if opts.For <= 0 {
		opts.For = l.cfg.Lease
	}
	rec, err := l.store.Load(ctx, key)
	if err != nil {
		return nil, &Error{Op: "take", Key: key, Err: err}
	}
	rec.Key = key
	ev := Take{Token: newToken(), For: opts.For, Voids: opts.Voids}
	w, err := l.advance(ctx, rec, always(ev), retrying(ctx, claimTries))
	l.observe(ctx, ev, w, err, 0)
	switch {
	case err != nil:
		return nil, &Error{Op: "take", Key: key, Err: err}
	case w.Outcome == OutcomeBusy:
		return nil, &Error{Op: "take", Key: key, Err: fmt.Errorf("%w %s: this machine's clock is off by more than SkewMargin; mend it", ErrRefused, w.Next.State)}
	case w.Outcome != OutcomeApplied:
		return nil, &Error{Op: "take", Key: key, Err: l.rules.refusal(w.Next, ev, l.now())}
	case w.Next.State != StateUnknown:
		return nil, &Error{Op: "take", Key: key, Err: fmt.Errorf("%w %s: no message came to run it again, so it was listed for people; send its message again",
			ErrRefused, w.Next.State)}
	}
	return &Case{Record: w.Next, ledger: l, voids: opts.Voids}, nil
}

// AskFrom is the earliest time at which an answer of the provider can be trusted: settle, counted from the end of the
// lease or the owner's last write. It must exceed the skew margin plus the provider's time-out.
func (c *Case) AskFrom(settle time.Duration) time.Time {
	from := c.Record.LockedUntil
	if c.Record.OwnerWroteAt.After(from) {
		from = c.Record.OwnerWroteAt
	}
	return from.Add(settle)
}

// Resolve writes the answer, on the very write that took the case: an [ErrConflict] means that the record changed since, so
// the answer is void and the question is to be asked anew. to is StateCompleted with a result, StateReleased for "not
// committed", or StateFailed with a reason, which only a reconciler that voids may answer. One call.
func (c *Case) Resolve(ctx context.Context, to State, res *Result, reason string) (Record, error) {
	ev := Resolve{Token: c.Record.TakenBy, To: to, Result: c.ledger.storableOrNil(res), Reason: reason, Voided: c.voids}
	return c.ledger.once(ctx, c.Record, ev)
}

func (l *Ledger) storableOrNil(res *Result) *Result {
	if res == nil {
		return nil
	}
	s := l.cfg.storable(*res)
	return &s
}

// ResolveBy is an operator's answer for a record whose outcome is unknown, whose owner vanished, or which was released. who and
// reason are required and observed. seen is the record that the person looked at, as [Ledger.Load] gave it: an [ErrConflict]
// means that it changed since, so that the answer is void. One call.
func (l *Ledger) ResolveBy(ctx context.Context, seen Record, who, reason string, to State, res *Result) (Record, error) {
	ev := Resolve{To: to, Result: l.storableOrNil(res), Reason: reason, Operator: who, NewOwner: newToken()}
	return l.byOperator(ctx, seen, ev, who, reason)
}

// Override releases, forgets or dismisses against what the record says. who and reason are required and observed; for
// a release or a forget Resend says who sends the message again. seen is as for [Ledger.ResolveBy]. One call.
func (l *Ledger) Override(ctx context.Context, seen Record, o Override) (Record, error) {
	if o.Resend == "" && o.Action != ActionDismiss {
		return Record{}, &Error{Op: "override", Key: seen.Key, Err: errors.New("say in Resend who sends the message again: nothing else will run it")}
	}
	o.NewOwner = newToken()
	return l.byOperator(ctx, seen, o, o.Operator, o.Reason)
}

func (l *Ledger) byOperator(ctx context.Context, seen Record, ev Event, who, reason string) (Record, error) {
	if who == "" || reason == "" {
		return Record{}, &Error{Op: ev.Name(), Key: seen.Key, Err: errors.New("an operator's decision needs who decides and a reason")}
	}
	return l.once(ctx, seen, ev)
}

// once decides on exactly this record. A conflict is returned and never decided anew: the answer was given about what the
// record said before.
func (l *Ledger) once(ctx context.Context, rec Record, ev Event) (Record, error) {
	w, err := l.decide(ctx, rec, ev)
	l.observe(ctx, ev, w, err, 0)
	if r, ok := ev.(Resolve); ok && r.Result != nil && errors.Is(err, ErrTooLarge) {
		// The operation took effect, and a result that does not fit must not keep that from being said.
		small := withoutBody(*r.Result)
		r.Result = &small
		ev = r
		w, err = l.decide(ctx, rec, ev)
		l.observe(ctx, ev, w, err, 0)
	}
	if err == nil && !w.Write {
		err = l.rules.refusal(rec, ev, l.now()) // an answer, not a failure of the store
	}
	if err != nil {
		return rec, &Error{Op: ev.Name(), Key: rec.Key, Err: err}
	}
	return w.Next, nil
}

// decide is one decision and, if there is something to write, its write.
func (l *Ledger) decide(ctx context.Context, rec Record, ev Event) (written, error) {
	w := written{Before: rec}
	if rec.Schema > SchemaVersion {
		return w, ErrNewerSchema
	}
	w.Decision = l.rules.Step(rec, ev, l.now())
	if !w.Write {
		return w, nil
	}
	w.Next.Revision = newToken()
	_, err := l.swap(ctx, rec.Key, AtRevision(rec.Revision), w.Next, retrying(ctx, claimTries))
	return w, err
}
