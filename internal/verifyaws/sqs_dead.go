package main

import (
	"context"
	"encoding/json"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

func getURL(name, account string) *sqs.GetQueueUrlInput {
	return &sqs.GetQueueUrlInput{QueueName: &name, QueueOwnerAWSAccountId: &account}
}

// policyIsTold: a queue tells its redrive policy as JSON, with the target's ARN and the count as a number or as text.
func policyIsTold(ctx context.Context, w *world) error {
	q, dead, err := w.pair(ctx, w.queue)
	if err != nil {
		return err
	}
	attrs, err := q.attributes(ctx)
	if err != nil {
		return err
	}
	target, err := dead.attributes(ctx)
	if err != nil {
		return err
	}
	var p struct {
		Target string      `json:"deadLetterTargetArn"`
		Max    json.Number `json:"maxReceiveCount"`
	}
	if err := json.Unmarshal([]byte(attrs["RedrivePolicy"]), &p); err != nil {
		return seen("the policy is told as %q", attrs["RedrivePolicy"])
	}
	if p.Target != target["QueueArn"] || p.Max.String() != "1" {
		return seen("the policy is told as %q; the target is %s", attrs["RedrivePolicy"], target["QueueArn"])
	}
	return nil
}

// movedAsItWas: SQS moves a message once it was received more often than allowed, with body and attributes.
func movedAsItWas(ctx context.Context, w *world) error {
	q, dead, err := w.pair(ctx, w.queue)
	if err != nil {
		return err
	}
	if _, err := q.send(ctx, "x", attributes(map[string]types.MessageAttributeValue{"Idempotency-Key": stringValue("k")})); err != nil {
		return err
	}
	_, after, err := q.bury(ctx, dead)
	if err != nil {
		return err
	}
	if aws.ToString(after.Body) != "x" || aws.ToString(after.MessageAttributes["Idempotency-Key"].StringValue) != "k" {
		return seen("it came as %q with %v", aws.ToString(after.Body), after.MessageAttributes)
	}
	return nil
}

// movedKeepsTime: on standard queues a moved message keeps its SentTimestamp.
func movedKeepsTime(ctx context.Context, w *world) error {
	q, dead, err := w.pair(ctx, w.queue)
	if err != nil {
		return err
	}
	if _, err := q.send(ctx, "x"); err != nil {
		return err
	}
	if err := pause(ctx, 2*time.Second); err != nil {
		return err
	}
	before, after, err := q.bury(ctx, dead)
	if err != nil {
		return err
	}
	a, err := sentAt(before)
	if err != nil {
		return err
	}
	b, err := sentAt(after)
	if err == nil && a != b {
		return seen("SentTimestamp was %d, and is %d after the move", a, b)
	}
	return err
}

// redriven moves what is in the dead-letter queue back, and gives the message as it comes to the queue again.
func (q *queue) redriven(ctx context.Context, dead *queue) (message, error) {
	attrs, err := dead.attributes(ctx)
	if err != nil {
		return message{}, err
	}
	if _, err := q.w.sqs.StartMessageMoveTask(ctx, &sqs.StartMessageMoveTaskInput{SourceArn: aws.String(attrs["QueueArn"])}); err != nil {
		return message{}, err
	}
	for range 3 { // on AWS a move begins after some seconds
		ms, err := q.poll(ctx, 1, 30, pollTime)
		if err != nil || len(ms) > 0 {
			return first(ms), err
		}
	}
	return message{}, seen("a redrive brought nothing back within a minute")
}

func first(ms []message) message {
	if len(ms) == 0 {
		return message{}
	}
	return ms[0]
}

// redriveIsNew: what a redrive moves back is a new message, with an id and a SentTimestamp of its own, and the same body and attributes.
func redriveIsNew(ctx context.Context, w *world) error {
	q, dead, err := w.pair(ctx, w.queue)
	if err != nil {
		return err
	}
	id, err := q.send(ctx, "x", attributes(map[string]types.MessageAttributeValue{"Idempotency-Key": stringValue("k")}))
	if err != nil {
		return err
	}
	before, after, err := q.bury(ctx, dead)
	if err != nil {
		return err
	}
	if err := dead.hide(ctx, after, 0); err != nil {
		return err
	}
	again, err := q.redriven(ctx, dead)
	if err != nil {
		return err
	}
	a, err := sentAt(before)
	if err != nil {
		return err
	}
	b, err := sentAt(again)
	if err != nil {
		return err
	}
	if aws.ToString(again.MessageId) == id || b <= a || aws.ToString(again.MessageAttributes["Idempotency-Key"].StringValue) != "k" {
		return seen("id %s (sent as %s), SentTimestamp %d (sent %d), attributes %v", aws.ToString(again.MessageId), id, b, a, again.MessageAttributes)
	}
	return nil
}

// sameKindOfDead: the dead-letter queue of a standard queue cannot be a FIFO queue.
func sameKindOfDead(ctx context.Context, w *world) error {
	dead, err := w.fifo(ctx)
	if err != nil {
		return err
	}
	attrs, err := dead.attributes(ctx)
	if err != nil {
		return err
	}
	_, err = w.queue(ctx, "RedrivePolicy", `{"deadLetterTargetArn":"`+attrs["QueueArn"]+`","maxReceiveCount":"1"}`)
	return refused("a redrive policy of a standard queue that names a FIFO queue", err,
		"InvalidParameterValue", "InvalidAttributeValue", "InvalidParameterCombination")
}
