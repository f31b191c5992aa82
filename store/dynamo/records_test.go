package dynamo_test

import (
	"strings"
	"time"

	"github.com/claimonce/claimonce/dedupe"
)

var noon = time.Date(2026, 12, 1, 12, 0, 0, 123_000_000, time.UTC)

// seconds cuts to what expires_at holds.
func seconds(t time.Time) time.Time { return t.Truncate(time.Second) }

// fullRecord has every field set.
func fullRecord() dedupe.Record {
	return dedupe.Record{
		Schema: 1, Key: dedupe.Key{Tenant: "acme", Operation: "refund", ID: "k-1"},
		Fingerprint: "j1:0123456789abcdef", State: dedupe.StateUnknown, Mode: dedupe.RerunUnlessBegun, Transactional: true,
		Revision: "rev-AAAAAAAAAAAAAAAAAA", Owner: "own-AAAAAAAAAAAAAAAAAA", Fence: 1_796_126_400_123, Attempt: 3, Generation: 2, ReplyEpoch: 4,
		Marks: []dedupe.Mark{{Step: "charge", At: noon}, {Step: "mail", At: noon.Add(time.Second), Undone: true}},
		Result: &dedupe.Result{
			Status: 201, ContentType: "application/json", Headers: map[string]string{"ETag": `"1"`, "Location": "/r/1"},
			Body: []byte(`{"id":1}`),
		},
		Reason: "lease passed without an outcome", LockedUntil: noon.Add(time.Minute), OwnerWroteAt: noon,
		TakenBy: "tak-AAAAAAAAAAAAAAAAAA", TakenUntil: noon.Add(2 * time.Minute), Doubtful: true,
		Troubled: dedupe.TroubleUnknown | dedupe.TroubleExhausted, AttentionAt: noon.Add(time.Hour),
		FirstAttemptAt: noon.Add(-time.Hour), CreatedAt: noon.Add(-2 * time.Hour), ClaimedAt: noon.Add(-time.Minute),
		ExpiresAt: seconds(noon).Add(24 * time.Hour),
	}
}

// samples are records of every kind that the ledger writes, by name of their golden file, and odd ones.
func samples() map[string]dedupe.Record {
	claimed := dedupe.Record{
		Schema: 1, Key: dedupe.Key{Tenant: "acme", Operation: "refund", ID: "k-2"}, Fingerprint: "j1:ab", State: dedupe.StateInProgress,
		Mode: dedupe.Reconcile, Revision: "rev-B", Owner: "own-B", Fence: noon.UnixMilli(), Attempt: 1,
		LockedUntil: noon.Add(time.Minute), OwnerWroteAt: noon, FirstAttemptAt: noon, CreatedAt: noon, ClaimedAt: noon,
	}
	completed := claimed.Clone()
	completed.State, completed.Revision, completed.ExpiresAt = dedupe.StateCompleted, "rev-C", seconds(noon).Add(time.Hour)
	completed.Result = &dedupe.Result{Status: 200, ContentType: "application/json", Body: []byte("{\"n\":9007199254740993}\x00\xff")}
	omitted := completed.Clone()
	omitted.Result = &dedupe.Result{Omitted: dedupe.OmittedTooLarge}
	failed := completed.Clone()
	failed.State, failed.Result, failed.Reason = dedupe.StateFailed, nil, "declined: \xffbytes"
	released := claimed.Clone()
	released.State, released.Reason, released.Attempt = dedupe.StateReleased, "timeout", 2
	released.AttentionAt, released.ExpiresAt = noon.Add(24*time.Hour), seconds(noon).Add(time.Hour)
	large := completed.Clone()
	large.Result = &dedupe.Result{Status: 200, ContentType: "text/plain", Headers: map[string]string{"ETag": "x"}, Body: []byte(strings.Repeat("0123456789", 120))}
	noTenant := claimed.Clone()
	noTenant.Key = dedupe.Key{Operation: "ü\x00:7", ID: "日本:\U0001F600\ufffd"}
	odd := completed.Clone()
	odd.Marks = []dedupe.Mark{}
	odd.Result = &dedupe.Result{
		Body: []byte{}, Headers: map[string]string{"": "empty name", "X-Latin": "caf\xe9", "etag": "1", "ETag": "2", "\xff": ""},
	}
	empty := completed.Clone()
	empty.Result = &dedupe.Result{Headers: map[string]string{}}
	return map[string]dedupe.Record{
		"full": fullRecord(), "claimed": claimed, "completed": completed, "omitted": omitted, "failed": failed, "released": released,
		"large": large, "no_tenant": noTenant, "odd_result": odd, "empty_result": empty,
	}
}
