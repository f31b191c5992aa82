package dedupe

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/claimonce/claimonce/dedupe/fingerprint"
)

// A Ledger applies events to the records of a store: the only place that calls one. It is safe for concurrent use and
// holds no state of its own but its settings.
type Ledger struct {
	store  Store
	skew   SkewMeter // nil if the store has none
	cfg    Config
	rules  Rules
	digest *fingerprint.Digester
}

// NewLedger checks the settings, all of them, and says everything that is wrong.
func NewLedger(store Store, cfg Config) (*Ledger, error) {
	cfg = cfg.withDefaults()
	err := cfg.validate()
	if store == nil {
		err = errors.Join(errors.New("the store is nil"), err)
	}
	digest, derr := fingerprint.New(cfg.Fingerprint)
	if err = errors.Join(err, derr); err != nil {
		return nil, fmt.Errorf("dedupe: the ledger cannot be built: %w", err)
	}
	l := &Ledger{store: store, cfg: cfg, digest: digest, rules: Rules{
		Window: cfg.Window, Lease: cfg.Lease, SkewMargin: cfg.SkewMargin, AttemptBound: cfg.AttemptBound,
		AttentionAfter: cfg.AttentionAfter, DownstreamMemory: cfg.DownstreamMemory,
	}}
	l.skew, _ = store.(SkewMeter)
	return l, nil
}

// Rules are the numbers that this ledger decides by.
func (l *Ledger) Rules() Rules { return l.rules }

// ValidateKey checks a key by the ledger's alphabet.
func (l *Ledger) ValidateKey(key Key) error { return key.Validate(l.cfg.KeyCharacters) }

// Load returns what is stored of a key: the zero Record (with its Key) if nothing is, or if it has expired. One
// strongly consistent read.
func (l *Ledger) Load(ctx context.Context, key Key) (Record, error) {
	rec, err := l.store.Load(ctx, key)
	if err != nil {
		return Record{Key: key}, &Error{Op: "load", Key: key, Err: err}
	}
	if l.rules.ExpiredAt(rec, l.now()) {
		rec = Record{}
	}
	rec.Key = key
	return rec, nil
}

// maxConflicts bounds how often one event is decided anew since the record changed meanwhile. Each round means that
// somebody else made progress, so this many in a row is a fault of the store.
const maxConflicts = 16

// advance is the one loop that writes: decide, write under what the decision was made on, and decide anew on what is
// there if that changed. rec is what is believed to be stored.
//
// An attempt whose answer was lost may have landed: a conflict that shows a revision made here is that attempt's success.
func (l *Ledger) advance(ctx context.Context, rec Record, event eventFor, again func(try int) bool) (written, error) {
	return l.advanceKnowing(ctx, rec, event, again, map[string]written{})
}

// advanceKnowing is advance for a caller that gives up and comes back: tried keeps the writes whose answers it never got.
func (l *Ledger) advanceKnowing(
	ctx context.Context, rec Record, event eventFor, again func(try int) bool, tried map[string]written,
) (written, error) {
	key := rec.Key
	for range maxConflicts {
		undecided := written{Decision: Decision{Next: rec}, Before: rec}
		if rec.Schema > SchemaVersion {
			return undecided, ErrNewerSchema
		}
		ev, err := event(rec)
		if err != nil {
			return undecided, err
		}
		now := l.now()
		w := written{Decision: l.rules.Step(rec, ev, now), Before: rec}
		w.Decision = l.checkSkew(rec, ev, w.Decision)
		if !w.Write {
			return w, nil
		}
		w.Next.Revision = newToken()
		w.Expect = AtRevision(rec.Revision)
		if rec.State == StateAbsent {
			w.Expect = AbsentAt(l.rules.AbsenceTime(now))
		}
		tried[w.Next.Revision] = w
		current, err := l.swap(ctx, key, w.Expect, w.Next, again)
		if err == nil {
			return w, nil
		}
		if !errors.Is(err, ErrConflict) {
			return w, err
		}
		if earlier, ok := tried[current.Revision]; ok {
			return earlier, nil
		}
		current.Key = key
		rec = current
	}
	return written{Decision: Decision{Next: rec}, Before: rec}, fmt.Errorf("the record changed %d times in a row: %w", maxConflicts, ErrConflict)
}

// eventFor gives the event as it is to be put to a record.
type eventFor func(rec Record) (Event, error)

// always is the same event for whatever is stored.
func always(ev Event) eventFor { return func(Record) (Event, error) { return ev, nil } }

// written is a decision with what it was made on.
type written struct {
	Decision

	Before Record
	Expect Expect
}

