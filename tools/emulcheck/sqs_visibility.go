package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

// visibilityCases are about receives, visibility and delays.
func (w *queues) visibilityCases() []testCase {
	return []testCase{
		{"sqs.receive_count_and_new_handle", w.receiveCountAndNewHandle},
		{"sqs.receive_level_visibility_timeout", w.receiveLevelVisibilityTimeout},
		{"sqs.change_visibility_extends", w.changeVisibilityExtends},
		{"sqs.change_visibility_zero_releases", w.changeVisibilityZeroReleases},
		{"sqs.change_visibility_batch_partial", w.changeVisibilityBatchPartial},
		{"sqs.change_visibility_over_12h_rejected", w.changeVisibilityOver12hRejected},
		{"sqs.change_visibility_after_delete_fails", w.changeVisibilityAfterDeleteFails},
		{"sqs.change_visibility_expired_MessageNotInflight", w.changeVisibilityExpiredMessageNotInflight},
		{"sqs.delay_seconds", w.delaySeconds},
	}
}

func (w *queues) receiveCountAndNewHandle(ctx context.Context) error {
	q, err := w.fresh(ctx, map[string]string{"VisibilityTimeout": "1"})
	if err != nil {
		return err
	}
	if err := w.send(ctx, q, "x"); err != nil {
		return err
	}
	hs := map[string]bool{}
	var first string
	for i := 1; i <= 3; i++ {
		ms, err := w.receive(ctx, q, 1, 3)
		if err != nil {
			return err
		}
		if len(ms) != 1 || receives(ms[0]) != strconv.Itoa(i) {
			return fmt.Errorf("receive %d: %d messages, count %v", i, len(ms), ms)
		}
		hs[*ms[0].ReceiptHandle] = true
		if f := ms[0].Attributes["ApproximateFirstReceiveTimestamp"]; first == "" {
			first = f
		} else if f != first {
			return errors.New("ApproximateFirstReceiveTimestamp changed")
		}
		wait(ctx, 1100*time.Millisecond)
	}
	if len(hs) != 3 {
		return fmt.Errorf("%d distinct receipt handles in 3 receives", len(hs))
	}
	return nil
}

func (w *queues) receiveLevelVisibilityTimeout(ctx context.Context) error {
	q, err := w.fresh(ctx, map[string]string{"VisibilityTimeout": "30"})
	if err != nil {
		return err
	}
	if err := w.send(ctx, q, "x"); err != nil {
		return err
	}
	o, err := w.client.ReceiveMessage(ctx, &sqs.ReceiveMessageInput{QueueUrl: &q, VisibilityTimeout: 1})
	if err != nil || len(o.Messages) != 1 {
		return fmt.Errorf("receive: %v", err)
	}
	ms, err := w.receive(ctx, q, 1, 4)
	if err != nil {
		return err
	}
	if len(ms) != 1 {
		return errors.New("not back after 1 s")
	}
	return nil
}

func (w *queues) changeVisibilityExtends(ctx context.Context) error {
	q, m, err := w.held(ctx, map[string]string{"VisibilityTimeout": "1"})
	if err != nil {
		return err
	}
	if _, err := w.client.ChangeMessageVisibility(ctx, &sqs.ChangeMessageVisibilityInput{QueueUrl: &q, ReceiptHandle: m.ReceiptHandle, VisibilityTimeout: 4}); err != nil {
		return err
	}
	if m2, err := w.receive(ctx, q, 1, 2); err != nil || len(m2) != 0 {
		return fmt.Errorf("came back before the extended timeout: %d %v", len(m2), err)
	}
	m3, err := w.receive(ctx, q, 1, 4)
	if err != nil {
		return err
	}
	if len(m3) != 1 {
		return errors.New("not back after the extended timeout")
	}
	return nil
}

