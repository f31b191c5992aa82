package main

import (
	"context"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

// removeBatch numbers its entries.
func (q *queue) removeBatch(ctx context.Context, ms ...message) ([]types.BatchResultErrorEntry, error) {
	in := &sqs.DeleteMessageBatchInput{QueueUrl: &q.url}
	for i, m := range ms {
		in.Entries = append(in.Entries, types.DeleteMessageBatchRequestEntry{Id: aws.String(strconv.Itoa(i)), ReceiptHandle: m.ReceiptHandle})
	}
	out, err := q.w.sqs.DeleteMessageBatch(ctx, in)
	if err != nil {
		return nil, err
	}
	if len(out.Successful)+len(out.Failed) != len(ms) {
		return nil, seen("of %d entries %d succeeded and %d failed", len(ms), len(out.Successful), len(out.Failed))
	}
	return out.Failed, nil
}

// deletesInPart: a batch of deletes is answered entry by entry, by their ids; a bad handle fails alone, as its sender's fault.
func deletesInPart(ctx context.Context, w *world) error {
	q, m, err := w.received(ctx, 30)
	if err != nil {
		return err
	}
	failed, err := q.removeBatch(ctx, message{ReceiptHandle: aws.String("this is no handle")}, m)
	if err != nil {
		return err
	}
	return failedAlone(failed)
}

func failedAlone(failed []types.BatchResultErrorEntry) error {
	if len(failed) != 1 || aws.ToString(failed[0].Id) != "0" || aws.ToString(failed[0].Code) != "ReceiptHandleIsInvalid" || !failed[0].SenderFault {
		return seen("of a bad entry 0 and a good entry 1 failed: %+v", failed)
	}
	return nil
}

// hidesInPart: so is a batch of changes of visibility.
func hidesInPart(ctx context.Context, w *world) error {
	q, m, err := w.received(ctx, 60)
	if err != nil {
		return err
	}
	out, err := w.sqs.ChangeMessageVisibilityBatch(ctx, &sqs.ChangeMessageVisibilityBatchInput{QueueUrl: &q.url, Entries: []types.ChangeMessageVisibilityBatchRequestEntry{
		{Id: aws.String("0"), ReceiptHandle: aws.String("this is no handle"), VisibilityTimeout: 0},
		{Id: aws.String("1"), ReceiptHandle: m.ReceiptHandle, VisibilityTimeout: 0},
	}})
	if err != nil {
		return err
	}
	if err := failedAlone(out.Failed); err != nil {
		return err
	}
	_, err = q.one(ctx, 30)
	return err
}

// batchRules: a batch has at most ten entries, with ids that differ.
func batchRules(ctx context.Context, w *world) error {
	q, err := w.queue(ctx)
	if err != nil {
		return err
	}
	eleven := make([]message, 11)
	for i := range eleven {
		eleven[i].ReceiptHandle = aws.String("handle " + strconv.Itoa(i))
	}
	_, err = q.removeBatch(ctx, eleven...)
	if err := refused("a batch of 11", err, "TooManyEntriesInBatchRequest"); err != nil {
		return err
	}
	_, err = w.sqs.DeleteMessageBatch(ctx, &sqs.DeleteMessageBatchInput{QueueUrl: &q.url, Entries: []types.DeleteMessageBatchRequestEntry{
		{Id: aws.String("a"), ReceiptHandle: aws.String("x")}, {Id: aws.String("a"), ReceiptHandle: aws.String("y")},
	}})
	return refused("a batch with one id twice", err, "BatchEntryIdsNotDistinct")
}
