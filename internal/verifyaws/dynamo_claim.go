package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

const absent = "attribute_not_exists(id)"

// oneClaimWins: of writers that race for one absent id exactly one wins, and every other is refused by the condition.
func oneClaimWins(ctx context.Context, w *world) error {
	const writers = 16
	for range 3 {
		id := w.next()
		errs := make(chan error, writers)
		for i := range writers {
			go func() {
				errs <- w.putIf(ctx, item{"id": text(id), "owner": number(strconv.Itoa(i))}, absent, nil)
			}()
		}
		won := 0
		var other error
		for range writers {
			err := <-errs
			if err == nil {
				won++
			} else if _, e := lost("a write", err); e != nil {
				other = e
			}
		}
		if other != nil {
			return other
		}
		if won != 1 {
			return seen("%d of %d racing claims won", won, writers)
		}
	}
	return nil
}

// refusalChangesNothing: a lost conditional write is a ConditionalCheckFailedException and leaves the item as it was.
func refusalChangesNothing(ctx context.Context, w *world) error {
	id := w.next()
	if err := w.put(ctx, item{"id": text(id), "revision": text("first")}); err != nil {
		return err
	}
	if _, err := lost("a claim of an existing id", w.putIf(ctx, item{"id": text(id), "revision": text("second")}, absent, nil)); err != nil {
		return err
	}
	it, err := w.get(ctx, id)
	if err == nil && value(it, "revision") != "first" {
		return seen("the refused write left revision %q", value(it, "revision"))
	}
	return err
}

// refusalBringsItem: with ALL_OLD the refusal holds the whole item that refused.
func refusalBringsItem(ctx context.Context, w *world) error {
	id := w.next()
	stored := item{"id": text(id), "revision": text("r"), "n": number("12"), "body": bytesOf([]byte{0, 255}), "list": &types.AttributeValueMemberL{Value: []types.AttributeValue{text("a")}}}
	if err := w.put(ctx, stored); err != nil {
		return err
	}
	it, err := lost("a claim of an existing id", w.putIf(ctx, item{"id": text(id)}, absent, nil))
	if err != nil {
		return err
	}
	if got, want := slices.Sorted(maps.Keys(it)), slices.Sorted(maps.Keys(stored)); !slices.Equal(got, want) {
		return seen("the refusal brought the attributes %v, not %v", got, want)
	}
	return nil
}

// absentBringsNone: a refusal because nothing is there brings no item.
func absentBringsNone(ctx context.Context, w *world) error {
	it, err := lost("a write on a revision of an absent id",
		w.putIf(ctx, item{"id": text(w.next())}, "revision = :r", item{":r": text("r")}))
	if err == nil && len(it) > 0 {
		return seen("the refusal brought the item %v", it)
	}
	return err
}

// consistentRead: a consistent read sees the write that was confirmed before it.
func consistentRead(ctx context.Context, w *world) error {
	id := w.next()
	for i := range 20 {
		want := strconv.Itoa(i)
		if err := w.put(ctx, item{"id": text(id), "n": number(want)}); err != nil {
			return err
		}
		it, err := w.get(ctx, id)
		if err != nil {
			return err
		}
		if got := value(it, "n"); got != want {
			return seen("a consistent read after write %s gave %q", want, got)
		}
	}
	return nil
}

// absentReadsEmpty: a read of an id that is not there is no error and has no item.
func absentReadsEmpty(ctx context.Context, w *world) error {
	it, err := w.get(ctx, w.next())
	if err == nil && len(it) > 0 {
		return seen("a read of an absent id gave %v", it)
	}
	return err
}

// missingIsFalse: a comparison with an attribute that the item lacks is false, whatever the operator.
func missingIsFalse(ctx context.Context, w *world) error {
	id := w.next()
	if err := w.put(ctx, item{"id": text(id)}); err != nil {
		return err
	}
	for _, op := range []string{"=", "<=", ">=", "<", ">"} {
		_, err := lost("a write on the condition that a missing attribute is "+op+" a number",
			w.putIf(ctx, item{"id": text(id)}, "expires_at "+op+" :t", item{":t": number("10")}))
		if err != nil {
			return err
		}
	}
	return nil
}

