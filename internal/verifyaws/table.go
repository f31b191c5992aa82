package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// table is the run's own, of the form that store/dynamo gives it.
type table struct {
	name  string
	ready chan struct{} // closed when it can be used, or when it is clear that it cannot
	err   error         // set before ready is closed
}

const (
	indexName = "attention"
	attrShard = "attention_shard"
	attrAt    = "attention_at"
)

type item = map[string]types.AttributeValue

func text(v string) types.AttributeValue   { return &types.AttributeValueMemberS{Value: v} }
func number(v string) types.AttributeValue { return &types.AttributeValueMemberN{Value: v} }
func bytesOf(v []byte) types.AttributeValue {
	return &types.AttributeValueMemberB{Value: v}
}

func tableInput(name string) *dynamodb.CreateTableInput {
	return &dynamodb.CreateTableInput{
		TableName: &name, BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{
			{AttributeName: aws.String("id"), AttributeType: types.ScalarAttributeTypeS},
			{AttributeName: aws.String(attrShard), AttributeType: types.ScalarAttributeTypeS},
			{AttributeName: aws.String(attrAt), AttributeType: types.ScalarAttributeTypeN},
		},
		KeySchema: []types.KeySchemaElement{{AttributeName: aws.String("id"), KeyType: types.KeyTypeHash}},
		GlobalSecondaryIndexes: []types.GlobalSecondaryIndex{{
			IndexName: aws.String(indexName),
			KeySchema: []types.KeySchemaElement{
				{AttributeName: aws.String(attrShard), KeyType: types.KeyTypeHash},
				{AttributeName: aws.String(attrAt), KeyType: types.KeyTypeRange},
			},
			Projection: &types.Projection{ProjectionType: types.ProjectionTypeKeysOnly},
		}},
		Tags: []types.Tag{{Key: aws.String(tagName), Value: aws.String(tagValue)}},
	}
}

// tableTime: a table with an index takes seconds to appear, on a bad day a minute.
const tableTime = 90 * time.Second

func (t *table) create(ctx context.Context, w *world) {
	defer close(t.ready)
	w.noteTable(t.name)
	if _, err := w.dynamo.CreateTable(ctx, tableInput(t.name)); err != nil {
		t.err = fmt.Errorf("the table could not be created: %w", err)
		return
	}
	if err := within(ctx, tableTime, func() error { return t.active(ctx, w) }); err != nil {
		t.err = fmt.Errorf("the table did not become active: %w", err)
	}
}

func (t *table) active(ctx context.Context, w *world) error {
	out, err := w.dynamo.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: &t.name})
	if err != nil {
		return err
	}
	if out.Table.TableStatus != types.TableStatusActive {
		return fmt.Errorf("its status is %s", out.Table.TableStatus)
	}
	for _, x := range out.Table.GlobalSecondaryIndexes {
		if x.IndexStatus != types.IndexStatusActive {
			return fmt.Errorf("the status of its index %s is %q", aws.ToString(x.IndexName), x.IndexStatus)
		}
	}
	return nil
}

// onTable makes a check wait for the table.
func onTable(c check) check {
	return func(ctx context.Context, w *world) error {
		select {
		case <-w.table.ready:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		if w.table.err != nil {
			return w.table.err
		}
		return c(ctx, w)
	}
}

func (w *world) put(ctx context.Context, it item) error {
	_, err := w.dynamo.PutItem(ctx, &dynamodb.PutItemInput{TableName: &w.table.name, Item: it})
	return err
}

// putIf asks for the item that refuses the write, as the store does.
func (w *world) putIf(ctx context.Context, it item, condition string, values item) error {
	in := &dynamodb.PutItemInput{
		TableName: &w.table.name, Item: it, ConditionExpression: &condition,
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	}
	if len(values) > 0 {
		in.ExpressionAttributeValues = values
	}
	_, err := w.dynamo.PutItem(ctx, in)
	return err
}

func (w *world) get(ctx context.Context, id string) (item, error) {
	out, err := w.dynamo.GetItem(ctx, &dynamodb.GetItemInput{TableName: &w.table.name, Key: item{"id": text(id)}, ConsistentRead: aws.Bool(true)})
	if err != nil {
		return nil, err
	}
	return out.Item, nil
}

// lost finds that a conditional write was refused by its condition, and gives the item that came with the refusal.
func lost(what string, err error) (item, error) {
	if err == nil {
		return nil, seen("%s was accepted", what)
	}
	failed, ok := errors.AsType[*types.ConditionalCheckFailedException](err)
	if !ok {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	return failed.Item, nil
}

// value is a text or number of an item; "" if there is none.
func value(it item, name string) string {
	switch v := it[name].(type) {
	case *types.AttributeValueMemberS:
		return v.Value
	case *types.AttributeValueMemberN:
		return v.Value
	}
	return ""
}