func (w *queues) changeVisibilityZeroReleases(ctx context.Context) error {
	q, m, err := w.held(ctx, map[string]string{"VisibilityTimeout": "30"})
	if err != nil {
		return err
	}
	if _, err := w.client.ChangeMessageVisibility(ctx, &sqs.ChangeMessageVisibilityInput{QueueUrl: &q, ReceiptHandle: m.ReceiptHandle, VisibilityTimeout: 0}); err != nil {
		return err
	}
	m2, err := w.receive(ctx, q, 1, 2)
	if err != nil {
		return err
	}
	if len(m2) != 1 || receives(m2[0]) != "2" {
		return fmt.Errorf("%d messages", len(m2))
	}
	return nil
}

func (w *queues) changeVisibilityBatchPartial(ctx context.Context) error {
	q, m, err := w.held(ctx, map[string]string{"VisibilityTimeout": "30"})
	if err != nil {
		return err
	}
	o, err := w.client.ChangeMessageVisibilityBatch(ctx, &sqs.ChangeMessageVisibilityBatchInput{QueueUrl: &q, Entries: []types.ChangeMessageVisibilityBatchRequestEntry{
		{Id: aws.String("good"), ReceiptHandle: m.ReceiptHandle, VisibilityTimeout: 0},
		{Id: aws.String("bad"), ReceiptHandle: aws.String("garbage"), VisibilityTimeout: 0},
	}})
	if err != nil {
		return err
	}
	if len(o.Successful) != 1 || len(o.Failed) != 1 || aws.ToString(o.Failed[0].Id) != "bad" || aws.ToString(o.Failed[0].Code) != "ReceiptHandleIsInvalid" {
		return fmt.Errorf("ok %d failed %+v", len(o.Successful), o.Failed)
	}
	m2, err := w.receive(ctx, q, 1, 2)
	if err == nil && len(m2) != 1 {
		err = errors.New("not released")
	}
	return err
}

func (w *queues) changeVisibilityOver12hRejected(ctx context.Context) error {
	q, m, err := w.held(ctx, nil)
	if err != nil {
		return err
	}
	_, err = w.client.ChangeMessageVisibility(ctx, &sqs.ChangeMessageVisibilityInput{QueueUrl: &q, ReceiptHandle: m.ReceiptHandle, VisibilityTimeout: 43201})
	return wantCode(err, "InvalidParameterValue")
}

func (w *queues) changeVisibilityAfterDeleteFails(ctx context.Context) error {
	q, m, err := w.held(ctx, nil)
	if err != nil {
		return err
	}
	if err := w.remove(ctx, q, m.ReceiptHandle); err != nil {
		return err
	}
	_, err = w.client.ChangeMessageVisibility(ctx, &sqs.ChangeMessageVisibilityInput{QueueUrl: &q, ReceiptHandle: m.ReceiptHandle, VisibilityTimeout: 5})
	return wantCode(err, "InvalidParameterValue", "AWS.SimpleQueueService.MessageNotInflight", "MessageNotInflight", "ReceiptHandleIsInvalid")
}

func (w *queues) changeVisibilityExpiredMessageNotInflight(ctx context.Context) error {
	q, m, err := w.held(ctx, map[string]string{"VisibilityTimeout": "1"})
	if err != nil {
		return err
	}
	wait(ctx, 1400*time.Millisecond)
	_, err = w.client.ChangeMessageVisibility(ctx, &sqs.ChangeMessageVisibilityInput{QueueUrl: &q, ReceiptHandle: m.ReceiptHandle, VisibilityTimeout: 30})
	if _, ok := errors.AsType[*types.MessageNotInflight](err); !ok {
		return fmt.Errorf("want MessageNotInflight, got %v", err)
	}
	return nil
}

func (w *queues) delaySeconds(ctx context.Context) error {
	q, err := w.fresh(ctx, nil)
	if err != nil {
		return err
	}
	if _, err := w.client.SendMessage(ctx, &sqs.SendMessageInput{QueueUrl: &q, MessageBody: aws.String("x"), DelaySeconds: 2}); err != nil {
		return err
	}
	if ms, err := w.receive(ctx, q, 1, 1); err != nil || len(ms) != 0 {
		return fmt.Errorf("delivered early: %d %v", len(ms), err)
	}
	ms, err := w.receive(ctx, q, 1, 4)
	if err == nil && len(ms) != 1 {
		err = errors.New("never delivered")
	}
	return err
}
