package main

import (
	"context"
	"fmt"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

type attribute = types.MessageAttributeValue

// queues asks SQS. Its cases run at the same time, all but those that share first and received.
type queues struct {
	client *sqs.Client
	unique string // in the names of queues, so that a server can be asked twice
	serial atomic.Int64
	attrs  map[string]attribute // one of each type

	first    string          // a queue with ten messages
	received []types.Message // what came of it
}

func newQueues(url string) *queues {
	return &queues{
		client: sqs.NewFromConfig(config(url)), unique: strconv.FormatInt(time.Now().UnixNano(), 10),
		attrs: map[string]attribute{
			"idempotency-key": {DataType: aws.String("String"), StringValue: aws.String("k-1")},
			"attempt":         {DataType: aws.String("Number"), StringValue: aws.String("42")},
			"sig":             {DataType: aws.String("Binary"), BinaryValue: []byte{0, 1, 2, 254, 255}},
			"trace.id":        {DataType: aws.String("String.custom"), StringValue: aws.String("abc")},
		},
	}
}

func fifo() map[string]string {
	return map[string]string{"FifoQueue": "true", "VisibilityTimeout": "30"}
}

func (w *queues) create(ctx context.Context, name string, attrs map[string]string) (string, error) {
	out, err := w.client.CreateQueue(ctx, &sqs.CreateQueueInput{QueueName: &name, Attributes: attrs})
	if err != nil {
		return "", err
	}
	return aws.ToString(out.QueueUrl), nil
}

// fresh creates a queue that nothing else uses.
func (w *queues) fresh(ctx context.Context, attrs map[string]string) (string, error) {
	name := fmt.Sprintf("q%s-%d", w.unique, w.serial.Add(1))
	if attrs["FifoQueue"] == "true" {
		name += ".fifo"
	}
	return w.create(ctx, name, attrs)
}

func (w *queues) attributes(ctx context.Context, queue string) (map[string]string, error) {
	out, err := w.client.GetQueueAttributes(ctx, &sqs.GetQueueAttributesInput{
		QueueUrl: &queue, AttributeNames: []types.QueueAttributeName{types.QueueAttributeNameAll},
	})
	if err != nil {
		return nil, err
	}
	return out.Attributes, nil
}

func (w *queues) arn(ctx context.Context, queue string) (string, error) {
	attrs, err := w.attributes(ctx, queue)
	return attrs["QueueArn"], err
}

// counters are what is visible, in flight and delayed.
func (w *queues) counters(ctx context.Context, queue string) (string, error) {
	a, err := w.attributes(ctx, queue)
	return a["ApproximateNumberOfMessages"] + "/" + a["ApproximateNumberOfMessagesNotVisible"] + "/" + a["ApproximateNumberOfMessagesDelayed"], err
}

func (w *queues) receive(ctx context.Context, queue string, limit, wait int32) ([]types.Message, error) {
	out, err := w.client.ReceiveMessage(ctx, &sqs.ReceiveMessageInput{
		QueueUrl: &queue, MaxNumberOfMessages: limit, WaitTimeSeconds: wait, MessageAttributeNames: []string{"All"},
		MessageSystemAttributeNames: []types.MessageSystemAttributeName{types.MessageSystemAttributeNameAll},
	})
	if err != nil {
		return nil, err
	}
	return out.Messages, nil
}

// held is a fresh queue with one message, which was received.
func (w *queues) held(ctx context.Context, attributes map[string]string) (queue string, m types.Message, err error) {
	queue, err = w.fresh(ctx, attributes)
	if err != nil {
		return queue, m, err
	}
	if err = w.send(ctx, queue, "x"); err != nil {
		return queue, m, err
	}
	got, err := w.receive(ctx, queue, 1, 1)
	if err != nil || len(got) != 1 {
		return queue, m, fmt.Errorf("receive: %v", err)
	}
	return queue, got[0], nil
}

func (w *queues) send(ctx context.Context, queue, body string) error {
	_, err := w.client.SendMessage(ctx, &sqs.SendMessageInput{QueueUrl: &queue, MessageBody: &body})
	return err
}

func (w *queues) sendFIFO(ctx context.Context, queue, body, group, dedup string) (*sqs.SendMessageOutput, error) {
	in := &sqs.SendMessageInput{QueueUrl: &queue, MessageBody: &body, MessageGroupId: &group}
	if dedup != "" {
		in.MessageDeduplicationId = &dedup
	}
	return w.client.SendMessage(ctx, in)
}

func (w *queues) remove(ctx context.Context, queue string, handle *string) error {
	_, err := w.client.DeleteMessage(ctx, &sqs.DeleteMessageInput{QueueUrl: &queue, ReceiptHandle: handle})
	return err
}

func receives(m types.Message) string { return m.Attributes["ApproximateReceiveCount"] }
