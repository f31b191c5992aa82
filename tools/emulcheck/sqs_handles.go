package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

// handlesCases are about receipt handles and deletes.
func (w *queues) handlesCases() []testCase {
	return []testCase{
		{"sqs.garbage_receipt_handle_typed_error", w.garbageReceiptHandleTypedError},
		{"sqs.delete_twice_is_ok", w.deleteTwiceIsOk},
		{"sqs.stale_handle_delete", w.staleHandleDelete},
		{"sqs.stale_handle_expired_not_rereceived", w.staleHandleExpiredNotRereceived},
		{"sqs.delete_batch_partial_failure", w.deleteBatchPartialFailure},
		{"sqs.fifo_expired_handle_delete_rejected", w.fifoExpiredHandleDeleteRejected},
	}
}

func (w *queues) garbageReceiptHandleTypedError(ctx context.Context) error {
	q, err := w.fresh(ctx, nil)
	if err != nil {
		return err
	}
	err = w.remove(ctx, q, aws.String("garbage"))
	if _, ok := errors.AsType[*types.ReceiptHandleIsInvalid](err); !ok {
		return fmt.Errorf("delete: want ReceiptHandleIsInvalid, got %v", err)
	}
	return nil
}

func (w *queues) deleteTwiceIsOk(ctx context.Context) error {
	q, m, err := w.held(ctx, nil)
	if err != nil {
		return err
	}
	if err := w.remove(ctx, q, m.ReceiptHandle); err != nil {
		return err
	}
	return w.remove(ctx, q, m.ReceiptHandle)
}

func (w *queues) staleHandleDelete(ctx context.Context) error {
	q, m1, err := w.held(ctx, map[string]string{"VisibilityTimeout": "1"})
	if err != nil {
		return err
	}
	wait(ctx, 1100*time.Millisecond)
	m2, err := w.receive(ctx, q, 1, 3)
	if err != nil || len(m2) != 1 {
		return fmt.Errorf("second receive: %d %v", len(m2), err)
	}
	e1 := w.remove(ctx, q, m1.ReceiptHandle)
	wait(ctx, 1200*time.Millisecond)
	m3, _ := w.receive(ctx, q, 1, 1)
	r := "accepted"
	if e1 != nil {
		r = "refused (" + short(e1) + ")"
	}
	return note{fmt.Sprintf("delete with the 1st receive's handle while re-received: %s; message gone: %v (AWS: may succeed or not on standard queues)", r, len(m3) == 0)}
}

func (w *queues) staleHandleExpiredNotRereceived(ctx context.Context) error {
	q, m1, err := w.held(ctx, map[string]string{"VisibilityTimeout": "1"})
	if err != nil {
		return err
	}
	wait(ctx, 1300*time.Millisecond)
	e1 := w.remove(ctx, q, m1.ReceiptHandle)
	m3, _ := w.receive(ctx, q, 1, 1)
	return note{fmt.Sprintf("delete after expiry, nobody re-received: err=%v; message gone: %v (AWS: works, gone)", e1 != nil, len(m3) == 0)}
}

func (w *queues) deleteBatchPartialFailure(ctx context.Context) error {
	q, m, err := w.held(ctx, nil)
	if err != nil {
		return err
	}
	o, err := w.client.DeleteMessageBatch(ctx, &sqs.DeleteMessageBatchInput{QueueUrl: &q, Entries: []types.DeleteMessageBatchRequestEntry{
		{Id: aws.String("a"), ReceiptHandle: m.ReceiptHandle}, {Id: aws.String("b"), ReceiptHandle: aws.String("garbage")},
	}})
	if err != nil {
		return err
	}
	if len(o.Successful) != 1 || len(o.Failed) != 1 || aws.ToString(o.Failed[0].Code) != "ReceiptHandleIsInvalid" || !o.Failed[0].SenderFault {
		return fmt.Errorf("ok %d failed %+v", len(o.Successful), o.Failed)
	}
	return nil
}

func (w *queues) fifoExpiredHandleDeleteRejected(ctx context.Context) error {
	q, err := w.fresh(ctx, map[string]string{"FifoQueue": "true", "VisibilityTimeout": "1"})
	if err != nil {
		return err
	}
	if _, err := w.sendFIFO(ctx, q, "p", "g", "d1"); err != nil {
		return err
	}
	ms, err := w.receive(ctx, q, 1, 1)
	if err != nil || len(ms) != 1 {
		return fmt.Errorf("receive %d %v", len(ms), err)
	}
	wait(ctx, 1300*time.Millisecond)
	e := w.remove(ctx, q, ms[0].ReceiptHandle)
	if e == nil {
		return note{"accepted (AWS refuses: the receipt handle has expired)"}
	}
	return note{"refused as AWS does: " + short(e)}
}
