package dynamo_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/claimonce/claimonce/awstest"
	"github.com/claimonce/claimonce/dedupe"
	"github.com/claimonce/claimonce/store/dynamo"
)

var _ dedupe.Transactor[types.TransactWriteItem] = (*dynamo.Store)(nil)

// A till is a rig with a table of the application's.
type till struct {
	rig

	sales string
}

func newTill(t *testing.T) till {
	t.Helper()
	r := tillOn(t, newRig(t))
	r.server.ResetCalls()
	return r
}

func tillOn(t *testing.T, base rig) till {
	t.Helper()
	r := till{base, base.table + "-sales"}
	if _, err := r.client.CreateTable(t.Context(), &dynamodb.CreateTableInput{
		TableName: &r.sales, BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("sale"), AttributeType: types.ScalarAttributeTypeS}},
		KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("sale"), KeyType: types.KeyTypeHash}},
	}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if _, err := r.client.DeleteTable(context.WithoutCancel(t.Context()), &dynamodb.DeleteTableInput{TableName: &r.sales}); err != nil {
			t.Errorf("dropping the table: %v", err)
		}
	})
	return r
}

func text(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

// add counts, so that a write applied twice is seen.
func (r till) add(sale string) types.TransactWriteItem {
	return types.TransactWriteItem{Update: &types.Update{
		TableName: &r.sales, Key: dynamo.Item{"sale": text(sale)}, UpdateExpression: aws.String("ADD n :one"),
		ExpressionAttributeValues: dynamo.Item{":one": &types.AttributeValueMemberN{Value: "1"}},
	}}
}

// sold is a sale that must be new.
func (r till) sold(sale string) types.TransactWriteItem {
	return types.TransactWriteItem{Put: &types.Put{
		TableName: &r.sales, Item: dynamo.Item{"sale": text(sale), "n": &types.AttributeValueMemberN{Value: "1"}},
		ConditionExpression:                 aws.String("attribute_not_exists(sale)"),
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	}}
}

func (r till) count(t *testing.T, sale string) string {
	t.Helper()
	out, err := r.client.GetItem(t.Context(), &dynamodb.GetItemInput{
		TableName: &r.sales, ConsistentRead: aws.Bool(true), Key: dynamo.Item{"sale": text(sale)},
	})
	if err != nil {
		t.Fatal(err)
	}
	if n, ok := out.Item["n"].(*types.AttributeValueMemberN); ok {
		return n.Value
	}
	return "0"
}

// claimed stores a claim and gives its completion, not yet written.
func (r till) claimed(t *testing.T, name string) (claim, completion dedupe.Record, expect dedupe.Expect) {
	t.Helper()
	claim, completion = sample(t, "claimed"), sample(t, name)
	r.put(t, dedupe.AbsentAt(noon), claim)
	r.server.ResetCalls()
	return claim, completion, dedupe.AtRevision(claim.Revision)
}

func (r till) swapWith(t *testing.T, expect dedupe.Expect, next dedupe.Record, with ...types.TransactWriteItem) (dedupe.Record, error) {
	t.Helper()
	return r.store.SwapWith(t.Context(), next.Key, expect, next, with)
}

// checkTransactions is for every server that has transactions, those of other people too.
func checkTransactions(t *testing.T, r till) {
	claim, next := sample(t, "claimed"), sample(t, "large")
	next.Revision = "rev-" + rand.Text() // servers remember the token that is made of it, over runs
	r.put(t, dedupe.AbsentAt(noon), claim)
	expect := dedupe.AtRevision(claim.Revision)
	if _, err := r.swapWith(t, expect, next, r.add("s-1"), r.sold("s-2")); err != nil {
		t.Fatal(err)
	}
	r.wantStored(t, next.Key, next)
	repeated, err := r.swapWith(t, expect, next, r.add("s-1"), r.sold("s-2"))
	if own := errors.Is(err, dedupe.ErrConflict) && repeated.Revision == next.Revision; err != nil && !own {
		t.Errorf("the repeat: %q, %v, want success, or a conflict with its own revision", repeated.Revision, err)
	}
	rival := next.Clone()
	rival.Revision = "rev-" + rand.Text()
	if current, err := r.swapWith(t, expect, rival, r.add("s-1")); !errors.Is(err, dedupe.ErrConflict) || !reflect.DeepEqual(current, next) {
		t.Errorf("a rival: got %+v, %v, want a conflict that shows the winner", current, err)
	}
	_, err = r.swapWith(t, dedupe.AtRevision(next.Revision), rival, r.add("s-1"), r.sold("s-2"))
	c, ok := errors.AsType[*dynamo.CancelledError](err)
	if !ok || !errors.Is(err, dedupe.ErrRejected) || c.Index != 1 || c.Code != "ConditionalCheckFailed" {
		t.Errorf("another write's condition: got %v, want it rejected", err)
	}
	r.wantStored(t, next.Key, next)
	if one, two := r.count(t, "s-1"), r.count(t, "s-2"); one != "1" || two != "1" {
		t.Errorf("counts %s and %s, want one each", one, two)
	}
}

func TestTransactions(t *testing.T) { inBubble(t, checkTransactions) }

func inBubble(t *testing.T, f func(*testing.T, till)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) { f(t, newTill(t)) })
}

