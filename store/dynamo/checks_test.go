package dynamo_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/claimonce/claimonce/dedupe"
	"github.com/claimonce/claimonce/store/dynamo"
)

// An env is a store on a fresh table of some server.
type env struct {
	client *dynamodb.Client // for looking at items
	table  string
	store  *dynamo.Store
}

// newEnv sets a table up and drops it at the end.
func newEnv(t *testing.T, client *dynamodb.Client) env {
	t.Helper()
	e := env{client: client, table: "claimonce-test-" + strings.ToLower(rand.Text()[:12])}
	if _, err := dynamo.Setup(t.Context(), client, e.table); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if _, err := client.DeleteTable(context.WithoutCancel(t.Context()), &dynamodb.DeleteTableInput{TableName: &e.table}); err != nil {
			t.Errorf("dropping the table: %v", err)
		}
	})
	var err error
	if e.store, err = dynamo.New(client, e.table, dynamo.Config{}); err != nil {
		t.Fatal(err)
	}
	return e
}

// checks are what this store must pass on every server, those of other people too, beside the rules that are every store's: see
// package storetest. Each has its own key.
func checks() map[string]func(*testing.T, env) {
	return map[string]func(*testing.T, env){
		"result apart":                checkResultApart,
		"DDB12 largest result":        checkLargest,
		"newer schema":                checkNewerSchema,
		"DDB05 foreign expiry":        checkForeignExpiry,
		"KEY06 tenants":               checkTenants,
		"key longer than an id":       checkLongKey,
		"index of troubled records":   checkIndexed,
		"set-up again, and a look":    checkSetupAgain,
		"operation from end to end":   checkOperation,
		"DDB15 result bytes":          checkResultBytes,
		"DDB12 completion too large":  checkCompletionTooLarge,
		"FPR13 request in a new life": checkFreshProcess,
	}
}

// runChecks leaves out those for which faults gives a reason: what the server does otherwise than DynamoDB.
func runChecks(t *testing.T, client *dynamodb.Client, faults map[string]string) {
	t.Helper()
	e := newEnv(t, client)
	for _, name := range slices.Sorted(maps.Keys(checks())) {
		t.Run(name, func(t *testing.T) {
			if reason, ok := faults[name]; ok {
				t.Skip(reason)
			}
			checks()[name](t, e)
		})
	}
}

// keyOf is a key of its own for each test.
func keyOf(t *testing.T) dedupe.Key {
	t.Helper()
	return dedupe.Key{Tenant: "acme", Operation: "refund", ID: strings.Map(func(r rune) rune {
		if strings.ContainsRune("/ ,#", r) {
			return '_'
		}
		return r
	}, t.Name())}
}

func sample(t *testing.T, name string) dedupe.Record {
	t.Helper()
	rec, ok := samples()[name]
	if !ok {
		t.Fatalf("no sample %q", name)
	}
	rec.Key = keyOf(t)
	return rec
}

func (e env) put(t *testing.T, expect dedupe.Expect, rec dedupe.Record) {
	t.Helper()
	if _, err := e.store.Swap(t.Context(), rec.Key, expect, rec); err != nil {
		t.Fatalf("Swap: %v", err)
	}
}

func (e env) load(t *testing.T, key dedupe.Key) dedupe.Record {
	t.Helper()
	rec, err := e.store.Load(t.Context(), key)
	if err != nil {
		t.Fatalf("Load: %v", err)
	}
	return rec
}

func (e env) wantStored(t *testing.T, key dedupe.Key, want dedupe.Record) {
	t.Helper()
	if got := e.load(t, key); !reflect.DeepEqual(got, want) {
		t.Errorf("stored is\n%+v, result %+v\nwant\n%+v, result %+v", got, got.Result, want, want.Result)
	}
}

