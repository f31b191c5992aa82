package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// refusalsCases are about requests that must be refused.
func (w *tables) refusalsCases() []testCase {
	return []testCase{
		{"ddb.reserved_word_rejected", w.reservedWordRejected},
		{"ddb.unused_value_rejected", w.unusedValueRejected},
		{"ddb.undefined_value_rejected", w.undefinedValueRejected},
		{"ddb.syntax_error_rejected", w.syntaxErrorRejected},
		{"ddb.missing_key_rejected", w.missingKeyRejected},
		{"ddb.empty_key_rejected", w.emptyKeyRejected},
		{"ddb.key_over_2048_bytes_rejected", w.keyOver2048BytesRejected},
		{"ddb.gsi_key_wrong_type_rejected", w.gsiKeyWrongTypeRejected},
		{"ddb.update_of_key_attr_rejected", w.updateOfKeyAttrRejected},
		{"ddb.ADD_to_string_rejected", w.addToStringRejected},
		{"ddb.consumed_capacity_TOTAL", w.consumedCapacityTOTAL},
	}
}

func (w *tables) reservedWordRejected(ctx context.Context) error {
	_, err := w.client.UpdateItem(ctx, &dynamodb.UpdateItemInput{TableName: w.name(), Key: item{"pk": str("rw")}, UpdateExpression: aws.String("SET status = :x"), ExpressionAttributeValues: item{":x": str("y")}})
	if e := wantCode(err, "ValidationException"); e != nil {
		return e
	}
	if !strings.Contains(strings.ToLower(err.Error()), "reserved keyword") {
		return fmt.Errorf("message: %s", short(err))
	}
	return nil
}

func (w *tables) unusedValueRejected(ctx context.Context) error {
	_, err := w.client.UpdateItem(ctx, &dynamodb.UpdateItemInput{TableName: w.name(), Key: item{"pk": str("uv")}, UpdateExpression: aws.String("SET a = :x"), ExpressionAttributeValues: item{":x": str("y"), ":unused": str("z")}})
	return wantCode(err, "ValidationException")
}

func (w *tables) undefinedValueRejected(ctx context.Context) error {
	_, err := w.client.UpdateItem(ctx, &dynamodb.UpdateItemInput{TableName: w.name(), Key: item{"pk": str("uv")}, UpdateExpression: aws.String("SET a = :x, b = :y"), ExpressionAttributeValues: item{":x": str("y")}})
	return wantCode(err, "ValidationException")
}

func (w *tables) syntaxErrorRejected(ctx context.Context) error {
	_, err := w.client.UpdateItem(ctx, &dynamodb.UpdateItemInput{TableName: w.name(), Key: item{"pk": str("uv")}, UpdateExpression: aws.String("SET a = = :x"), ExpressionAttributeValues: item{":x": str("y")}})
	return wantCode(err, "ValidationException")
}

func (w *tables) missingKeyRejected(ctx context.Context) error {
	return wantCode(w.put(ctx, item{"other": str("x")}), "ValidationException")
}

func (w *tables) emptyKeyRejected(ctx context.Context) error {
	return wantCode(w.put(ctx, item{"pk": str("")}), "ValidationException")
}

func (w *tables) keyOver2048BytesRejected(ctx context.Context) error {
	return wantCode(w.put(ctx, item{"pk": str(strings.Repeat("k", 2049))}), "ValidationException")
}

func (w *tables) gsiKeyWrongTypeRejected(ctx context.Context) error {
	return wantCode(w.put(ctx, item{"pk": str("gk"), "gpk": num(1), "gsk": num(1)}), "ValidationException")
}

func (w *tables) updateOfKeyAttrRejected(ctx context.Context) error {
	_, err := w.client.UpdateItem(ctx, &dynamodb.UpdateItemInput{TableName: w.name(), Key: item{"pk": str("uk")}, UpdateExpression: aws.String("SET pk = :x"), ExpressionAttributeValues: item{":x": str("y")}})
	return wantCode(err, "ValidationException")
}

func (w *tables) addToStringRejected(ctx context.Context) error {
	if err := w.put(ctx, item{"pk": str("as"), "a": str("x")}); err != nil {
		return err
	}
	_, err := w.client.UpdateItem(ctx, &dynamodb.UpdateItemInput{TableName: w.name(), Key: item{"pk": str("as")}, UpdateExpression: aws.String("ADD a :x"), ExpressionAttributeValues: item{":x": num(1)}})
	return wantCode(err, "ValidationException")
}

func (w *tables) consumedCapacityTOTAL(ctx context.Context) error {
	o, err := w.client.PutItem(ctx, &dynamodb.PutItemInput{TableName: w.name(), Item: item{"pk": str("cc"), "d": str(strings.Repeat("x", 2500))}, ReturnConsumedCapacity: types.ReturnConsumedCapacityTotal})
	if err != nil {
		return err
	}
	if o.ConsumedCapacity == nil || o.ConsumedCapacity.CapacityUnits == nil {
		return errors.New("ConsumedCapacity nil")
	}
	if *o.ConsumedCapacity.CapacityUnits != 3 {
		return fmt.Errorf("2.5 KB put = %v WCU, want 3", *o.ConsumedCapacity.CapacityUnits)
	}
	g, err := w.client.GetItem(ctx, &dynamodb.GetItemInput{TableName: w.name(), Key: item{"pk": str("cc")}, ConsistentRead: aws.Bool(true), ReturnConsumedCapacity: types.ReturnConsumedCapacityTotal})
	if err != nil {
		return err
	}
	if g.ConsumedCapacity == nil || aws.ToFloat64(g.ConsumedCapacity.CapacityUnits) != 1 {
		return fmt.Errorf("get capacity %+v", g.ConsumedCapacity)
	}
	return nil
}