func TestTransactionWritesAllOrNothing(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"completed", "large"} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, r till) {
				_, next, expect := r.claimed(t, name)
				r.requests(t, "the transaction, a result apart with it", 1, func() {
					if got, err := r.swapWith(t, expect, next, r.add("s-1"), r.sold("s-2")); err != nil || !reflect.DeepEqual(got, next) {
						t.Fatalf("got %+v, %v, want what was written", got, err)
					}
				})
				r.wantStored(t, next.Key, next)
				if one, two := r.count(t, "s-1"), r.count(t, "s-2"); one != "1" || two != "1" {
					t.Errorf("counts %s and %s, want one each", one, two)
				}
			})
		})
	}
}

func TestTransactionClaimsWhatIsAbsent(t *testing.T) {
	inBubble(t, func(t *testing.T, r till) {
		rec := sample(t, "claimed")
		if _, err := r.swapWith(t, dedupe.AbsentAt(noon), rec, r.add("s-1")); err != nil {
			t.Fatal(err)
		}
		rival := rec
		rival.Revision = "another"
		current, err := r.swapWith(t, dedupe.AbsentAt(noon), rival, r.add("s-1"))
		if !errors.Is(err, dedupe.ErrConflict) || current.Revision != rec.Revision {
			t.Errorf("got %q, %v, want a conflict with the first", current.Revision, err)
		}
		if n := r.count(t, "s-1"); n != "1" {
			t.Errorf("counted %s, want 1: the rival's write must not land", n)
		}
	})
}

// Nothing beside the record: the cheaper single write.
func TestTransactionOfOneIsAPut(t *testing.T) {
	inBubble(t, func(t *testing.T, r till) {
		_, next, expect := r.claimed(t, "completed")
		if _, err := r.swapWith(t, expect, next); err != nil || r.server.Count("PutItem") != 1 || r.server.Count("") != 1 {
			t.Errorf("got %v after %d puts of %d calls, want one put", err, r.server.Count("PutItem"), r.server.Count(""))
		}
	})
}

// The record's own condition decides, whatever else is wrong.
func TestDDB13_ConflictShowsTheWinner(t *testing.T) {
	t.Parallel()
	for name, with := range map[string]func(till) types.TransactWriteItem{
		"others fine": func(r till) types.TransactWriteItem { return r.add("s-1") },
		"another condition is not met either": func(r till) types.TransactWriteItem {
			w := r.sold("s-1")
			w.Put.ConditionExpression = aws.String("attribute_exists(sale)")
			return w
		},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, r till) {
				_, next, expect := r.claimed(t, "completed")
				winner := sample(t, "large")
				winner.Revision = "rev-W"
				r.put(t, expect, winner)
				current, err := r.swapWith(t, expect, next, with(r))
				if !errors.Is(err, dedupe.ErrConflict) || errors.Is(err, dedupe.ErrRejected) || !reflect.DeepEqual(current, winner) {
					t.Errorf("got %+v, %v, want a conflict that shows the winner with its result", current, err)
				}
				if n := r.count(t, "s-1"); n != "0" {
					t.Errorf("counted %s, want nothing written", n)
				}
			})
		})
	}
}

func TestDDB13_RefusalOfAnotherWriteIsNoConflict(t *testing.T) {
	inBubble(t, func(t *testing.T, r till) {
		claim, next, expect := r.claimed(t, "large")
		other := r.sold("s-1")
		if _, err := r.client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &r.sales, Item: other.Put.Item}); err != nil {
			t.Fatal(err)
		}
		_, err := r.swapWith(t, expect, next, r.add("s-2"), other)
		c, ok := errors.AsType[*dynamo.CancelledError](err)
		if !ok || !errors.Is(err, dedupe.ErrRejected) || errors.Is(err, dedupe.ErrConflict) {
			t.Fatalf("got %v, want that a write beside the record was refused", err)
		}
		if c.Index != 1 || c.Code != "ConditionalCheckFailed" || !reflect.DeepEqual(c.Item["sale"], text("s-1")) {
			t.Errorf("got write %d, %s, item %v, want the second one with its item", c.Index, c.Code, c.Item)
		}
		if !strings.Contains(err.Error(), "write 1 beside the record") || strings.Contains(err.Error(), "s-1") {
			t.Errorf("the error says %q, want which write, and nothing of the item", err)
		}
		r.wantStored(t, next.Key, claim)
		if n := r.count(t, "s-2"); n != "0" {
			t.Errorf("counted %s, want nothing written", n)
		}
		// The claim is still there, so that it can be released.
		released := sample(t, "released")
		released.Revision = "rev-R"
		r.put(t, expect, released)
		if _, err := r.swapWith(t, expect, next, r.add("s-2")); !errors.Is(err, dedupe.ErrConflict) {
			t.Errorf("a transaction that comes after the release: %v, want a conflict", err)
		}
	})
}

