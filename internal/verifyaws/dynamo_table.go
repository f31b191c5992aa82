package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// tableAsCreated: the description shows billing, keys, index and projection as they were asked for.
func tableAsCreated(ctx context.Context, w *world) error {
	out, err := w.dynamo.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: &w.table.name})
	if err != nil {
		return err
	}
	t := out.Table
	switch {
	case t.BillingModeSummary == nil || t.BillingModeSummary.BillingMode != types.BillingModePayPerRequest:
		return seen("the table's billing is %+v, not on demand", t.BillingModeSummary)
	case len(t.KeySchema) != 1 || aws.ToString(t.KeySchema[0].AttributeName) != "id" || len(t.AttributeDefinitions) != 3:
		return seen("the table's key is %+v", t.KeySchema)
	case len(t.GlobalSecondaryIndexes) != 1:
		return seen("the table has %d indexes, not 1", len(t.GlobalSecondaryIndexes))
	}
	x := t.GlobalSecondaryIndexes[0]
	if len(x.KeySchema) != 2 || x.Projection == nil || x.Projection.ProjectionType != types.ProjectionTypeKeysOnly {
		return seen("the index is %+v with projection %+v", x.KeySchema, x.Projection)
	}
	return nil
}

// createTwice: a table that exists is told by its own error.
func createTwice(ctx context.Context, w *world) error {
	_, err := w.dynamo.CreateTable(ctx, tableInput(w.table.name))
	if _, ok := errors.AsType[*types.ResourceInUseException](err); ok {
		return nil
	}
	return refused("a table of a name that is taken", err, "ResourceInUseException")
}

// missingTable: calls on a table that does not exist say so by type.
func missingTable(ctx context.Context, w *world) error {
	name := w.next()
	_, described := w.dynamo.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: &name})
	_, put := w.dynamo.PutItem(ctx, &dynamodb.PutItemInput{TableName: &name, Item: item{"id": text("x")}})
	for what, err := range map[string]error{"DescribeTable": described, "PutItem": put} {
		if _, ok := errors.AsType[*types.ResourceNotFoundException](err); !ok {
			return refused(what+" on a missing table", err, "ResourceNotFoundException")
		}
	}
	return nil
}

// ttlIsTold: TTL can be switched on for expires_at, and the description names the attribute at once.
func ttlIsTold(ctx context.Context, w *world) error {
	before, err := w.dynamo.DescribeTimeToLive(ctx, &dynamodb.DescribeTimeToLiveInput{TableName: &w.table.name})
	if err != nil {
		return err
	}
	if d := before.TimeToLiveDescription; d != nil && d.TimeToLiveStatus != types.TimeToLiveStatusDisabled {
		return seen("the TTL of a new table is %q", d.TimeToLiveStatus)
	}
	_, err = w.dynamo.UpdateTimeToLive(ctx, &dynamodb.UpdateTimeToLiveInput{
		TableName:               &w.table.name,
		TimeToLiveSpecification: &types.TimeToLiveSpecification{AttributeName: aws.String("expires_at"), Enabled: aws.Bool(true)},
	})
	if err != nil {
		return err
	}
	after, err := w.dynamo.DescribeTimeToLive(ctx, &dynamodb.DescribeTimeToLiveInput{TableName: &w.table.name})
	if err != nil {
		return err
	}
	d := after.TimeToLiveDescription
	if d == nil || aws.ToString(d.AttributeName) != "expires_at" ||
		(d.TimeToLiveStatus != types.TimeToLiveStatusEnabling && d.TimeToLiveStatus != types.TimeToLiveStatusEnabled) {
		return seen("after it was switched on the description is %+v", d)
	}
	return nil
}

// expiredIsThere: an item whose time is over can be read and replaced until a background process deletes it.
func expiredIsThere(ctx context.Context, w *world) error {
	id := w.next()
	it := item{"id": text(id), "expires_at": number(strconv.FormatInt(time.Now().Add(-time.Hour).Unix(), 10))}
	if err := w.put(ctx, it); err != nil {
		return err
	}
	got, err := w.get(ctx, id)
	if err != nil {
		return err
	}
	if len(got) == 0 {
		return seen("an item that expired an hour ago is not there right after it was written")
	}
	if err := w.putIf(ctx, it, "expires_at <= :t", item{":t": number(strconv.FormatInt(time.Now().Unix(), 10))}); err != nil {
		_, e := lost("", err)
		return errors.Join(e, seen("the condition of a write did not see the expired item"))
	}
	return nil
}

// sparseIndex: the index holds an item only while that has both of the index's keys.
func sparseIndex(ctx context.Context, w *world) error {
	shard, listed, plain := w.next(), w.next(), w.next()
	if err := w.put(ctx, item{"id": text(plain), attrAt: number("5")}); err != nil {
		return err
	}
	if err := w.put(ctx, item{"id": text(listed), attrShard: text(shard), attrAt: number("7"), "revision": text("r")}); err != nil {
		return err
	}
	if err := within(ctx, indexTime, func() error { return w.indexed(ctx, shard, listed) }); err != nil {
		return err
	}
	if err := w.put(ctx, item{"id": text(listed), attrAt: number("7")}); err != nil {
		return err
	}
	return within(ctx, indexTime, func() error { return w.indexed(ctx, shard) })
}

// indexTime: an index follows its table within moments, but nothing says how many.
const indexTime = 20 * time.Second

func (w *world) query(ctx context.Context, shard string) ([]item, error) {
	out, err := w.dynamo.Query(ctx, &dynamodb.QueryInput{
		TableName: &w.table.name, IndexName: aws.String(indexName), KeyConditionExpression: aws.String(attrShard + " = :s"),
		ExpressionAttributeValues: item{":s": text(shard)},
	})
	if err != nil {
		return nil, err
	}
	return out.Items, nil
}

func (w *world) indexed(ctx context.Context, shard string, want ...string) error {
	items, err := w.query(ctx, shard)
	if err != nil {
		return err
	}
	var got []string
	for _, it := range items {
		got = append(got, value(it, "id"))
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		return seen("the index has %v, not %v", got, want)
	}
	return nil
}

// keysOnly: the index brings the keys of table and index, in the order of its sort key, and nothing else.
func keysOnly(ctx context.Context, w *world) error {
	shard := w.next()
	var want []string
	for _, at := range []int{9, 10, 200} { // as text, 10 would come first
		id := w.next()
		want = append(want, id)
		if err := w.put(ctx, item{"id": text(id), attrShard: text(shard), attrAt: number(strconv.Itoa(at)), "revision": text("r")}); err != nil {
			return err
		}
	}
	if err := within(ctx, indexTime, func() error { return w.indexed(ctx, shard, want...) }); err != nil {
		return err
	}
	items, err := w.query(ctx, shard)
	if err != nil {
		return err
	}
	for _, it := range items {
		if len(it) != 3 || value(it, attrShard) != shard || value(it, attrAt) == "" {
			return seen("the index brought %v", it)
		}
	}
	return nil
}
