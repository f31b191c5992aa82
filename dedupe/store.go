package dedupe

import (
	"context"
	"time"
)

// A Store keeps records. It is a compare-and-swap register for each key and knows no rule of deduplication: those are
// in [Rules.Step].
//
//  1. Swap writes next whole, atomically and durably, if what is stored is what expect says, and returns nil. Else
//     it writes nothing and returns what is stored (the zero Record if nothing is) with an error wrapping
//     [ErrConflict]. An error that no repeat can mend since the record is too large wraps [ErrTooLarge]. Any other
//     error means "unknown whether it landed": the caller repeats the identical call, and a conflict that shows
//     its own revision is success. A store, or the client below it, may repeat a call by itself for the same
//     reason; the conflict of its second try against its first must be returned like any other.
//  2. A claim that may have landed although its worker gave up is released by the ledger on a context that outlives the
//     cancellation. A store need do nothing for it.
//  3. Per key, Swap and Load are linearizable; Load is strongly consistent. Records round-trip exactly: any bytes, any
//     UTF-8 key, times to the millisecond, nil slices and maps as nil and empty ones as empty. ExpiresAt is in whole
//     seconds, rounded up by the caller. An expired record is still returned by Load and by a conflict until it is
//     replaced or deleted.
//  4. A store reads no clock, starts no goroutine, closes no client that it was given, and keeps no slice or map that
//     it was given or returned. It may delete a record after ExpiresAt, never before.
//  5. The id of a record encodes tenant, operation and key without ambiguity, as [Key.StoreID] does.
//  6. A record stays small, since duplicates are paid by its size: a store may keep a large Result.Body apart, written
//     before the record or with it. If that part is missing when the record is read, the store sets
//     Result.Unavailable; it never answers with an empty body.
//  7. A record of a newer [SchemaVersion] is returned as an error wrapping [ErrNewerSchema] and never overwritten.
//  8. Further abilities are interfaces of one method each: see [SkewMeter], which is looked for when a [Ledger] is built, and
//     [Transactor].
//
// All methods are safe for concurrent use, and end promptly with an error wrapping the context's when it ends; that error is no conflict.
// Package storetest holds any store to these sentences, and names the few that it cannot: durability first of all. See [Record] for how one
// may be encoded.
type Store interface {
	// Load returns the record, or the zero Record and nil if nothing is stored.
	Load(ctx context.Context, key Key) (Record, error)
	// Swap is one conditional write of next under next.Key; key is the same one, else nothing is written and the error is no conflict.
	Swap(ctx context.Context, key Key, expect Expect, next Record) (current Record, err error)
}

// Expect is the condition of a [Store.Swap]: the record has this revision, or it is absent at a time. Make it with
// [AtRevision] or [AbsentAt].
type Expect struct {
	revision string
	absentAt int64
}

// AtRevision expects the stored record to have this revision.
func AtRevision(revision string) Expect { return Expect{revision: revision} }

// AbsentAt expects that nothing is stored, or that the record stored has an ExpiresAt that is set and is not after t.
// t is cut to the whole second.
func AbsentAt(t time.Time) Expect { return Expect{absentAt: t.Unix()} }

// Revision gives the revision expected; ok is false if absence is expected.
func (e Expect) Revision() (revision string, ok bool) { return e.revision, e.revision != "" }

// ExpiredBy gives the time of an expected absence in seconds since the epoch.
func (e Expect) ExpiredBy() int64 { return e.absentAt }

// Met reports whether a stored record meets the expectation. It is the test that stores, or their condition
// expressions, are held to.
func (e Expect) Met(stored Record) bool {
	if revision, ok := e.Revision(); ok {
		return stored.Revision == revision
	}
	return stored.State == StateAbsent || !stored.ExpiresAt.IsZero() && stored.ExpiresAt.Unix() <= e.absentAt
}

// SkewMeter is implemented by stores that can compare this machine's clock with their server's.
type SkewMeter interface {
	// ClockSkew is how far this machine's clock was ahead of the server's (negative: behind) at the last
	// call, to about a second; ok is false before the first one.
	ClockSkew() (skew time.Duration, ok bool)
}
