package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

// attempt is a receive under an id, as the adapter does it on FIFO queues.
func (q *queue) attempt(ctx context.Context, id string) ([]message, error) {
	out, err := q.w.sqs.ReceiveMessage(ctx, &sqs.ReceiveMessageInput{
		QueueUrl: &q.url, MaxNumberOfMessages: 10, VisibilityTimeout: 60, WaitTimeSeconds: 5, ReceiveRequestAttemptId: &id,
		MessageSystemAttributeNames: []types.MessageSystemAttributeName{types.MessageSystemAttributeNameAll},
	})
	if err != nil {
		return nil, fmt.Errorf("receiving: %w", err)
	}
	return out.Messages, nil
}

// attemptRepeated: a receive that is sent again under the same id brings the same messages with the same handles, although they are hidden;
// one under another id brings none of them.
func attemptRepeated(ctx context.Context, w *world) error {
	q, err := w.fifo(ctx)
	if err != nil {
		return err
	}
	for _, body := range []string{"0", "1"} {
		if _, err := q.send(ctx, body, group("a")); err != nil {
			return err
		}
	}
	id := w.next()
	once, err := q.attempt(ctx, id)
	if err != nil {
		return err
	}
	if len(once) == 0 {
		return seen("no message came")
	}
	again, err := q.attempt(ctx, id)
	if err != nil {
		return err
	}
	if a, b := handles(once), handles(again); !slices.Equal(a, b) {
		return seen("%d messages came, and %d at the repeat: %v, then %v", len(a), len(b), bodies(once), bodies(again))
	}
	other, err := q.attempt(ctx, w.next())
	if err != nil {
		return err
	}
	if len(other) > 0 {
		return seen("under another id %v came of a group that is held", bodies(other))
	}
	return q.remove(ctx, again[0])
}

func handles(ms []message) (list []string) {
	for _, m := range ms {
		list = append(list, aws.ToString(m.MessageId)+" "+aws.ToString(m.ReceiptHandle))
	}
	return list
}

// fifoByName: a FIFO queue has a name that ends with .fifo, and no other queue can have one.
func fifoByName(ctx context.Context, w *world) error {
	for _, c := range []struct {
		what, name string
		attributes map[string]string
	}{
		{"a FIFO queue whose name does not end with .fifo", w.next(), map[string]string{"FifoQueue": "true"}},
		{"a standard queue whose name ends with .fifo", w.next() + ".fifo", nil},
	} {
		w.noteQueue(c.name)
		_, err := w.sqs.CreateQueue(ctx, &sqs.CreateQueueInput{QueueName: &c.name, Attributes: c.attributes})
		if err := refused(c.what, err, "InvalidParameterValue", "InvalidAttributeName"); err != nil {
			return err
		}
	}
	return nil
}