// swap repeats one identical call while again allows: an error other than a conflict leaves it open whether the write
// landed, and only the repeat can tell. What only a person can mend is not mended by the next few calls.
func (l *Ledger) swap(ctx context.Context, key Key, expect Expect, next Record, again func(try int) bool) (Record, error) {
	for try := 1; ; try++ {
		current, err := l.store.Swap(ctx, key, expect, next)
		switch {
		case err == nil:
			return next, nil
		case errors.Is(err, ErrConflict):
			if current.Revision == next.Revision {
				return next, nil
			}
			return current, err
		case errors.Is(err, ErrTooLarge) || errors.Is(err, ErrNewerSchema) || errors.Is(err, ErrSetup) || !again(try):
			return current, err
		}
	}
}

// now is the clock that records are written and judged by. Where the store can tell that this machine's clock differs from
// its own by more than the margin, that much is taken off: a fast clock would end windows early, and a slow one would
// write leases that others see end while their owner still trusts them.
func (l *Ledger) now() time.Time {
	now := time.Now()
	if ahead, bad := l.skewed(); bad {
		return now.Add(-ahead)
	}
	return now
}

func (l *Ledger) skewed() (ahead time.Duration, bad bool) {
	if l.skew == nil {
		return 0, false
	}
	ahead, ok := l.skew.ClockSkew()
	return ahead, ok && ahead.Abs() > l.rules.SkewMargin
}

// checkSkew stops takeovers while this machine's clock is known to be wrong: the lease that it takes to be over may run.
func (l *Ledger) checkSkew(rec Record, ev Event, d Decision) Decision {
	if d.Note&NoteAbandoned == 0 || !d.Write {
		return d
	}
	ahead, bad := l.skewed()
	if !bad {
		return d
	}
	l.cfg.Logger.Warn("clock skew above the margin stops takeovers; mend this machine's clock",
		"ahead", ahead, "margin", l.rules.SkewMargin, "operation", rec.Key.Operation, "key_hash", rec.Key.Hash(), "event", ev.Name())
	return Decision{Next: rec, Outcome: OutcomeBusy, RetryAfter: l.rules.Lease}
}

func (l *Ledger) observe(ctx context.Context, ev Event, w written, err error, took time.Duration) {
	if err != nil {
		// What was decided is not known to have been written: nothing of it may be counted.
		w.Decision = Decision{Next: w.Before}
	}
	o := Observation{
		Key: w.Before.Key, Fingerprint: w.Next.Fingerprint, Event: ev.Name(), From: w.Before.State, To: w.Next.State,
		Outcome: w.Outcome, Note: w.Note, Attempt: w.Next.Attempt, Duration: took, Err: err,
	}
	if e, ok := ev.(Resolve); ok {
		o.Operator, o.Reason = e.Operator, e.Reason
	}
	if e, ok := ev.(Override); ok {
		o.Operator, o.Reason, o.Resend = e.Operator, e.Reason, e.Resend
	}
	if w.Next.Result != nil {
		o.Status = w.Next.Result.Status
	}
	l.notify(ctx, o)
	if w.Note&(NoteAbandoned|NoteContradicted|NoteEffectByLostOwner) != 0 {
		l.cfg.Logger.WarnContext(ctx, incident(w.Note), "tenant", o.Key.Tenant, "operation", o.Key.Operation, "key_hash", o.Key.Hash(),
			"event", o.Event, "from", o.From.String(), "to", o.To.String(), "outcome", o.Outcome.String(), "attempt", o.Attempt)
	}
	if err == nil && w.Write && o.To == StateUnknown && o.From != StateUnknown {
		l.cfg.Logger.WarnContext(ctx, "outcome unknown: it waits to be reconciled", "tenant", o.Key.Tenant, "operation", o.Key.Operation,
			"key_hash", o.Key.Hash(), "event", o.Event, "attempt", o.Attempt)
	}
	if w.Note&NoteNothingBegun != 0 {
		l.cfg.Logger.WarnContext(ctx, "completed without Begin: in mode rerun_unless_begun an effect without a mark may be repeated",
			"tenant", o.Key.Tenant, "operation", o.Key.Operation, "key_hash", o.Key.Hash())
	}
}

// notify survives a callback that panics or ends its goroutine, as a test's FailNow does: it is called from renewals too, which
// would end without a word, and between a write and its answer. The second can only be contained on a goroutine of its own.
func (l *Ledger) notify(ctx context.Context, o Observation) {
	if l.cfg.Observe == nil {
		return
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		failed := "it ended its goroutine"
		defer func() {
			if v := recover(); v != nil {
				failed = PanicText(v)
			}
			if failed != "" {
				l.cfg.Logger.ErrorContext(ctx, "Observe panicked", "operation", o.Key.Operation, "event", o.Event, "panic", failed)
			}
		}()
		l.cfg.Observe(ctx, o)
		failed = ""
	}()
	<-done
}

func incident(n Note) string {
	switch {
	case n&NoteEffectByLostOwner != 0:
		return "effect by lost owner: a worker reports an effect of an operation that is no longer its own"
	case n&NoteContradicted != 0:
		return "settlement contradicted: the owner reports another outcome than the one that was settled"
	}
	return "lease passed without an outcome"
}