// item gives what is stored as it is; nil if nothing is.
func (e env) item(t *testing.T, id string) dynamo.Item {
	t.Helper()
	out, err := e.client.GetItem(t.Context(), &dynamodb.GetItemInput{
		TableName: &e.table, ConsistentRead: aws.Bool(true), Key: dynamo.Item{"id": &types.AttributeValueMemberS{Value: id}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return out.Item
}

func (e env) putItem(t *testing.T, it dynamo.Item) {
	t.Helper()
	if _, err := e.client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &e.table, Item: it}); err != nil {
		t.Fatal(err)
	}
}

func (e env) deleteItem(t *testing.T, id string) {
	t.Helper()
	if _, err := e.client.DeleteItem(t.Context(), &dynamodb.DeleteItemInput{
		TableName: &e.table, Key: dynamo.Item{"id": &types.AttributeValueMemberS{Value: id}},
	}); err != nil {
		t.Fatal(err)
	}
}

// apart gives the id of a record's result apart.
func (e env) apart(t *testing.T, key dedupe.Key) string {
	t.Helper()
	_, id, err := dynamo.Decode(key, e.item(t, key.StoreID()))
	if err != nil || id == "" {
		t.Fatalf("the record points to no result apart: %q, %v", id, err)
	}
	return id
}

func sampleAt(t *testing.T, key dedupe.Key) dedupe.Record {
	t.Helper()
	rec := sample(t, "claimed")
	rec.Key, rec.Revision = key, "rev-of-the-loser"
	return rec
}

func checkResultApart(t *testing.T, e env) {
	rec := sample(t, "large")
	e.put(t, dedupe.AbsentAt(noon), rec)
	id := e.apart(t, rec.Key)
	part := e.item(t, id)
	if got, want := fmt.Sprint(wireValue(t, part["expires_at"])), fmt.Sprint(wireValue(t, e.item(t, rec.Key.StoreID())["expires_at"])); got != want {
		t.Errorf("the result expires at %s, want with its record at %s", got, want)
	}
	unavailable := rec.Clone()
	unavailable.Result.Headers, unavailable.Result.Body, unavailable.Result.Unavailable = nil, nil, true

	other := rec.Clone()
	other.Result.Body[0] = 'X'
	_, forged := mustItems(t, other)
	forged["id"] = &types.AttributeValueMemberS{Value: id}
	e.putItem(t, forged)
	e.wantStored(t, rec.Key, unavailable)

	e.deleteItem(t, id)
	e.wantStored(t, rec.Key, unavailable)
	current, err := e.store.Swap(t.Context(), rec.Key, dedupe.AbsentAt(noon), sampleAt(t, rec.Key))
	if !errors.Is(err, dedupe.ErrConflict) || !reflect.DeepEqual(current, unavailable) {
		t.Errorf("the conflict shows\n%+v, %v\nwant a result that is unavailable", current.Result, err)
	}

	e.putItem(t, part)
	e.wantStored(t, rec.Key, rec)
}

func checkLargest(t *testing.T, e env) {
	rec := sample(t, "completed")
	rec.Result = &dedupe.Result{Status: 200, Body: []byte(strings.Repeat("x", 390<<10))}
	_, part := mustItems(t, rec)
	rec.Result.Body = append(rec.Result.Body, strings.Repeat("y", dynamo.ItemLimit-dynamo.ItemSize(part))...)
	e.put(t, dedupe.AbsentAt(noon), rec)
	e.wantStored(t, rec.Key, rec)

	before := sample(t, "claimed")
	before.Key.ID += "-too-large"
	e.put(t, dedupe.AbsentAt(noon), before)
	rec.Key, rec.Result.Body = before.Key, append(rec.Result.Body, "12345678901"...) // the key is longer too
	if _, err := e.store.Swap(t.Context(), rec.Key, dedupe.AtRevision(before.Revision), rec); !errors.Is(err, dedupe.ErrTooLarge) {
		t.Errorf("got %v, want ErrTooLarge", err)
	}
	e.wantStored(t, before.Key, before)
}

func checkNewerSchema(t *testing.T, e env) {
	newer := sample(t, "completed")
	newer.Schema = dedupe.SchemaVersion + 1
	e.put(t, dedupe.AbsentAt(noon), newer)
	stored := e.item(t, newer.Key.StoreID())
	if _, err := e.store.Load(t.Context(), newer.Key); !errors.Is(err, dedupe.ErrNewerSchema) {
		t.Errorf("Load: got %v, want ErrNewerSchema", err)
	}
	for name, expect := range map[string]dedupe.Expect{
		"its revision": dedupe.AtRevision(newer.Revision), "another": dedupe.AtRevision("rev-A"),
		"absence": dedupe.AbsentAt(noon), "absence, and it has expired": dedupe.AbsentAt(newer.ExpiresAt.Add(time.Hour)),
	} {
		if _, err := e.store.Swap(t.Context(), newer.Key, expect, sample(t, "released")); !errors.Is(err, dedupe.ErrNewerSchema) {
			t.Errorf("Swap expecting %s: got %v, want ErrNewerSchema", name, err)
		}
	}
	if got := e.item(t, newer.Key.StoreID()); !equalJSON(t, wireMap(t, got), wireMap(t, stored)) {
		t.Errorf("the newer item was changed")
	}
}

func checkForeignExpiry(t *testing.T, e env) {
	it, _ := mustItems(t, sample(t, "completed"))
	it["expires_at"] = &types.AttributeValueMemberN{Value: "1796126400123"}
	e.putItem(t, it)
	_, loadErr := e.store.Load(t.Context(), keyOf(t))
	_, claimErr := e.store.Swap(t.Context(), keyOf(t), dedupe.AbsentAt(noon), sample(t, "claimed"))
	for what, err := range map[string]error{"Load": loadErr, "Swap": claimErr} {
		bad, ok := errors.AsType[*dynamo.ItemError](err)
		if !ok || bad.Attribute != "expires_at" || errors.Is(err, dedupe.ErrConflict) {
			t.Errorf("%s: got %v, want an ItemError about expires_at and no conflict", what, err)
		}
	}
}

func checkTenants(t *testing.T, e env) {
	first := sample(t, "completed")
	first.Result.Body = []byte("a secret of acme")
	e.put(t, dedupe.AbsentAt(noon), first)
	for _, key := range []dedupe.Key{
		{Tenant: "evil", Operation: first.Key.Operation, ID: first.Key.ID},
		{Tenant: "acme6:refund", Operation: "refund", ID: first.Key.ID},
		{Tenant: "", Operation: "acme", ID: "6:refund" + first.Key.ID},
		{Tenant: "acme", Operation: "refun", ID: "d" + first.Key.ID},
	} {
		if got := e.load(t, key); got.State != dedupe.StateAbsent {
			t.Errorf("%v sees a record of %v", key, first.Key)
		}
		next := sampleAt(t, key)
		e.put(t, dedupe.AbsentAt(noon), next)
		e.wantStored(t, key, next)
	}
	e.wantStored(t, first.Key, first)
}

func checkLongKey(t *testing.T, e env) {
	rec := sampleAt(t, dedupe.Key{Operation: "refund", ID: strings.Repeat("k", 2048)})
	if _, err := e.store.Swap(t.Context(), rec.Key, dedupe.AbsentAt(noon), rec); !errors.Is(err, dedupe.ErrMalformedKey) {
		t.Errorf("Swap: got %v, want ErrMalformedKey", err)
	}
	if _, err := e.store.Load(t.Context(), rec.Key); !errors.Is(err, dedupe.ErrMalformedKey) {
		t.Errorf("Load: got %v, want ErrMalformedKey", err)
	}
}

func checkIndexed(t *testing.T, e env) {
	rec := fullRecord()
	rec.Key = keyOf(t)
	listed := func() bool {
		out, err := e.client.Query(t.Context(), &dynamodb.QueryInput{
			TableName: &e.table, IndexName: aws.String(dynamo.AttentionIndex),
			KeyConditionExpression: aws.String("attention_shard = :s AND attention_at <= :t"),
			ExpressionAttributeValues: dynamo.Item{
				":s": &types.AttributeValueMemberS{Value: dynamo.ShardOf(rec.Key)},
				":t": &types.AttributeValueMemberN{Value: strconv.FormatInt(rec.AttentionAt.UnixMilli(), 10)},
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		return slices.ContainsFunc(out.Items, func(it dynamo.Item) bool {
			id, ok := it["id"].(*types.AttributeValueMemberS)
			return ok && id.Value == rec.Key.StoreID()
		})
	}
	e.put(t, dedupe.AbsentAt(noon), rec)
	if !listed() {
		t.Errorf("a troubled record is not listed")
	}
	next := rec.Clone()
	next.Troubled, next.Revision = 0, "rev-next"
	e.put(t, dedupe.AtRevision(rec.Revision), next)
	if listed() {
		t.Errorf("a record without trouble is still listed")
	}
}

func checkSetupAgain(t *testing.T, e env) {
	rep, err := dynamo.Setup(t.Context(), e.client, e.table)
	if err != nil || rep.Created || len(rep.Added) > 0 || len(rep.Problems) > 0 {
		t.Errorf("got %+v, %v, want nothing to do", rep, err)
	}
	if err := e.store.Check(t.Context()); err != nil && len(rep.Warnings) == 0 {
		t.Errorf("Check: %v", err)
	}
}
