package dynamo_test

import (
	"errors"
	"flag"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/claimonce/claimonce/dedupe"
	"github.com/claimonce/claimonce/store/dynamo"
)

var rewrite = flag.Bool("rewrite", false, "write golden items that are missing; those that exist never change")

func mustItems(tb testing.TB, rec dedupe.Record) (record, part dynamo.Item) {
	tb.Helper()
	record, part, err := dynamo.Items(rec)
	if err != nil {
		tb.Fatalf("encode: %v", err)
	}
	return record, part
}

// Two versions of the program run side by side in every rolling deploy: what schema 1 wrote is read for ever, and is still written
// so while the schema is 1.
func TestGoldenItemsOfSchema1(t *testing.T) {
	t.Parallel()
	for name, rec := range samples() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			record, part := mustItems(t, rec)
			got := wire(t, record)
			if part != nil {
				got = append(got, wire(t, part)...)
			}
			file := filepath.Join("testdata", "schema1", name+".json")
			want, err := os.ReadFile(file)
			if *rewrite && os.IsNotExist(err) {
				want, err = got, os.WriteFile(file, got, 0o644)
			}
			if err != nil {
				t.Fatal(err)
			}
			if string(got) != string(want) {
				t.Errorf("an item of schema 1 is now written as\n%s\nwant\n%s", got, want)
			}
			stored, _, _ := strings.Cut(string(want), "\n}\n")
			read, apart, err := dynamo.Decode(rec.Key, unwire(t, []byte(stored+"\n}")))
			if err != nil {
				t.Fatalf("an item of schema 1 is no longer read: %v", err)
			}
			if (apart != "") != (part != nil) {
				t.Errorf("the result apart is at %q, want one: %v", apart, part != nil)
			}
			if part != nil {
				rec.Result.Headers, rec.Result.Body = nil, nil // they are in the other item
			}
			if !reflect.DeepEqual(read, rec) {
				t.Errorf("read back\n%+v\nwant\n%+v", read, rec)
			}
		})
	}
}

func TestUnsetFieldsAreLeftOut(t *testing.T) {
	t.Parallel()
	record, _ := mustItems(t, dedupe.Record{Key: dedupe.Key{Operation: "o", ID: "k"}, State: dedupe.StateReleased})
	got := slices.Sorted(maps.Keys(record))
	if want := []string{"id", "key", "operation", "schema", "state"}; !slices.Equal(got, want) {
		t.Errorf("got attributes %q, want %q", got, want)
	}
}

func TestOnlyTroubledRecordsAreInTheIndex(t *testing.T) {
	t.Parallel()
	rec := fullRecord()
	if record, _ := mustItems(t, rec); record["attention_shard"] == nil {
		t.Errorf("a troubled record has no attention_shard, so that it is not listed")
	}
	rec.Troubled = 0
	if record, _ := mustItems(t, rec); record["attention_shard"] != nil || record["attention_at"] == nil {
		t.Errorf("got attention_shard %v and attention_at %v, want only the latter for a record without trouble", record["attention_shard"], record["attention_at"])
	}
}

func TestTroubledRecordsSpreadOverAllShards(t *testing.T) {
	t.Parallel()
	seen := map[string]int{}
	for i := range 1600 {
		seen[dynamo.ShardOf(dedupe.Key{Operation: "o", ID: strings.Repeat("k", i%7) + string(rune('a'+i%26)) + time.Duration(i).String()})]++
	}
	if len(seen) != dynamo.Shards {
		t.Errorf("1600 keys are in %d shards, want %d", len(seen), dynamo.Shards)
	}
	for shard, n := range seen {
		if n > 200 { // expected: 100
			t.Errorf("shard %s has %d of 1600 keys", shard, n)
		}
	}
}

func TestDDB05_ExpiryIsANumberOfWholeSeconds(t *testing.T) {
	t.Parallel()
	rec := samples()["completed"]
	rec.ExpiresAt = noon // not whole: never earlier than asked for
	record, _ := mustItems(t, rec)
	got, ok := record["expires_at"].(*types.AttributeValueMemberN)
	if want := "1796126401"; !ok || got.Value != want {
		t.Errorf("got expires_at %v, want the number %s", record["expires_at"], want)
	}
}