// Repeats of one transaction whose answers were lost: by the SDK, by the caller within the token's ten minutes, and after them.
func TestTransactionWhoseAnswerWasLostIsAppliedOnce(t *testing.T) {
	t.Parallel()
	for name, later := range map[string]time.Duration{"at once": 0, "when the token is forgotten": 11 * time.Minute} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, r till) {
				_, next, expect := r.claimed(t, "large")
				remove := r.server.Inject(awstest.DropAnswer("TransactWriteItems"))
				// It is its own sale that refuses its repeat.
				with := []types.TransactWriteItem{r.add("s-1"), r.sold("s-2")}
				if _, err := r.swapWith(t, expect, next, with...); err == nil || errors.Is(err, dedupe.ErrConflict) || errors.Is(err, dedupe.ErrRejected) {
					t.Errorf("got %v, want an error that leaves it open", err)
				}
				remove()
				pass(later)
				current, err := r.swapWith(t, expect, next, with...)
				if own := errors.Is(err, dedupe.ErrConflict) && current.Revision == next.Revision; err != nil && !own {
					t.Errorf("the repeat: %q, %v, want success, or a conflict with its own revision", current.Revision, err)
				}
				if n := r.count(t, "s-1"); n != "1" {
					t.Errorf("counted %s after several tries, want 1", n)
				}
				r.wantStored(t, next.Key, next)
				tokens := map[string]bool{}
				for _, c := range r.server.Calls() {
					if c.Operation == "TransactWriteItems" {
						_, after, _ := strings.Cut(string(c.Body), `"ClientRequestToken":"`)
						token, _, _ := strings.Cut(after, `"`)
						tokens[token] = true
						if len(token) == 0 || len(token) > 36 {
							t.Errorf("token %q, want 1 to 36 characters", token)
						}
					}
				}
				if len(tokens) != 1 || r.server.Count("TransactWriteItems") < 4 {
					t.Errorf("tokens %v in %d tries, want one in all", tokens, r.server.Count("TransactWriteItems"))
				}
			})
		})
	}
}

// Another write has another token, of the same record and of others.
func TestTransactionTokensDiffer(t *testing.T) {
	inBubble(t, func(t *testing.T, r till) {
		_, first, expect := r.claimed(t, "completed")
		if _, err := r.swapWith(t, expect, first, r.add("s-1")); err != nil {
			t.Fatal(err)
		}
		second := first
		second.Revision = "rev-2"
		if _, err := r.swapWith(t, dedupe.AtRevision(first.Revision), second, r.add("s-1")); err != nil {
			t.Fatal(err)
		}
		elsewhere := first
		elsewhere.Key.ID = "another"
		if _, err := r.swapWith(t, dedupe.AbsentAt(noon), elsewhere, r.add("s-1")); err != nil {
			t.Fatal(err)
		}
		if n := r.count(t, "s-1"); n != "3" {
			t.Errorf("counted %s, want 3", n)
		}
	})
}

func TestOtherWritesUnderOneTokenAreNoticed(t *testing.T) {
	inBubble(t, func(t *testing.T, r till) {
		claim, next, expect := r.claimed(t, "completed")
		if _, err := r.swapWith(t, expect, next, r.add("s-1")); err != nil {
			t.Fatal(err)
		}
		current, err := r.swapWith(t, expect, next, r.add("s-2"))
		if !errors.Is(err, dedupe.ErrConflict) || current.Revision != next.Revision {
			t.Errorf("got %q, %v, want a conflict with what landed", current.Revision, err)
		}
		// The token is used, and yet the record is as it was.
		record, _ := mustItems(t, claim)
		r.putItem(t, record)
		if _, err := r.swapWith(t, expect, next, r.add("s-2")); !errors.Is(err, dedupe.ErrSetup) || !strings.Contains(err.Error(), "give the same ones") {
			t.Errorf("got %v, want that the writes must be the same", err)
		}
		if n := r.count(t, "s-2"); n != "0" {
			t.Errorf("counted %s, want 0", n)
		}
	})
}

