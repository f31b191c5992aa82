package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	dtypes "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/smithy-go"
)

// cleanUp deletes all that was created, or may have been, and names what is left.
func (w *world) cleanUp(ctx context.Context) error {
	queues, tables := w.created()
	return errors.Join(eachGone("queue", queues, func(name string) error { return w.deleteQueue(ctx, name) }),
		eachGone("table", tables, func(name string) error { return w.deleteTable(ctx, name) }))
}

// eachGone gives the names of what is left and one error: mostly all have the same.
func eachGone(what string, names []string, remove func(string) error) error {
	var left []string
	var first error
	for _, name := range names {
		if err := remove(name); err != nil {
			left = append(left, what+" "+name)
			if first == nil {
				first = err
			}
		}
	}
	if first == nil {
		return nil
	}
	return fmt.Errorf("%s may be left: %w", strings.Join(left, ", "), first)
}

func (w *world) deleteQueue(ctx context.Context, name string) error {
	found, err := w.sqs.GetQueueUrl(ctx, &sqs.GetQueueUrlInput{QueueName: &name})
	if err == nil {
		_, err = w.sqs.DeleteQueue(ctx, &sqs.DeleteQueueInput{QueueUrl: found.QueueUrl})
	}
	if codeOf(err) == "QueueDoesNotExist" || codeOf(err) == "NonExistentQueue" {
		return nil
	}
	return err
}

// deleteTable waits while the table is still being created: until then it cannot be deleted.
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_DeleteTable.html
func (w *world) deleteTable(ctx context.Context, name string) error {
	return within(ctx, cleanTime, func() error {
		_, err := w.dynamo.DeleteTable(ctx, &dynamodb.DeleteTableInput{TableName: &name})
		if _, missing := errors.AsType[*dtypes.ResourceNotFoundException](err); missing {
			return nil
		}
		return err
	})
}

// codeOf is an error's code without the prefixes of the older protocol; "" if it has none.
func codeOf(err error) string {
	api, ok := errors.AsType[smithy.APIError](err)
	if !ok {
		return ""
	}
	return strings.TrimPrefix(strings.TrimPrefix(api.ErrorCode(), "com.amazonaws.sqs#"), "AWS.SimpleQueueService.")
}

// refused finds that a call failed with one of the codes.
func refused(what string, err error, codes ...string) error {
	if err == nil {
		return seen("%s was accepted, instead of %s", what, strings.Join(codes, " or "))
	}
	got := codeOf(err)
	switch {
	case slices.Contains(codes, got):
		return nil
	case got == "":
		return err
	}
	return seen("%s was refused with %s, instead of %s", what, got, strings.Join(codes, " or "))
}
