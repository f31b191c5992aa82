package dedupe

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/claimonce/claimonce/dedupe/fingerprint"
)

// A Request is what a claim is made for: the key and the digest of what was asked.
type Request struct {
	Key    Key
	Digest string
	// As gives the digest under an older scheme, for records that were written by older rules; nil: none.
	As func(scheme string) (string, error)
}

// Request digests a body by the ledger's rules. Its errors are the body's fault and wrap [fingerprint.ErrMalformed].
func (l *Ledger) Request(key Key, body []byte) (Request, error) {
	in := fingerprint.Request{Tenant: key.Tenant, Operation: key.Operation, Body: body}
	digest, err := l.digest.Digest(in)
	if err != nil {
		return Request{}, &Error{Op: "fingerprint", Key: key, Err: err}
	}
	as := func(scheme string) (string, error) { return l.digest.DigestAs(scheme, in) }
	return Request{Key: key, Digest: digest, As: as}, nil
}

// An Answer is what a claim came to.
type Answer struct {
	// Outcome is one of OutcomeClaimed, Replay, Failed, Busy, Pending, Exhausted and Mismatch.
	Outcome Outcome
	// Record is what is stored now; of a Mismatch only its state and times, never another request's result.
	Record Record
	// Operation is to be run, for OutcomeClaimed; else nil.
	Operation *Operation
	// RetryAfter is what is left of another owner's lease, for OutcomeBusy.
	RetryAfter time.Duration
}

// claimTries is how often a claim whose answer was lost is repeated before it is given up.
const claimTries = 3

// Claim asks to own an operation. One conditional write where the key is new or its record expired, is held, or is settled;
// one more for a released or abandoned one.
//
// An error means that the handler must not be run: it wraps [ErrMissingKey] or [ErrMalformedKey] (the caller's fault),
// [ErrNewerSchema], or the store's error. A claim that may have landed is then given up by further calls, which outlive
// ctx by at most a few seconds.
func (l *Ledger) Claim(ctx context.Context, req Request) (Answer, error) {
	err := l.ValidateKey(req.Key)
	if err == nil && req.Digest == "" {
		err = errors.New("the request has no digest, so that another request with this key would pass for it: make it with Ledger.Request")
	}
	if err != nil {
		return Answer{}, &Error{Op: "claim", Key: req.Key, Err: err}
	}
	started := time.Now()
	claim := Claim{Owner: newToken(), Fingerprint: req.Digest, Mode: l.cfg.OnAbandoned}
	w, err := l.advance(ctx, Record{Key: req.Key}, req.against(claim), retrying(ctx, claimTries))
	l.observe(ctx, claim, w, err, 0)
	if err != nil {
		l.giveUp(ctx, claim, w)
		return Answer{}, &Error{Op: "claim", Key: req.Key, Err: err}
	}
	a := Answer{Outcome: w.Outcome, Record: w.Next, RetryAfter: w.RetryAfter}
	switch {
	case w.Outcome == OutcomeClaimed:
		a.Operation = newOperation(l, w.Next, started)
	case w.Outcome == OutcomeMismatch:
		a.Record = a.Record.outside()
	case w.Outcome == OutcomePending && w.Next.Owner == claim.Owner:
		// Its own claim, whose answer came so late that a reconciler found it abandoned: its handler never ran.
		a.Record = l.neverRan(ctx, claim, w.Next)
	}
	return a, nil
}

// giveUp releases a claim that may have landed although its answer never came, so that no record stays in progress with a
// handler that never started. One bounded try on a context of its own: what it misses, a takeover heals.
func (l *Ledger) giveUp(ctx context.Context, c Claim, w written) {
	if !w.Write || w.Next.Owner != c.Owner {
		return // no claim of its own was sent
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), giveUpTime)
	defer cancel()
	expected, _ := w.Expect.Revision()
	ev := Release{Owner: c.Owner, Cause: CauseGivenUp, Reason: "claim given up", Claim: &c, Expected: expected}
	out, err := l.advance(ctx, w.Next, always(ev), func(int) bool { return false })
	l.observe(ctx, ev, out, err, 0)
}

const giveUpTime = 3 * time.Second

// neverRan releases an unknown record whose doubt is only that this claim's handler might have run. Best effort: a reconciler
// settles it otherwise. The caller still gets OutcomePending and comes back.
func (l *Ledger) neverRan(ctx context.Context, c Claim, rec Record) Record {
	ev := Release{Owner: c.Owner, Cause: CauseNeverStarted, Reason: "the claim's answer came too late"}
	w, err := l.advance(ctx, rec, always(ev), retrying(ctx, claimTries))
	l.observe(ctx, ev, w, err, 0)
	if err != nil {
		return rec
	}
	return w.Next
}

// against adds the digest under the record's scheme, if that is another than the claim's. A scheme that this worker does not
// know was written by a newer release: neither a match nor a mismatch can be told.
func (r Request) against(c Claim) eventFor {
	return func(rec Record) (Event, error) {
		scheme := fingerprint.SchemeOf(rec.Fingerprint)
		if rec.Fingerprint == "" || scheme == fingerprint.SchemeOf(c.Fingerprint) {
			return c, nil
		}
		err := fingerprint.ErrUnknownScheme
		digest := ""
		if r.As != nil {
			digest, err = r.As(scheme)
		}
		if errors.Is(err, fingerprint.ErrUnknownScheme) {
			return c, fmt.Errorf("%w: its fingerprint has scheme %q; if that is this application's own, keep its rules in fingerprint.Config.Previous",
				ErrNewerSchema, scheme)
		}
		with := c
		if err == nil { // a body that the older rules refuse cannot be the older request
			with.Equivalent = []string{digest}
		}
		return with, nil
	}
}

// retrying allows a number of tries in all with a short pause between them, while ctx lasts.
func retrying(ctx context.Context, tries int) func(int) bool {
	return func(try int) bool {
		return try < tries && pause(ctx, time.Duration(try)*50*time.Millisecond)
	}
}

// pause waits; false if ctx ended first.
func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}
