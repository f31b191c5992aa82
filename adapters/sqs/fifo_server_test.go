package sqs_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"testing"
	"testing/synctest"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

// A deviation is a rule of FIFO queues that servers which imitate SQS break. No test of this module rests on one of them; each is asked
// of the server itself, so that nobody takes what is seen there for what SQS does.
type deviation struct {
	name string
	ask  func(ctx context.Context, client *sqs.Client) error // what the server does otherwise
}

// SQS-13.
// https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/using-messagededuplicationid-property.html
// https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/enable-high-throughput-fifo.html
func deviations() []deviation {
	return []deviation{
		{"an id is recognised for five minutes, though its message is deleted", dedupAfterDelete},
		{"an id is recognised in the whole queue", dedupOverGroups},
		{"an id is recognised in its group only, if the queue says so", dedupInGroups},
		{"a receive is repeated by its attempt id", repeatedReceive},
	}
}

func TestSQS13_AwstestDeviatesInNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, d := range deviations() {
			if err := d.ask(t.Context(), inProcess()); err != nil {
				t.Errorf("%s: %v", d.name, err)
			}
		}
	})
}

// asked is a FIFO queue, and the first error of what was asked of it.
type asked struct {
	ctx    context.Context //nolint:containedctx // one question's
	client *sqs.Client
	queue  *string
	err    error
}

func ask(ctx context.Context, client *sqs.Client, attributes map[string]string) *asked {
	all := map[string]string{"FifoQueue": "true"}
	maps.Copy(all, attributes)
	out, err := client.CreateQueue(ctx, &sqs.CreateQueueInput{QueueName: aws.String("d-" + rand.Text() + ".fifo"), Attributes: all})
	a := &asked{ctx: ctx, client: client, err: err}
	if err == nil {
		a.queue = out.QueueUrl
	}
	return a
}

func (a *asked) send(group, id string) {
	if a.err == nil {
		_, a.err = a.client.SendMessage(a.ctx, &sqs.SendMessageInput{
			QueueUrl: a.queue, MessageBody: aws.String("body"), MessageGroupId: &group, MessageDeduplicationId: &id,
		})
	}
}

func (a *asked) receive(attempt string) []types.Message {
	if a.err != nil {
		return nil
	}
	out, err := a.client.ReceiveMessage(a.ctx, &sqs.ReceiveMessageInput{
		QueueUrl: a.queue, MaxNumberOfMessages: 10, VisibilityTimeout: 60, WaitTimeSeconds: 1, ReceiveRequestAttemptId: &attempt,
	})
	if a.err = err; err != nil {
		return nil
	}
	return out.Messages
}

// all receives until nothing comes: a server may give one group's messages at a time.
func (a *asked) all() (msgs []types.Message) {
	for {
		got := a.receive(rand.Text())
		if msgs = append(msgs, got...); len(got) == 0 {
			return msgs
		}
	}
}

func (a *asked) delete(msgs []types.Message) {
	for _, m := range msgs {
		if a.err == nil {
			_, a.err = a.client.DeleteMessage(a.ctx, &sqs.DeleteMessageInput{QueueUrl: a.queue, ReceiptHandle: m.ReceiptHandle})
		}
	}
}

func (a *asked) want(msgs []types.Message, n int) error {
	if a.err == nil && len(msgs) != n {
		a.err = fmt.Errorf("%d messages come, want %d", len(msgs), n)
	}
	return a.err
}

func dedupAfterDelete(ctx context.Context, client *sqs.Client) error {
	a := ask(ctx, client, nil)
	a.send("g", "id")
	first := a.all()
	if err := a.want(first, 1); err != nil {
		return err
	}
	a.delete(first)
	a.send("g", "id")
	return a.want(a.all(), 0)
}

func dedupOverGroups(ctx context.Context, client *sqs.Client) error {
	a := ask(ctx, client, nil)
	a.send("g", "id")
	a.send("h", "id")
	return a.want(a.all(), 1)
}

func dedupInGroups(ctx context.Context, client *sqs.Client) error {
	a := ask(ctx, client, map[string]string{"DeduplicationScope": "messageGroup", "FifoThroughputLimit": "perMessageGroupId"})
	a.send("g", "id")
	a.send("h", "id")
	a.send("g", "id")
	return a.want(a.all(), 2)
}

func repeatedReceive(ctx context.Context, client *sqs.Client) error {
	a := ask(ctx, client, nil)
	a.send("g", "id")
	first, again := a.receive("attempt"), a.receive("attempt")
	if err := a.want(first, 1); err != nil {
		return err
	}
	if err := a.want(again, 1); err != nil {
		return err
	}
	if aws.ToString(first[0].ReceiptHandle) != aws.ToString(again[0].ReceiptHandle) {
		return errors.New("the repeat has another handle")
	}
	return nil
}
