package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

// queue is a queue of one check's own.
type queue struct {
	w         *world
	name, url string
	fifo      bool
}

// queue creates a standard queue with attributes given as names and values in turn.
func (w *world) queue(ctx context.Context, attributes ...string) (*queue, error) {
	return w.make(ctx, &queue{w: w, name: w.next()}, attributes)
}

// fifo creates a FIFO queue.
func (w *world) fifo(ctx context.Context, attributes ...string) (*queue, error) {
	return w.make(ctx, &queue{w: w, name: w.next() + ".fifo", fifo: true}, append(attributes, "FifoQueue", "true"))
}

func (w *world) make(ctx context.Context, q *queue, attributes []string) (*queue, error) {
	in := &sqs.CreateQueueInput{QueueName: &q.name, Tags: map[string]string{tagName: tagValue}}
	if len(attributes) > 0 {
		in.Attributes = map[string]string{}
	}
	for i := 0; i < len(attributes); i += 2 {
		in.Attributes[attributes[i]] = attributes[i+1]
	}
	w.noteQueue(q.name)
	out, err := w.sqs.CreateQueue(ctx, in)
	if err != nil {
		return nil, fmt.Errorf("creating a queue: %w", err)
	}
	q.url = aws.ToString(out.QueueUrl)
	// "you must wait at least one second after the queue is created to be able to use the queue":
	// https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_CreateQueue.html
	return q, pause(ctx, time.Second)
}

// group makes a message one of a FIFO queue. Without an id for deduplication it gets one of its own.
func group(name string, dedup ...string) func(*sqs.SendMessageInput) {
	return func(in *sqs.SendMessageInput) {
		in.MessageGroupId = &name
		if len(dedup) > 0 {
			in.MessageDeduplicationId = &dedup[0]
		}
	}
}

// send gives the message's id.
func (q *queue) send(ctx context.Context, body string, with ...func(*sqs.SendMessageInput)) (id string, err error) {
	in := &sqs.SendMessageInput{QueueUrl: &q.url, MessageBody: &body}
	if q.fifo {
		in.MessageDeduplicationId = aws.String(q.w.next())
	}
	for _, f := range with {
		f(in)
	}
	out, err := q.w.sqs.SendMessage(ctx, in)
	if err != nil {
		return "", err
	}
	return aws.ToString(out.MessageId), nil
}

// poll is one receive as the adapter does it: everything asked for, the visibility named.
func (q *queue) poll(ctx context.Context, most, visibility, wait int32) ([]types.Message, error) {
	out, err := q.w.sqs.ReceiveMessage(ctx, &sqs.ReceiveMessageInput{
		QueueUrl: &q.url, MaxNumberOfMessages: most, VisibilityTimeout: visibility, WaitTimeSeconds: wait,
		MessageAttributeNames: []string{"All"}, MessageSystemAttributeNames: []types.MessageSystemAttributeName{types.MessageSystemAttributeNameAll},
	}, func(o *sqs.Options) { o.Retryer = aws.NopRetryer{} })
	if err != nil {
		return nil, fmt.Errorf("receiving: %w", err)
	}
	return out.Messages, nil
}

// pollTime is how long a message may take to come.
const pollTime = 20

// one receives a message and hides it for some seconds.
func (q *queue) one(ctx context.Context, visibility int32) (types.Message, error) {
	ms, err := q.poll(ctx, 1, visibility, pollTime)
	if err != nil {
		return types.Message{}, err
	}
	if len(ms) != 1 {
		return types.Message{}, seen("no message came within %d s", pollTime)
	}
	return ms[0], nil
}

// several receives until it has n messages.
func (q *queue) several(ctx context.Context, n int, visibility int32) ([]types.Message, error) {
	var got []types.Message
	for end := time.Now().Add(pollTime * time.Second); len(got) < n; {
		if time.Now().After(end) {
			return got, seen("%d of %d messages came within %d s", len(got), n, pollTime)
		}
		ms, err := q.poll(ctx, int32(min(n-len(got), 10)), visibility, 2) //nolint:gosec // at most ten
		if err != nil {
			return got, err
		}
		got = append(got, ms...)
	}
	return got, nil
}

