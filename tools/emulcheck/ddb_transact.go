package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// transactCases are about transactions.
func (w *tables) transactCases() []testCase {
	return []testCase{
		{"ddb.transact_write_ok", w.transactWriteOk},
		{"ddb.transact_token_replay_applies_once", w.transactTokenReplayAppliesOnce},
		{"ddb.transact_token_other_payload_mismatch", w.transactTokenOtherPayloadMismatch},
		{"ddb.transact_cancel_reasons_with_item", w.transactCancelReasonsWithItem},
		{"ddb.transact_same_item_twice_rejected", w.transactSameItemTwiceRejected},
		{"ddb.transact_101_items_rejected", w.transact101ItemsRejected},
		{"ddb.transact_get", w.transactGet},
	}
}

func (w *tables) transactWriteOk(ctx context.Context) error {
	if err := w.put(ctx, item{"pk": str("t-guard"), "v": num(1)}); err != nil {
		return err
	}
	_, err := w.client.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{
		{Put: &types.Put{TableName: w.name(), Item: item{"pk": str("t1")}, ConditionExpression: aws.String("attribute_not_exists(pk)")}},
		{Update: &types.Update{TableName: w.name(), Key: item{"pk": str("t2")}, UpdateExpression: aws.String("ADD n :one"), ExpressionAttributeValues: item{":one": num(1)}}},
		{ConditionCheck: &types.ConditionCheck{TableName: w.name(), Key: item{"pk": str("t-guard")}, ConditionExpression: aws.String("v = :one"), ExpressionAttributeValues: item{":one": num(1)}}},
		{Delete: &types.Delete{TableName: w.name(), Key: item{"pk": str("t-none")}}},
	}})
	if err != nil {
		return err
	}
	i, err := w.get(ctx, "t2")
	if err == nil && number(i, "n") != "1" {
		err = fmt.Errorf("t2 = %v", i)
	}
	return err
}

func (w *tables) transactTokenReplayAppliesOnce(ctx context.Context) error {
	for range 3 {
		if _, err := w.client.TransactWriteItems(ctx, w.counted("tok-1-"+w.table[len(w.table)-8:], 1)); err != nil {
			return err
		}
	}
	i, err := w.get(ctx, "t3")
	if err == nil && number(i, "n") != "1" {
		err = fmt.Errorf("counter %s after 3 sends with one token, want 1", number(i, "n"))
	}
	return err
}

func (w *tables) transactTokenOtherPayloadMismatch(ctx context.Context) error {
	_, err := w.client.TransactWriteItems(ctx, w.counted("tok-2-"+w.table[len(w.table)-8:], 1))
	if err != nil {
		return err
	}
	_, err = w.client.TransactWriteItems(ctx, w.counted("tok-2-"+w.table[len(w.table)-8:], 2))
	return wantCode(err, "IdempotentParameterMismatchException")
}

func (w *tables) transactCancelReasonsWithItem(ctx context.Context) error {
	_, err := w.client.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{
		{Put: &types.Put{TableName: w.name(), Item: item{"pk": str("t9")}}},
		{Put: &types.Put{
			TableName: w.name(), Item: item{"pk": str("t-guard")}, ConditionExpression: aws.String("attribute_not_exists(pk)"),
			ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
		}},
	}})
	e, ok := errors.AsType[*types.TransactionCanceledException](err)
	if !ok {
		return fmt.Errorf("want TransactionCanceledException, got %v", err)
	}
	if len(e.CancellationReasons) != 2 {
		return fmt.Errorf("%d reasons", len(e.CancellationReasons))
	}
	r := e.CancellationReasons
	if aws.ToString(r[0].Code) != "None" || aws.ToString(r[1].Code) != "ConditionalCheckFailed" {
		return fmt.Errorf("codes %q %q", aws.ToString(r[0].Code), aws.ToString(r[1].Code))
	}
	if number(r[1].Item, "v") != "1" {
		return fmt.Errorf("reason item = %v", r[1].Item)
	}
	i, err := w.get(ctx, "t9")
	if err == nil && len(i) != 0 {
		err = errors.New("t9 was written: not atomic")
	}
	return err
}

func (w *tables) transactSameItemTwiceRejected(ctx context.Context) error {
	_, err := w.client.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{
		{Put: &types.Put{TableName: w.name(), Item: item{"pk": str("t10")}}},
		{Delete: &types.Delete{TableName: w.name(), Key: item{"pk": str("t10")}}},
	}})
	return wantCode(err, "ValidationException")
}

func (w *tables) transact101ItemsRejected(ctx context.Context) error {
	var ti []types.TransactWriteItem
	for i := range 101 {
		ti = append(ti, types.TransactWriteItem{Put: &types.Put{TableName: w.name(), Item: item{"pk": str(fmt.Sprintf("tt%d", i))}}})
	}
	_, err := w.client.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: ti})
	return wantCode(err, "ValidationException")
}

func (w *tables) transactGet(ctx context.Context) error {
	o, err := w.client.TransactGetItems(ctx, &dynamodb.TransactGetItemsInput{TransactItems: []types.TransactGetItem{
		{Get: &types.Get{TableName: w.name(), Key: item{"pk": str("t-guard")}}}, {Get: &types.Get{TableName: w.name(), Key: item{"pk": str("absent")}}},
	}})
	if err != nil {
		return err
	}
	if len(o.Responses) != 2 || number(o.Responses[0].Item, "v") != "1" || len(o.Responses[1].Item) != 0 {
		return fmt.Errorf("responses %v", o.Responses)
	}
	return nil
}
