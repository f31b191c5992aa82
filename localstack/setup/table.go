package main

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/claimonce/claimonce/store/dynamo"
)

// ensureTable leaves what a table is to the store that uses it.
func ensureTable(ctx context.Context, client *dynamodb.Client, table string, found *report) error {
	got, err := dynamo.Setup(ctx, client, table)
	if err != nil {
		return err
	}
	resource := "table " + table
	found.add(resource, "", got.Created, got.Problems)
	found.warn(resource, got.Warnings)
	for _, what := range got.Added {
		found.lines = append(found.lines, resource+": added "+what+", which an interrupted run had left out")
	}
	return nil
}
