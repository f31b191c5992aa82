package storetest

import (
	"time"

	"github.com/claimonce/claimonce/dedupe"
)

// noon is far from any clock: a store that reads one would judge the records of the rules in another way.
func noon() time.Time { return time.Date(2087, 12, 1, 12, 0, 0, 0, time.UTC) }

// claimed is a record as a claim writes it: it never expires.
func claimed(key dedupe.Key) dedupe.Record {
	now := noon()
	return dedupe.Record{
		Schema: dedupe.SchemaVersion, Key: key, Fingerprint: "j1:0123456789abcdef", State: dedupe.StateInProgress, Mode: dedupe.Reconcile,
		Revision: newRevision(), Owner: newRevision(), Fence: now.UnixMilli(), Attempt: 1,
		LockedUntil: now.Add(time.Minute), OwnerWroteAt: now, FirstAttemptAt: now, CreatedAt: now, ClaimedAt: now,
	}
}

// completed is a record with a result, that expires at the time given.
func completed(key dedupe.Key, expires time.Time) dedupe.Record {
	rec := claimed(key)
	rec.State, rec.ExpiresAt, rec.LockedUntil = dedupe.StateCompleted, expires, time.Time{}
	rec.Marks = []dedupe.Mark{{Step: "charge", At: noon()}, {Step: "mail", At: noon().Add(time.Millisecond), Undone: true}}
	rec.Result = &dedupe.Result{
		Status: 201, ContentType: "application/json", Headers: map[string]string{"ETag": `"1"`, "Location": "/refunds/1"},
		Body: []byte(`{"id":9007199254740993}`),
	}
	return rec
}

// next is what another worker would write in the place of rec.
func next(rec dedupe.Record) dedupe.Record {
	n := claimed(rec.Key)
	n.State, n.Reason, n.Attempt = dedupe.StateReleased, "timeout", 2
	return n
}
