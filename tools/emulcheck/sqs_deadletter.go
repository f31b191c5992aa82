package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
)

// deadletterCases are about redrive.
func (w *queues) deadletterCases() []testCase {
	return []testCase{
		{"sqs.dlq_move_keeps_attributes", w.dlqMoveKeepsAttributes},
		{"sqs.dlq_source_arn_attribute", w.dlqSourceArnAttribute},
		{"sqs.dlq_redrive_task_api", w.dlqRedriveTaskAPI},
		{"sqs.fifo_dlq", w.fifoDlq},
	}
}

func (w *queues) dlqMoveKeepsAttributes(ctx context.Context) error {
	d, err := w.fresh(ctx, nil)
	if err != nil {
		return err
	}
	da, err := w.arn(ctx, d)
	if err != nil {
		return err
	}
	rp, _ := json.Marshal(map[string]any{"deadLetterTargetArn": da, "maxReceiveCount": 2})
	q, err := w.fresh(ctx, map[string]string{"VisibilityTimeout": "1", "RedrivePolicy": string(rp)})
	if err != nil {
		return err
	}
	o, err := w.client.SendMessage(ctx, &sqs.SendMessageInput{QueueUrl: &q, MessageBody: aws.String("poison"), MessageAttributes: w.attrs})
	if err != nil {
		return err
	}
	for i := range 2 {
		ms, err := w.receive(ctx, q, 1, 3)
		if err != nil {
			return err
		}
		if len(ms) != 1 {
			return fmt.Errorf("receive %d: nothing", i+1)
		}
		wait(ctx, 1100*time.Millisecond)
	}
	if ms, err := w.receive(ctx, q, 1, 1); err != nil || len(ms) != 0 {
		return fmt.Errorf("third receive gave %d messages (%v)", len(ms), err)
	}
	ms, err := w.receive(ctx, d, 1, 3)
	if err != nil {
		return err
	}
	if len(ms) != 1 {
		return errors.New("nothing on the DLQ")
	}
	m := ms[0]
	if len(m.MessageAttributes) != 4 || aws.ToString(m.MessageId) != aws.ToString(o.MessageId) {
		return fmt.Errorf("attributes %d, id kept %v", len(m.MessageAttributes), aws.ToString(m.MessageId) == aws.ToString(o.MessageId))
	}
	return nil
}

func (w *queues) dlqSourceArnAttribute(ctx context.Context) error {
	d, err := w.fresh(ctx, nil)
	if err != nil {
		return err
	}
	da, err := w.arn(ctx, d)
	if err != nil {
		return err
	}
	q, err := w.fresh(ctx, map[string]string{"VisibilityTimeout": "0", "RedrivePolicy": `{"deadLetterTargetArn":"` + da + `","maxReceiveCount":"1"}`})
	if err != nil {
		return err
	}
	if err := w.send(ctx, q, "p"); err != nil {
		return err
	}
	if ms, err := w.receive(ctx, q, 1, 1); err != nil || len(ms) != 1 {
		return fmt.Errorf("first receive %d %v", len(ms), err)
	}
	wait(ctx, 100*time.Millisecond)
	if _, err := w.receive(ctx, q, 1, 0); err != nil {
		return err
	}
	ms, err := w.receive(ctx, d, 1, 3)
	if err != nil {
		return err
	}
	if len(ms) != 1 {
		return errors.New("nothing on the DLQ")
	}
	sa, _ := w.arn(ctx, q)
	if ms[0].Attributes["DeadLetterQueueSourceArn"] != sa {
		return fmt.Errorf("DeadLetterQueueSourceArn %q", ms[0].Attributes["DeadLetterQueueSourceArn"])
	}
	if n := receives(ms[0]); n != "2" {
		return fmt.Errorf("ApproximateReceiveCount %s behind the move, want it to go on with 2", n)
	}
	return nil
}

func (w *queues) dlqRedriveTaskAPI(ctx context.Context) error {
	d, err := w.fresh(ctx, nil)
	if err != nil {
		return err
	}
	da, err := w.arn(ctx, d)
	if err != nil {
		return err
	}
	q, err := w.fresh(ctx, map[string]string{"RedrivePolicy": `{"deadLetterTargetArn":"` + da + `","maxReceiveCount":"1"}`})
	if err != nil {
		return err
	}
	l, err := w.client.ListDeadLetterSourceQueues(ctx, &sqs.ListDeadLetterSourceQueuesInput{QueueUrl: &d})
	if err != nil {
		return err
	}
	if len(l.QueueUrls) != 1 || l.QueueUrls[0] != q {
		return fmt.Errorf("source queues %v", l.QueueUrls)
	}
	_, err = w.client.StartMessageMoveTask(ctx, &sqs.StartMessageMoveTaskInput{SourceArn: &da})
	return err
}

func (w *queues) fifoDlq(ctx context.Context) error {
	d, err := w.fresh(ctx, map[string]string{"FifoQueue": "true"})
	if err != nil {
		return err
	}
	da, err := w.arn(ctx, d)
	if err != nil {
		return err
	}
	q, err := w.fresh(ctx, map[string]string{"FifoQueue": "true", "VisibilityTimeout": "1", "RedrivePolicy": `{"deadLetterTargetArn":"` + da + `","maxReceiveCount":1}`})
	if err != nil {
		return err
	}
	if _, err := w.sendFIFO(ctx, q, "p", "g", "d1"); err != nil {
		return err
	}
	if _, err := w.sendFIFO(ctx, q, "next", "g", "d2"); err != nil {
		return err
	}
	if ms, err := w.receive(ctx, q, 1, 1); err != nil || len(ms) != 1 {
		return fmt.Errorf("receive %d %v", len(ms), err)
	}
	wait(ctx, 1200*time.Millisecond)
	ms, err := w.receive(ctx, q, 1, 2)
	if err != nil {
		return err
	}
	if len(ms) != 1 || *ms[0].Body != "next" {
		return fmt.Errorf("after DLQ move the group gives %d messages", len(ms))
	}
	dm, err := w.receive(ctx, d, 1, 2)
	if err != nil {
		return err
	}
	if len(dm) != 1 || dm[0].Attributes["MessageGroupId"] != "g" {
		return fmt.Errorf("DLQ has %d", len(dm))
	}
	return nil
}