// numericOrder: numbers are compared by value: as text, 9 would be more than 10.
func numericOrder(ctx context.Context, w *world) error {
	id := w.next()
	it := item{"id": text(id), "expires_at": number("9")}
	if err := w.put(ctx, it); err != nil {
		return err
	}
	if err := w.putIf(ctx, it, "expires_at <= :t", item{":t": number("10")}); err != nil {
		_, e := lost("", err)
		return errors.Join(e, seen("9 <= 10 was false"))
	}
	_, err := lost("a write on the condition 9 <= 8", w.putIf(ctx, it, "expires_at <= :t", item{":t": number("8")}))
	return err
}

// claimCondition: the very condition of a claim takes absent and expired ids, and no others; the words in it may stand there as they do.
func claimCondition(ctx context.Context, w *world) error {
	const now = 1_700_000_000
	for _, c := range []struct {
		what string
		item item
		wins bool
	}{
		{"an absent id", nil, true},
		{"an expired item", item{"expires_at": number(strconv.Itoa(now)), "schema": number("1")}, true},
		{"an item that expires in a second", item{"expires_at": number(strconv.Itoa(now + 1)), "schema": number("1")}, false},
		{"an item without expiry", item{"schema": number("1")}, false},
		{"an expired item of a newer schema", item{"expires_at": number("1"), "schema": number("2")}, false},
	} {
		id := w.next()
		if c.item != nil {
			c.item["id"] = text(id)
			if err := w.put(ctx, c.item); err != nil {
				return err
			}
		}
		_, err := w.dynamo.PutItem(ctx, &dynamodb.PutItemInput{
			TableName: &w.table.name, Item: item{"id": text(id), "revision": text("new")},
			ConditionExpression:       aws.String(absent + " OR (expires_at <= :t AND #schema <= :schema)"),
			ExpressionAttributeNames:  map[string]string{"#schema": "schema"},
			ExpressionAttributeValues: item{":t": number(strconv.Itoa(now)), ":schema": number("1")},
		})
		switch {
		case c.wins && err != nil:
			_, e := lost("", err)
			return errors.Join(e, seen("a claim of %s was refused", c.what))
		case !c.wins:
			if _, err := lost("a claim of "+c.what, err); err != nil {
				return err
			}
		}
	}
	return nil
}

// putReplaces: a put leaves nothing of the item that was there.
func putReplaces(ctx context.Context, w *world) error {
	id := w.next()
	if err := w.put(ctx, item{"id": text(id), "expires_at": number("1"), "reason": text("old")}); err != nil {
		return err
	}
	if err := w.put(ctx, item{"id": text(id), "revision": text("new")}); err != nil {
		return err
	}
	it, err := w.get(ctx, id)
	if err == nil && len(it) != 2 {
		return seen("the item has %v", slices.Sorted(maps.Keys(it)))
	}
	return err
}

// repeatMeetsItself: a write whose answer was lost, repeated by the SDK, is refused, and the refusal shows the write's own revision.
func repeatMeetsItself(ctx context.Context, w *world) error {
	client := w.through(func(base aws.HTTPClient) aws.HTTPClient { return &loser{base: base} })
	id := w.next()
	_, err := client.PutItem(ctx, &dynamodb.PutItemInput{
		TableName: &w.table.name, Item: item{"id": text(id), "revision": text("own")}, ConditionExpression: aws.String(absent),
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	})
	it, err := lost("the repeat of a write whose answer was lost", err)
	if err != nil {
		return err
	}
	if got := value(it, "revision"); got != "own" {
		return seen("the repeat was refused by the revision %q, not by its own", got)
	}
	return nil
}

// datedAnswers: answers and refusals have a Date of this moment, and no Age.
func datedAnswers(ctx context.Context, w *world) error {
	rec := &recorder{}
	client := w.through(func(base aws.HTTPClient) aws.HTTPClient { rec.base = base; return rec })
	in := &dynamodb.PutItemInput{TableName: &w.table.name, Item: item{"id": text(w.next())}, ConditionExpression: aws.String(absent)}
	if _, err := client.PutItem(ctx, in); err != nil {
		return err
	}
	if _, err := client.PutItem(ctx, in); err == nil {
		return seen("a second claim was accepted")
	}
	headers := rec.headers()
	if len(headers) < 2 {
		return fmt.Errorf("%d answers instead of 2", len(headers))
	}
	for i, h := range headers {
		if err := dated(h); err != nil {
			return seen("answer %d %v", i+1, err)
		}
	}
	return nil
}