// none finds that no message comes for some seconds.
func (q *queue) none(ctx context.Context, what string, wait int32) error {
	ms, err := q.poll(ctx, 10, 30, wait)
	if err == nil && len(ms) > 0 {
		return seen("%s: a message came (%q, receive %s)", what, aws.ToString(ms[0].Body), receives(ms[0]))
	}
	return err
}

func (q *queue) hide(ctx context.Context, m types.Message, seconds int32) error {
	_, err := q.w.sqs.ChangeMessageVisibility(ctx, &sqs.ChangeMessageVisibilityInput{
		QueueUrl: &q.url, ReceiptHandle: m.ReceiptHandle, VisibilityTimeout: seconds,
	})
	return err
}

func (q *queue) remove(ctx context.Context, m types.Message) error {
	_, err := q.w.sqs.DeleteMessage(ctx, &sqs.DeleteMessageInput{QueueUrl: &q.url, ReceiptHandle: m.ReceiptHandle})
	return err
}

func (q *queue) attributes(ctx context.Context) (map[string]string, error) {
	out, err := q.w.sqs.GetQueueAttributes(ctx, &sqs.GetQueueAttributesInput{
		QueueUrl: &q.url, AttributeNames: []types.QueueAttributeName{types.QueueAttributeNameAll},
	})
	if err != nil {
		return nil, err
	}
	return out.Attributes, nil
}

// pair is a queue with a dead-letter queue that takes a message at its second receive.
func (w *world) pair(ctx context.Context, create func(context.Context, ...string) (*queue, error)) (q, dead *queue, err error) {
	if dead, err = create(ctx, "MessageRetentionPeriod", "1209600"); err != nil {
		return nil, nil, err
	}
	attrs, err := dead.attributes(ctx)
	if err != nil {
		return nil, nil, err
	}
	policy, err := json.Marshal(map[string]any{"deadLetterTargetArn": attrs["QueueArn"], "maxReceiveCount": 1})
	if err != nil {
		return nil, nil, err
	}
	q, err = create(ctx, "RedrivePolicy", string(policy))
	return q, dead, err
}

// bury receives a message, gives it back, and receives again, which moves it to the dead-letter queue. It gives what it was before.
func (q *queue) bury(ctx context.Context, dead *queue) (before, after types.Message, err error) {
	if before, err = q.one(ctx, 30); err != nil {
		return before, after, err
	}
	if err = q.hide(ctx, before, 0); err != nil {
		return before, after, err
	}
	if err = q.none(ctx, "after its last allowed receive", 2); err != nil {
		return before, after, err
	}
	after, err = dead.one(ctx, 30)
	return before, after, err
}

func system(m types.Message, name types.MessageSystemAttributeName) string {
	return m.Attributes[string(name)]
}

func receives(m types.Message) string {
	return system(m, types.MessageSystemAttributeNameApproximateReceiveCount)
}

func sentAt(m types.Message) (int64, error) {
	ms, err := strconv.ParseInt(system(m, types.MessageSystemAttributeNameSentTimestamp), 10, 64)
	if err != nil {
		return 0, seen("SentTimestamp is %q", system(m, types.MessageSystemAttributeNameSentTimestamp))
	}
	return ms, nil
}

// bodies of messages, in their order.
func bodies(ms []types.Message) (list []string) {
	for _, m := range ms {
		list = append(list, aws.ToString(m.Body))
	}
	return list
}

// overOrDone finds that a call with an old handle was either accepted or refused in a way that the adapter takes for a lost message.
func overOrDone(what string, err error) error {
	if err == nil || handleIsOver(err) {
		return nil
	}
	if code := codeOf(err); code != "" {
		return seen("%s was refused with %s (%v), which the adapter does not take for a lost message", what, code, err)
	}
	return err
}

// over is like overOrDone, but accepts no success.
func over(what string, err error) error {
	if err == nil {
		return seen("%s was accepted", what)
	}
	return overOrDone(what, err)
}