func TestItemsThatThisPackageDoesNotWriteAreNamed(t *testing.T) {
	t.Parallel()
	text := func(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }
	number := func(s string) types.AttributeValue { return &types.AttributeValueMemberN{Value: s} }
	for name, c := range map[string]struct {
		attribute string
		value     types.AttributeValue // nil: the attribute is missing
		blamed    string
	}{
		"DDB05 milliseconds":       {"expires_at", number("1796126400123"), "expires_at"},
		"DDB05 a fraction":         {"expires_at", number("1796126400.5"), "expires_at"},
		"DDB05 text":               {"expires_at", text("1796126400"), "expires_at"},
		"DDB05 negative":           {"expires_at", number("-5"), "expires_at"},
		"no schema":                {"schema", nil, "schema"},
		"schema as text":           {"schema", text("1"), "schema"},
		"unknown state":            {"state", text("sleeping"), "state"},
		"absent as state":          {"state", text("absent"), "state"},
		"no state":                 {"state", nil, "state"},
		"unknown mode":             {"mode", text("maybe"), "mode"},
		"another tenant":           {"tenant", text("other"), "key"},
		"another key":              {"key", text("other"), "key"},
		"time with a fraction":     {"locked_until", number("1.5"), "locked_until"},
		"owner as number":          {"owner", number("1"), "owner"},
		"flag as text":             {"doubtful", text("true"), "doubtful"},
		"marks as text":            {"marks", text("charge"), "marks"},
		"marks of text":            {"marks", &types.AttributeValueMemberL{Value: []types.AttributeValue{text("x")}}, "marks"},
		"result as text":           {"result", text("ok"), "result"},
		"status as text":           {"result", &types.AttributeValueMemberM{Value: dynamo.Item{"status": text("200")}}, "result.status"},
		"body as text":             {"result", &types.AttributeValueMemberM{Value: dynamo.Item{"body": text("x")}}, "result.body"},
		"headers of odd length":    {"result", &types.AttributeValueMemberM{Value: dynamo.Item{"headers": &types.AttributeValueMemberL{Value: []types.AttributeValue{text("x")}}}}, "result.headers"},
		"trouble of another kind":  {"troubled", number("256"), "troubled"},
		"fence beyond 64 bits":     {"fence", number("99999999999999999999"), "fence"},
		"attempt with an exponent": {"attempt", number("1e400"), "attempt"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rec := fullRecord()
			it, _ := mustItems(t, rec)
			it[c.attribute] = c.value
			if c.value == nil {
				delete(it, c.attribute)
			}
			got, _, err := dynamo.Decode(rec.Key, it)
			bad, ok := errors.AsType[*dynamo.ItemError](err)
			if !ok || bad.Attribute != c.blamed {
				t.Fatalf("got error %v, want an ItemError about %s", err, c.blamed)
			}
			if !reflect.DeepEqual(got, dedupe.Record{}) {
				t.Errorf("got a part of the record: %+v", got)
			}
			if strings.Contains(err.Error(), rec.Key.ID) || strings.Contains(err.Error(), "sleeping") {
				t.Errorf("the error shows stored data: %v", err)
			}
		})
	}
}

func TestNewerSchemaIsJudgedBeforeAnythingElse(t *testing.T) {
	t.Parallel()
	newer := dynamo.Item{
		"schema": &types.AttributeValueMemberN{Value: "2"}, "state": &types.AttributeValueMemberS{Value: "sleeping"},
		"expires_at": &types.AttributeValueMemberS{Value: "soon"},
	}
	if _, _, err := dynamo.Decode(dedupe.Key{}, newer); !errors.Is(err, dedupe.ErrNewerSchema) {
		t.Errorf("got %v, want ErrNewerSchema", err)
	}
}

func TestExpiryThatNoItemCanHoldIsRefused(t *testing.T) {
	t.Parallel()
	for _, at := range []time.Time{time.Unix(-1, 0), time.Unix(0, 0), time.UnixMilli(1796126400123 * 1000)} {
		rec := fullRecord()
		rec.ExpiresAt = at
		if _, _, err := dynamo.Items(rec); err == nil {
			t.Errorf("ExpiresAt %v was written, although it cannot be read back", at)
		}
	}
}