func TestWritesThatCannotBeBesideARecordAreRefusedWithoutACall(t *testing.T) {
	inBubble(t, func(t *testing.T, r till) {
		_, next, expect := r.claimed(t, "completed")
		check := func(table, id string) types.TransactWriteItem {
			return types.TransactWriteItem{ConditionCheck: &types.ConditionCheck{
				TableName: &table, Key: dynamo.Item{"id": text(id)}, ConditionExpression: aws.String("attribute_not_exists(id)"),
			}}
		}
		own, arn := r.table, "arn:aws:dynamodb:eu-central-1:000000000000:table/"+r.table
		key := dynamo.Item{"id": text("x")}
		many := make([]types.TransactWriteItem, dynamo.MaxWith+1)
		for i := range many {
			many[i] = r.add(fmt.Sprint("s-", i))
		}
		two := r.add("s-1")
		two.Delete = &types.Delete{TableName: &r.sales, Key: dynamo.Item{"sale": text("s-2")}}
		for name, with := range map[string][]types.TransactWriteItem{
			"at most 98":             many,
			"write 1":                {r.add("s-1"), {}},
			"2 of Put":               {two},
			"names no table":         {{Delete: &types.Delete{Key: key}}},
			"the records":            {{Put: &types.Put{TableName: &own, Item: key}}},
			"holds the records":      {{Delete: &types.Delete{TableName: &own, Key: key}}},
			"use a table":            {{Update: &types.Update{TableName: &arn, Key: key}}},
			"the very record":        {check(own, next.Key.StoreID())},
			"whose condition is the": {check(arn, next.Key.StoreID())},
		} {
			r.requests(t, name, 0, func() {
				if _, err := r.swapWith(t, expect, next, with...); !errors.Is(err, dedupe.ErrSetup) || !strings.Contains(err.Error(), name) {
					t.Errorf("got %v, want it to say %q", err, name)
				}
			})
		}
		if _, err := r.swapWith(t, expect, next, append(many[:dynamo.MaxWith-1], check(own, "another"))...); err != nil {
			t.Errorf("as many as there may be, and a look at another record: %v", err)
		}
	})
}

// What is wrong may be the application's table or permission: the texts do not point to the records' table alone.
func TestErrorsOfATransactionNameWhatItNeeds(t *testing.T) {
	t.Parallel()
	for code, c := range map[string]struct {
		says  string
		setup bool
	}{
		"ResourceNotFoundException":   {"-sales)", true},
		"ValidationException":         {"a write beside the record is malformed", true},
		"AccessDeniedException":       {"for each other write its own", false},
		"UnrecognizedClientException": {"credentials are not accepted", false},
		"InternalServerError":         {"InternalServerError", false},
	} {
		t.Run(code, func(t *testing.T) {
			inBubble(t, func(t *testing.T, r till) {
				_, next, expect := r.claimed(t, "completed")
				r.server.Inject(awstest.FailBefore("TransactWriteItems", 400, code))
				_, err := r.swapWith(t, expect, next, r.add("s-1"), r.add("s-2"))
				if err == nil || errors.Is(err, dedupe.ErrSetup) != c.setup || errors.Is(err, dedupe.ErrConflict) || errors.Is(err, dedupe.ErrRejected) {
					t.Errorf("got %v, want an error of the set-up: %v", err, c.setup)
				}
				if !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), code) {
					t.Errorf("got %v, want it to say %q", err, c.says)
				}
			})
		})
	}
}

func TestTransactionsRefuseWhatSwapsRefuse(t *testing.T) {
	inBubble(t, func(t *testing.T, r till) {
		rec := sample(t, "claimed")
		for name, key := range map[string]dedupe.Key{"another": {Operation: "refund", ID: "x"}, "no UTF-8": {Operation: "refund", ID: "\xff"}} {
			if _, err := r.store.SwapWith(t.Context(), key, dedupe.AbsentAt(noon), rec, []types.TransactWriteItem{r.add("s")}); err == nil {
				t.Errorf("key %s was accepted", name)
			}
		}
		if n := r.server.Count(""); n != 0 {
			t.Errorf("%d calls, want none", n)
		}
	})
}

// answers is a store whose server answers calls of an operation with what is queued, one after the other, and all else by itself. It
// counts all requests.
func (r till) answers(t *testing.T, operation string, queued ...string) (s *dynamo.Store, requests *int) {
	t.Helper()
	base, n := r.server.Client(), 0
	s, err := dynamo.New(clientWith(way(func(req *http.Request) (*http.Response, error) {
		n++
		if len(queued) == 0 || !strings.HasSuffix(req.Header.Get("X-Amz-Target"), "."+operation) {
			return base.Do(req)
		}
		body := queued[0]
		queued = queued[1:]
		return refusalOf(body), nil
	})), r.table, dynamo.Config{})
	if err != nil {
		t.Fatal(err)
	}
	return s, &n
}
