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

// tableCases are about the table that all others use.
func (w *tables) tableCases() []testCase {
	return []testCase{
		{"ddb.create_table_gsi_ppr", w.createTableGsiPpr},
		{"ddb.waiter_exists", w.waiterExists},
		{"ddb.describe_table", w.describeTable},
		{"ddb.create_table_twice_ResourceInUse", w.createTableTwiceResourceInUse},
		{"ddb.missing_table_ResourceNotFound", w.missingTableResourceNotFound},
	}
}

func (w *tables) createTableGsiPpr(ctx context.Context) error {
	o, err := w.client.CreateTable(ctx, w.definition())
	if err != nil {
		return err
	}
	if o.TableDescription == nil || o.TableDescription.TableArn == nil {
		return errors.New("no TableDescription/TableArn")
	}
	return nil
}

func (w *tables) waiterExists(ctx context.Context) error {
	return dynamodb.NewTableExistsWaiter(w.client, func(o *dynamodb.TableExistsWaiterOptions) {
		o.MinDelay, o.MaxDelay = 50*time.Millisecond, time.Second
	}).Wait(ctx, &dynamodb.DescribeTableInput{TableName: w.name()}, 20*time.Second)
}

func (w *tables) describeTable(ctx context.Context) error {
	o, err := w.client.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: w.name()})
	if err != nil {
		return err
	}
	d := o.Table
	if d.BillingModeSummary == nil || d.BillingModeSummary.BillingMode != types.BillingModePayPerRequest {
		return errors.New("BillingModeSummary missing")
	}
	if len(d.GlobalSecondaryIndexes) != 1 || d.GlobalSecondaryIndexes[0].IndexStatus != types.IndexStatusActive {
		return fmt.Errorf("GSI not ACTIVE: %d", len(d.GlobalSecondaryIndexes))
	}
	return nil
}

func (w *tables) createTableTwiceResourceInUse(ctx context.Context) error {
	_, err := w.client.CreateTable(ctx, w.definition())
	if _, ok := errors.AsType[*types.ResourceInUseException](err); !ok {
		return fmt.Errorf("want ResourceInUseException, got %v", err)
	}
	return nil
}

func (w *tables) missingTableResourceNotFound(ctx context.Context) error {
	_, err := w.client.GetItem(ctx, &dynamodb.GetItemInput{TableName: aws.String("nope-nope"), Key: item{"pk": str("x")}})
	if _, ok := errors.AsType[*types.ResourceNotFoundException](err); !ok {
		return fmt.Errorf("want ResourceNotFoundException, got %v", err)
	}
	return nil
}
