package main

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

type message = types.Message

// noHandle: what is no receipt handle at all is refused as such.
func noHandle(ctx context.Context, w *world) error {
	q, err := w.queue(ctx)
	if err != nil {
		return err
	}
	m := message{ReceiptHandle: aws.String("this is no handle")}
	if err := refused("deleting with text that is no handle", q.remove(ctx, m), "ReceiptHandleIsInvalid"); err != nil {
		return err
	}
	return refused("hiding with text that is no handle", q.hide(ctx, m, 10), "ReceiptHandleIsInvalid")
}

// deletedTwice: to delete again what is deleted is a success.
func deletedTwice(ctx context.Context, w *world) error {
	q, m, err := w.received(ctx, 30)
	if err != nil {
		return err
	}
	if err := q.remove(ctx, m); err != nil {
		return err
	}
	if err := q.remove(ctx, m); err != nil {
		return seen("the second delete: %v", err)
	}
	failed, err := q.removeBatch(ctx, m)
	if err == nil && len(failed) > 0 {
		return seen("the third delete, in a batch: %s %s", aws.ToString(failed[0].Code), aws.ToString(failed[0].Message))
	}
	return err
}

// hiddenAfterDelete: the visibility of a deleted message cannot be changed, and the refusal says that the handle is over.
func hiddenAfterDelete(ctx context.Context, w *world) error {
	q, m, err := w.received(ctx, 30)
	if err != nil {
		return err
	}
	if err := q.remove(ctx, m); err != nil {
		return err
	}
	return over("hiding a deleted message", q.hide(ctx, m, 10))
}

// hiddenAfterExpiry: after the visibility has ended, and before anybody received the message again, a change of it is either made or refused
// as over.
func hiddenAfterExpiry(ctx context.Context, w *world) error {
	q, m, err := w.received(ctx, 1)
	if err != nil {
		return err
	}
	if err := pause(ctx, 3*time.Second); err != nil {
		return err
	}
	return overOrDone("hiding a message whose visibility has ended", q.hide(ctx, m, 10))
}

// deletedAfterExpiry: on a standard queue a message whose visibility has ended, and that nobody has received again, is deleted, or the call
// is refused as over.
func deletedAfterExpiry(ctx context.Context, w *world) error {
	q, m, err := w.received(ctx, 1)
	if err != nil {
		return err
	}
	if err := pause(ctx, 3*time.Second); err != nil {
		return err
	}
	if err := q.remove(ctx, m); err != nil {
		return overOrDone("deleting a message whose visibility has ended", err)
	}
	return q.none(ctx, "after it was deleted", 3)
}

// staleHandle: once a message was received again, calls with the older handle are accepted or refused as over, and are never another error.
func staleHandle(ctx context.Context, w *world) error {
	q, older, err := w.received(ctx, 1)
	if err != nil {
		return err
	}
	newer, err := q.one(ctx, 30)
	if err != nil {
		return err
	}
	if err := overOrDone("hiding with an older handle", q.hide(ctx, older, 20)); err != nil {
		return err
	}
	if err := overOrDone("deleting with an older handle", q.remove(ctx, older)); err != nil {
		return err
	}
	return overOrDone("deleting with the newest handle after that", q.remove(ctx, newer))
}
