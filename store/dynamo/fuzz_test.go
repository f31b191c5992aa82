package dynamo_test

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/claimonce/claimonce/dedupe"
	"github.com/claimonce/claimonce/store/dynamo"
)

func equalJSON(tb testing.TB, a, b any) bool {
	tb.Helper()
	x, err := json.Marshal(a)
	if err != nil {
		tb.Fatal(err)
	}
	y, err := json.Marshal(b)
	if err != nil {
		tb.Fatal(err)
	}
	return string(x) == string(y)
}

// FuzzRoundTrip: whatever a record holds comes back exactly, over the form that goes over the wire.
func FuzzRoundTrip(f *testing.F) {
	for _, rec := range samples() {
		var body []byte
		header, has := "", false
		if rec.Result != nil {
			body, has, header = rec.Result.Body, true, rec.Result.Headers["ETag"]
		}
		f.Add(rec.Key.Tenant, rec.Key.Operation, rec.Key.ID, rec.Revision, rec.Owner, rec.Reason, uint8(rec.State), uint8(rec.Mode),
			rec.Fence, rec.Attempt, rec.LockedUntil.UnixMilli(), rec.ExpiresAt.Unix(), header, body, has)
	}
	f.Fuzz(func(t *testing.T, tenant, operation, id, revision, owner, reason string, state, mode uint8,
		fence int64, attempt int, millis, expires int64, header string, body []byte, has bool,
	) {
		if !utf8.ValidString(tenant + operation + id) {
			t.Skip("refused before it is encoded")
		}
		rec := dedupe.Record{
			Schema: 1, Key: dedupe.Key{Tenant: tenant, Operation: operation, ID: id}, Revision: revision, Owner: owner, Reason: reason,
			Fingerprint: reason, TakenBy: owner, State: dedupe.State(state%5) + 1, Mode: dedupe.Mode(mode % 4), Fence: fence, Attempt: attempt,
			Generation: attempt / 2, ReplyEpoch: -attempt / 2, Transactional: has, Doubtful: !has, Troubled: dedupe.Trouble(state),
			Marks: []dedupe.Mark{{Step: header, At: time.UnixMilli(millis).UTC(), Undone: has}, {Step: owner}},
		}
		for _, at := range []*time.Time{
			&rec.LockedUntil, &rec.OwnerWroteAt, &rec.TakenUntil, &rec.AttentionAt, &rec.FirstAttemptAt, &rec.CreatedAt, &rec.ClaimedAt,
		} {
			*at = time.UnixMilli(millis).UTC()
			millis++
		}
		if expires > 0 && expires < 100_000_000_000 {
			rec.ExpiresAt = time.Unix(expires, 0).UTC()
		}
		if has {
			rec.Result = &dedupe.Result{Status: attempt, ContentType: reason, Omitted: owner, Headers: map[string]string{header: reason, owner: id}, Body: body}
		}
		record, part, err := dynamo.Items(rec)
		if err != nil {
			t.Skip("refused: ", err)
		}
		got, apart, err := dynamo.Decode(rec.Key, unwire(t, wire(t, record)))
		if err != nil {
			t.Fatalf("what was written cannot be read: %v", err)
		}
		if apart != "" {
			got.Result = resultOf(t, rec.Key, part)
		}
		if !reflect.DeepEqual(got, rec) {
			t.Errorf("got\n%+v, result %+v\nwant\n%+v, result %+v", got, got.Result, rec, rec.Result)
		}
	})
}

// resultOf reads the result of an item in which it is apart.
func resultOf(tb testing.TB, key dedupe.Key, part dynamo.Item) *dedupe.Result {
	tb.Helper()
	host, _ := mustItems(tb, dedupe.Record{Schema: 1, Key: key, State: dedupe.StateCompleted})
	host["result"] = unwire(tb, wire(tb, part))["result"]
	rec, _, err := dynamo.Decode(key, host)
	if err != nil {
		tb.Fatalf("the result apart cannot be read: %v", err)
	}
	return rec.Result
}

// FuzzDecode: no item makes the decoder panic, and one that is read is written back to an equal record.
func FuzzDecode(f *testing.F) {
	for _, rec := range samples() {
		record, _, err := dynamo.Items(rec)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(wire(f, record))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var raw map[string]json.RawMessage
		if json.Unmarshal(data, &raw) != nil {
			t.Skip("no item")
		}
		it := dynamo.Item{}
		for name, r := range raw {
			v, err := unwireValue(r)
			if err != nil {
				t.Skip("no item")
			}
			it[name] = v
		}
		key := fullRecord().Key
		rec, apart, err := dynamo.Decode(key, it)
		if err != nil || apart != "" {
			return
		}
		record, part, err := dynamo.Items(rec)
		if err != nil || part != nil {
			return
		}
		again, _, err := dynamo.Decode(key, record)
		if err != nil || !reflect.DeepEqual(again, rec) {
			t.Errorf("read %+v, written and read again %+v, %v", rec, again, err)
		}
	})
}
