package main

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

// buried is a FIFO queue with its dead-letter queue and the message that SQS moved there.
func (w *world) buried(ctx context.Context, dedup string) (q, dead *queue, before, after message, err error) {
	if q, dead, err = w.pair(ctx, w.fifo); err != nil {
		return nil, nil, before, after, err
	}
	if _, err = q.send(ctx, "x", group("a", dedup), attributes(map[string]types.MessageAttributeValue{"Idempotency-Key": stringValue("k")})); err != nil {
		return nil, nil, before, after, err
	}
	before, after, err = q.bury(ctx, dead)
	return q, dead, before, after, err
}

// movedInGroup: SQS moves a message of a FIFO queue with its group, body and attributes, and the group goes on.
func movedInGroup(ctx context.Context, w *world) error {
	q, _, _, after, err := w.buried(ctx, "d1")
	if err != nil {
		return err
	}
	if system(after, types.MessageSystemAttributeNameMessageGroupId) != "a" || aws.ToString(after.MessageAttributes["Idempotency-Key"].StringValue) != "k" {
		return seen("it came with %v and %v", after.Attributes, after.MessageAttributes)
	}
	if _, err := q.send(ctx, "next", group("a")); err != nil {
		return err
	}
	_, err = q.one(ctx, 30)
	return err
}

// movedByOwnID: there, the message's id takes the place of its deduplication id.
func movedByOwnID(ctx context.Context, w *world) error {
	_, _, before, after, err := w.buried(ctx, "d1")
	if err != nil {
		return err
	}
	if got := system(after, types.MessageSystemAttributeNameMessageDeduplicationId); got != aws.ToString(before.MessageId) {
		return seen("its deduplication id was d1, and is %q after the move; its message id was %s", got, aws.ToString(before.MessageId))
	}
	return nil
}

// redriveOnFIFO: a redrive moves it back with its group, and is not taken for a duplicate of the first sending.
func redriveOnFIFO(ctx context.Context, w *world) error {
	q, dead, _, after, err := w.buried(ctx, "d1")
	if err != nil {
		return err
	}
	if err := dead.hide(ctx, after, 0); err != nil {
		return err
	}
	again, err := q.redriven(ctx, dead)
	if err == nil && system(again, types.MessageSystemAttributeNameMessageGroupId) != "a" {
		return seen("it came back with %v", again.Attributes)
	}
	return err
}
