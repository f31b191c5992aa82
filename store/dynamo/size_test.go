package dynamo_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/claimonce/claimonce/dedupe"
	"github.com/claimonce/claimonce/store/dynamo"
)

// The rules are those of "DynamoDB item sizes and formats".
func TestSizesFollowTheDocumentedRules(t *testing.T) {
	t.Parallel()
	number := func(s string) types.AttributeValue { return &types.AttributeValueMemberN{Value: s} }
	for name, c := range map[string]struct {
		value types.AttributeValue
		want  int
	}{
		"text counts bytes":          {&types.AttributeValueMemberS{Value: "aü"}, 3},
		"raw bytes":                  {&types.AttributeValueMemberB{Value: []byte{0, 1, 2}}, 3},
		"boolean":                    {&types.AttributeValueMemberBOOL{Value: true}, 1},
		"one digit":                  {number("7"), 2},
		"two digits":                 {number("42"), 2},
		"three digits":               {number("123"), 3},
		"trailing zeros are trimmed": {number("1000000"), 2},
		"pairs begin at the point":   {number("120"), 3},
		"milliseconds":               {number("1796126400123"), 8},
		"zero":                       {number("0"), 1},
		"a sign":                     {number("-42"), 3},
		"empty list":                 {&types.AttributeValueMemberL{}, 3},
		"list": {&types.AttributeValueMemberL{Value: []types.AttributeValue{
			number("7"), &types.AttributeValueMemberS{Value: "ab"},
		}}, 3 + (1 + 2) + (1 + 2)},
		"map": {&types.AttributeValueMemberM{Value: dynamo.Item{"abc": number("7")}}, 3 + 1 + 3 + 2},
	} {
		if got := dynamo.SizeOf(c.value); got != c.want {
			t.Errorf("%s: got %d bytes, want %d", name, got, c.want)
		}
	}
	if got, want := dynamo.ItemSize(dynamo.Item{"id": &types.AttributeValueMemberS{Value: "abc"}, "n": number("7")}), 2+3+1+2; got != want {
		t.Errorf("item: got %d bytes, want names and values: %d", got, want)
	}
}

// withBody is a completed record whose item, were the body inside, would have so many bytes.
func withBody(t *testing.T, size int) dedupe.Record {
	t.Helper()
	rec := samples()["completed"]
	rec.Result = &dedupe.Result{Status: 200, Body: []byte{}}
	empty, _ := mustItems(t, rec)
	rec.Result.Body = []byte(strings.Repeat("x", size-dynamo.ItemSize(empty)))
	return rec
}

func TestResultIsInsideWhileTheWholeItemIsOneUnit(t *testing.T) {
	t.Parallel()
	record, part := mustItems(t, withBody(t, dynamo.InlineLimit))
	if part != nil || dynamo.ItemSize(record) != dynamo.InlineLimit {
		t.Errorf("got an item of %d bytes and a result apart (%v), want one item of %d", dynamo.ItemSize(record), part != nil, dynamo.InlineLimit)
	}
	record, part = mustItems(t, withBody(t, dynamo.InlineLimit+1))
	if part == nil || dynamo.ItemSize(record) > dynamo.InlineLimit {
		t.Errorf("got an item of %d bytes and a result apart (%v), want the result apart and a small item", dynamo.ItemSize(record), part != nil)
	}
	for _, name := range []string{"expires_at", "owner", "tenant", "operation", "key", "schema"} {
		if got, want := wireValue(t, part[name]), wireValue(t, record[name]); got == nil || !equalJSON(t, got, want) {
			t.Errorf("%s of the result's item is %v, want the record's: %v", name, got, want)
		}
	}
}

func TestPointerThatSavesNothingIsNotUsed(t *testing.T) {
	t.Parallel()
	rec := withBody(t, dynamo.InlineLimit)
	rec.Key = dedupe.Key{Tenant: strings.Repeat("t", 128), Operation: strings.Repeat("o", 128), ID: strings.Repeat("k", 255)}
	rec.Result.Body = []byte("a few bytes")
	if record, part := mustItems(t, rec); part != nil {
		t.Errorf("a result of %d bytes is apart, and the item has %d bytes all the same", len(rec.Result.Body), dynamo.ItemSize(record))
	}
	rec.Result.Body = []byte(strings.Repeat("x", 5000))
	if _, part := mustItems(t, rec); part == nil {
		t.Errorf("a result of 5000 bytes is inside, where every duplicate pays for it")
	}
}

// Of the ids of results: a record's begins with a digit, and two results of one operation have two.
func TestIDsOfResultsNeverMeet(t *testing.T) {
	t.Parallel()
	seen := map[string]dedupe.Record{}
	for _, owner := range []string{"", "a", "22:a", "r1:", "own-AAAAAAAAAAAAAAAAAA"} {
		for _, key := range []dedupe.Key{{Operation: "o", ID: "k"}, {Tenant: "o", Operation: "o", ID: "k"}, {Operation: "r", ID: "1:a0:1:ok"}} {
			for _, body := range []string{"x", "y"} {
				rec := samples()["completed"]
				rec.Owner, rec.Key = owner, key
				rec.Result = &dedupe.Result{Body: []byte(strings.Repeat(body, 2000))}
				record, part := mustItems(t, rec)
				if part == nil {
					t.Fatal("a result of 2000 bytes is not apart")
				}
				_, id, err := dynamo.Decode(key, record)
				if err != nil {
					t.Fatal(err)
				}
				if got := part["id"].(*types.AttributeValueMemberS).Value; got != id || !strings.HasPrefix(id, "r") {
					t.Errorf("the record points to %q, the result is at %q", id, got)
				}
				if other, ok := seen[id]; ok {
					t.Errorf("%+v and %+v keep their results at one id, %q", other, rec, id)
				}
				seen[id] = rec
			}
		}
	}
}

func TestDDB12_SizeIsCheckedBeforeTheWriteWithAllMetadata(t *testing.T) {
	t.Parallel()
	rec := samples()["completed"]
	rec.Key.ID = strings.Repeat("k", 255)
	rec.Result = &dedupe.Result{Body: []byte(strings.Repeat("x", 390<<10))}
	_, part := mustItems(t, rec)
	room := dynamo.ItemLimit - dynamo.ItemSize(part)
	rec.Result.Body = append(rec.Result.Body, strings.Repeat("x", room)...)
	if _, _, err := dynamo.Items(rec); err != nil {
		t.Errorf("an item of exactly the limit: %v", err)
	}
	rec.Result.Body = append(rec.Result.Body, 'x')
	if _, _, err := dynamo.Items(rec); !errors.Is(err, dedupe.ErrTooLarge) {
		t.Errorf("one byte more than the limit: got %v, want ErrTooLarge", err)
	}
	rec = samples()["claimed"]
	rec.Reason = strings.Repeat("x", dynamo.ItemLimit)
	if _, _, err := dynamo.Items(rec); !errors.Is(err, dedupe.ErrTooLarge) {
		t.Errorf("a record without a result: got %v, want ErrTooLarge", err)
	}
}
