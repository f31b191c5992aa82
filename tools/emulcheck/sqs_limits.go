package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

// limitsCases are about limits and rules of batches.
func (w *queues) limitsCases() []testCase {
	return []testCase{
		{"sqs.batch_id_rules", w.batchIDRules},
		{"sqs.receive_limits", w.receiveLimits},
		{"sqs.size_limit_explicit_256KiB", w.sizeLimitExplicit256KiB},
		{"sqs.size_default_allows_1MiB", w.sizeDefaultAllows1MiB},
		{"sqs.size_over_1MiB_rejected", w.sizeOver1MiBRejected},
		{"sqs.batch_total_size_limit", w.batchTotalSizeLimit},
		{"sqs.size_counts_attributes", w.sizeCountsAttributes},
		{"sqs.invalid_characters_rejected", w.invalidCharactersRejected},
		{"sqs.more_than_10_attributes_rejected", w.moreThan10AttributesRejected},
	}
}

func (w *queues) batchIDRules(ctx context.Context) error {
	q, err := w.fresh(ctx, nil)
	if err != nil {
		return err
	}
	e := func(ids ...string) error {
		var es []types.SendMessageBatchRequestEntry
		for _, i := range ids {
			es = append(es, types.SendMessageBatchRequestEntry{Id: aws.String(i), MessageBody: aws.String("x")})
		}
		if es == nil {
			es = []types.SendMessageBatchRequestEntry{}
		}
		_, err := w.client.SendMessageBatch(ctx, &sqs.SendMessageBatchInput{QueueUrl: &q, Entries: es})
		return err
	}
	var bad []string
	add := func(what string, err error) {
		if err != nil {
			bad = append(bad, what+": "+err.Error())
		}
	}
	add("11 entries", wantCode(e("1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11"), "AWS.SimpleQueueService.TooManyEntriesInBatchRequest", "TooManyEntriesInBatchRequest"))
	add("duplicate ids", wantCode(e("1", "1"), "AWS.SimpleQueueService.BatchEntryIdsNotDistinct", "BatchEntryIdsNotDistinct"))
	add("empty", wantCode(e(), "AWS.SimpleQueueService.EmptyBatchRequest", "EmptyBatchRequest"))
	add("bad id", wantCode(e("a b"), "AWS.SimpleQueueService.InvalidBatchEntryId", "InvalidBatchEntryId"))
	if len(bad) > 0 {
		return errors.New(strings.Join(bad, "; "))
	}
	return nil
}

func (w *queues) receiveLimits(ctx context.Context) error {
	q, err := w.fresh(ctx, nil)
	if err != nil {
		return err
	}
	_, err = w.receive(ctx, q, 11, 0)
	if e := wantCode(err, "InvalidParameterValue", "AWS.SimpleQueueService.ReadCountOutOfRange", "ReadCountOutOfRange"); e != nil {
		return fmt.Errorf("max 11: %w", e)
	}
	_, err = w.receive(ctx, q, 1, 21)
	if e := wantCode(err, "InvalidParameterValue"); e != nil {
		return fmt.Errorf("wait 21: %w", e)
	}
	return nil
}

func (w *queues) sizeLimitExplicit256KiB(ctx context.Context) error {
	q, err := w.fresh(ctx, map[string]string{"MaximumMessageSize": "262144"})
	if err != nil {
		return err
	}
	if err := w.send(ctx, q, strings.Repeat("x", 262144)); err != nil {
		return fmt.Errorf("exactly 256 KiB refused: %w", err)
	}
	return wantCode(w.send(ctx, q, strings.Repeat("x", 262145)), "InvalidParameterValue")
}

func (w *queues) sizeDefaultAllows1MiB(ctx context.Context) error {
	q, err := w.fresh(ctx, nil)
	if err != nil {
		return err
	}
	if err := w.send(ctx, q, strings.Repeat("x", 1<<20)); err != nil {
		return fmt.Errorf("1 MiB refused: %w", err)
	}
	return nil
}

func (w *queues) sizeOver1MiBRejected(ctx context.Context) error {
	q, err := w.fresh(ctx, nil)
	if err != nil {
		return err
	}
	return wantCode(w.send(ctx, q, strings.Repeat("x", 1<<20+1)), "InvalidParameterValue")
}

func (w *queues) batchTotalSizeLimit(ctx context.Context) error {
	q, err := w.fresh(ctx, nil)
	if err != nil {
		return err
	}
	var es []types.SendMessageBatchRequestEntry
	for i := range 10 {
		es = append(es, types.SendMessageBatchRequestEntry{Id: aws.String(strconv.Itoa(i)), MessageBody: aws.String(strings.Repeat("x", 150<<10))})
	}
	_, err = w.client.SendMessageBatch(ctx, &sqs.SendMessageBatchInput{QueueUrl: &q, Entries: es})
	return wantCode(err, "AWS.SimpleQueueService.BatchRequestTooLong", "BatchRequestTooLong")
}

func (w *queues) sizeCountsAttributes(ctx context.Context) error {
	q, err := w.fresh(ctx, map[string]string{"MaximumMessageSize": "1024"})
	if err != nil {
		return err
	}
	_, err = w.client.SendMessage(ctx, &sqs.SendMessageInput{QueueUrl: &q, MessageBody: aws.String(strings.Repeat("x", 1000)), MessageAttributes: w.attrs})
	return wantCode(err, "InvalidParameterValue")
}

func (w *queues) invalidCharactersRejected(ctx context.Context) error {
	q, err := w.fresh(ctx, nil)
	if err != nil {
		return err
	}
	return wantCode(w.send(ctx, q, "bad \u0001 char"), "InvalidMessageContents")
}

func (w *queues) moreThan10AttributesRejected(ctx context.Context) error {
	q, err := w.fresh(ctx, nil)
	if err != nil {
		return err
	}
	m := map[string]attribute{}
	for i := range 11 {
		m[fmt.Sprint("a", i)] = attribute{DataType: aws.String("String"), StringValue: aws.String("x")}
	}
	_, err = w.client.SendMessage(ctx, &sqs.SendMessageInput{QueueUrl: &q, MessageBody: aws.String("x"), MessageAttributes: m})
	return wantCode(err, "InvalidParameterValue")
}
