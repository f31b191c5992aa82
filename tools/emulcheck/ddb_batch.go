package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// batchCases are about batches; the first makes the items that the queries read.
func (w *tables) batchCases() []testCase {
	return []testCase{
		{"ddb.batch_write_25_and_get", w.batchWrite25AndGet},
		{"ddb.batch_write_26_rejected", w.batchWrite26Rejected},
		{"ddb.batch_write_duplicate_rejected", w.batchWriteDuplicateRejected},
	}
}

func (w *tables) batchWrite25AndGet(ctx context.Context) error {
	var wr []types.WriteRequest
	for i := range 25 {
		wr = append(wr, types.WriteRequest{PutRequest: &types.PutRequest{Item: item{
			"pk":  str(fmt.Sprintf("b%02d", i)),
			"gpk": str("G"), "gsk": num(int64(i)), "odd": num(int64(i % 2)),
		}}})
	}
	o, err := w.client.BatchWriteItem(ctx, &dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{w.table: wr}})
	if err != nil {
		return err
	}
	if len(o.UnprocessedItems) != 0 {
		return errors.New("unprocessed items")
	}
	g, err := w.client.BatchGetItem(ctx, &dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{w.table: {
		ConsistentRead: aws.Bool(true), Keys: []map[string]types.AttributeValue{{"pk": str("b00")}, {"pk": str("b24")}, {"pk": str("zz")}},
	}}})
	if err != nil {
		return err
	}
	if len(g.Responses[w.table]) != 2 {
		return fmt.Errorf("BatchGet returned %d", len(g.Responses[w.table]))
	}
	return nil
}

func (w *tables) batchWrite26Rejected(ctx context.Context) error {
	var wr []types.WriteRequest
	for i := range 26 {
		wr = append(wr, types.WriteRequest{PutRequest: &types.PutRequest{Item: item{"pk": str(fmt.Sprintf("bb%02d", i))}}})
	}
	_, err := w.client.BatchWriteItem(ctx, &dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{w.table: wr}})
	return wantCode(err, "ValidationException")
}

func (w *tables) batchWriteDuplicateRejected(ctx context.Context) error {
	p := types.WriteRequest{PutRequest: &types.PutRequest{Item: item{"pk": str("dup")}}}
	_, err := w.client.BatchWriteItem(ctx, &dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{w.table: {p, p}}})
	return wantCode(err, "ValidationException")
}
