package main

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

// endCases come last: the table is gone after them.
func (w *tables) endCases() []testCase {
	return []testCase{
		{"ddb.list_tables_pagination", w.listTablesPagination},
		{"ddb.delete_table_and_waiter", w.deleteTableAndWaiter},
	}
}

func (w *tables) listTablesPagination(ctx context.Context) error {
	o, err := w.client.ListTables(ctx, &dynamodb.ListTablesInput{Limit: aws.Int32(100)})
	if err != nil {
		return err
	}
	if !slices.Contains(o.TableNames, w.table) {
		return errors.New("table not listed")
	}
	return nil
}

func (w *tables) deleteTableAndWaiter(ctx context.Context) error {
	if _, err := w.client.DeleteTable(ctx, &dynamodb.DeleteTableInput{TableName: w.name()}); err != nil {
		return err
	}
	return dynamodb.NewTableNotExistsWaiter(w.client, func(o *dynamodb.TableNotExistsWaiterOptions) {
		o.MinDelay, o.MaxDelay = 50*time.Millisecond, time.Second
	}).Wait(ctx, &dynamodb.DescribeTableInput{TableName: w.name()}, 20*time.Second)
}
