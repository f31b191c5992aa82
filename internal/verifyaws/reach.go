package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	dtypes "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
)

// reachTime: an address where nothing answers should not hang.
const reachTime = 20 * time.Second

// reachable asks both services for what is not there, before anything is created: a wrong endpoint, bad credentials and missing permissions
// are told once, not by each check.
func (w *world) reachable(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, reachTime)
	defer cancel()
	name := w.next()
	_, err := w.sqs.GetQueueUrl(ctx, &sqs.GetQueueUrlInput{QueueName: &name})
	if code := codeOf(err); err != nil && code != "QueueDoesNotExist" && code != "NonExistentQueue" {
		return fmt.Errorf("SQS cannot be used, so nothing was created: %w", err)
	}
	_, err = w.dynamo.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: &name})
	if _, missing := errors.AsType[*dtypes.ResourceNotFoundException](err); err != nil && !missing {
		return fmt.Errorf("DynamoDB cannot be used, so nothing was created: %w", err)
	}
	return nil
}
