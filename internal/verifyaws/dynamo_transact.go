package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

func (w *world) transact(ctx context.Context, token string, puts ...types.Put) error {
	in := &dynamodb.TransactWriteItemsInput{}
	if token != "" {
		in.ClientRequestToken = &token
	}
	for _, p := range puts {
		p.TableName = &w.table.name
		p.ReturnValuesOnConditionCheckFailure = types.ReturnValuesOnConditionCheckFailureAllOld
		in.TransactItems = append(in.TransactItems, types.TransactWriteItem{Put: &p})
	}
	_, err := w.dynamo.TransactWriteItems(ctx, in)
	return err
}

func claimOf(id string) types.Put {
	return types.Put{Item: item{"id": text(id), "revision": text("new")}, ConditionExpression: aws.String(absent)}
}

// cancelled gives the reasons of a transaction that did not happen.
func cancelled(err error) ([]types.CancellationReason, error) {
	if err == nil {
		return nil, seen("a transaction with a condition that is false was accepted")
	}
	c, ok := errors.AsType[*types.TransactionCanceledException](err)
	if !ok {
		return nil, err
	}
	return c.CancellationReasons, nil
}

// reasonsInOrder: a cancelled transaction has a reason for each action in its order; that of a failed condition brings the item.
func reasonsInOrder(ctx context.Context, w *world) error {
	taken := w.next()
	if err := w.put(ctx, item{"id": text(taken), "revision": text("old")}); err != nil {
		return err
	}
	reasons, err := cancelled(w.transact(ctx, "", claimOf(w.next()), claimOf(taken)))
	if err != nil {
		return err
	}
	if len(reasons) != 2 {
		return seen("%d reasons for 2 actions", len(reasons))
	}
	if a, b := aws.ToString(reasons[0].Code), aws.ToString(reasons[1].Code); a != "None" || b != "ConditionalCheckFailed" {
		return seen("the reasons are %q and %q", a, b)
	}
	if got := value(reasons[1].Item, "revision"); got != "old" {
		return seen("the reason brought the item %v", reasons[1].Item)
	}
	return nil
}

// allOrNothing: a cancelled transaction has written nothing.
func allOrNothing(ctx context.Context, w *world) error {
	free, taken := w.next(), w.next()
	if err := w.put(ctx, item{"id": text(taken)}); err != nil {
		return err
	}
	if _, err := cancelled(w.transact(ctx, "", claimOf(free), claimOf(taken))); err != nil {
		return err
	}
	it, err := w.get(ctx, free)
	if err == nil && len(it) > 0 {
		return seen("one of the actions of a cancelled transaction was written")
	}
	return err
}

// tokenOnce: the same transaction with the same token, of 36 characters, succeeds again and is not applied again.
func tokenOnce(ctx context.Context, w *world) error {
	id, token := w.next(), (rand.Text() + rand.Text())[:36]
	if err := w.transact(ctx, token, claimOf(id)); err != nil {
		return err
	}
	if err := w.transact(ctx, token, claimOf(id)); err != nil {
		if _, e := cancelled(err); e == nil {
			return seen("the repeat was cancelled by its own first try")
		}
		return err
	}
	return nil
}

// tokenMismatch: another transaction with the same token is refused.
func tokenMismatch(ctx context.Context, w *world) error {
	token := rand.Text()
	if err := w.transact(ctx, token, claimOf(w.next())); err != nil {
		return err
	}
	return refused("another transaction with the same token", w.transact(ctx, token, claimOf(w.next())), "IdempotentParameterMismatchException")
}

// oneActionAnItem: two actions on one item are refused as a whole.
func oneActionAnItem(ctx context.Context, w *world) error {
	id := w.next()
	return refused("a transaction with two actions on one item", w.transact(ctx, "", claimOf(id), claimOf(id)), "ValidationException")
}

// hundredActions: a transaction has up to 100 actions.
func hundredActions(ctx context.Context, w *world) error {
	base := w.next()
	var puts []types.Put
	for i := range 101 {
		puts = append(puts, claimOf(base+"/"+strconv.Itoa(i)))
	}
	if err := w.transact(ctx, "", puts[:100]...); err != nil {
		return fmt.Errorf("a transaction of 100 actions: %w", err)
	}
	return refused("a transaction of 101 actions", w.transact(ctx, "", puts...), "ValidationException")
}

// eachReasonIsTold: where several conditions are false, each action has its own reason: that of the record decides, and another must not
// hide it.
func eachReasonIsTold(ctx context.Context, w *world) error {
	var puts []types.Put
	for range 3 {
		id := w.next()
		if err := w.put(ctx, item{"id": text(id), "revision": text("old")}); err != nil {
			return err
		}
		puts = append(puts, claimOf(id))
	}
	reasons, err := cancelled(w.transact(ctx, "", puts...))
	if err != nil {
		return err
	}
	for i, r := range reasons {
		if aws.ToString(r.Code) != "ConditionalCheckFailed" || value(r.Item, "revision") != "old" {
			return seen("of three false conditions, reason %d is %q with the item %v", i, aws.ToString(r.Code), r.Item)
		}
	}
	return nil
}

// doubleUnits: a write in a transaction is billed two units for each 1,024 bytes begun.
func doubleUnits(ctx context.Context, w *world) error {
	for size, want := range map[int]float64{unit: 2, unit + 1: 4} {
		out, err := w.dynamo.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{
			ReturnConsumedCapacity: types.ReturnConsumedCapacityTotal,
			TransactItems:          []types.TransactWriteItem{{Put: &types.Put{TableName: &w.table.name, Item: sized(w.next(), size)}}},
		})
		if err != nil {
			return err
		}
		if len(out.ConsumedCapacity) != 1 {
			return seen("the answer does not say what was billed: %v", out.ConsumedCapacity)
		}
		if got := aws.ToFloat64(out.ConsumedCapacity[0].CapacityUnits); got != want {
			return seen("a transaction that writes %d bytes was billed %g units, not %g", size, got, want)
		}
	}
	return nil
}

// tooLargeInTransaction: an item that is too large is told by the same text, as an error or as a reason.
func tooLargeInTransaction(ctx context.Context, w *world) error {
	err := w.transact(ctx, "", types.Put{Item: sized(w.next(), itemLimit+1)})
	if err == nil {
		return seen("a transaction with an item of 409,601 bytes was accepted")
	}
	said := err.Error()
	if c, ok := errors.AsType[*types.TransactionCanceledException](err); ok {
		for _, r := range c.CancellationReasons {
			if aws.ToString(r.Code) == "ValidationError" {
				said = aws.ToString(r.Message)
			}
		}
	} else if e := refused("a transaction with an item of 409,601 bytes", err, "ValidationException"); e != nil {
		return e
	}
	if !strings.Contains(said, "maximum allowed size") {
		return seen("the text of the refusal is %q: the store looks for \"maximum allowed size\"", said)
	}
	return nil
}
