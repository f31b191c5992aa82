package sqs_test

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/claimonce/claimonce/adapters/adaptertest"
	adapter "github.com/claimonce/claimonce/adapters/sqs"
	"github.com/claimonce/claimonce/consumer"
)

// pollTime is the default of [adapter.Config.WaitTime].
const pollTime = 20 * time.Second

// contractRig makes queues on any server for the suite of sources. client is called for each queue.
func contractRig(client func() *sqs.Client, fifo bool, visibility time.Duration) adaptertest.Rig {
	const days = 24 * time.Hour
	redelivery := 14 * days // the dead-letter queue's retention
	if fifo {
		redelivery += 4 * days // it begins anew there, after the queue's own
	}
	return adaptertest.Rig{
		New: func(ctx context.Context) (*adaptertest.Queue, error) {
			b := &bench{client: client(), fifo: fifo}
			if err := b.create(ctx, visibility); err != nil {
				return nil, err
			}
			return &adaptertest.Queue{
				Open: b.open, Send: b.send, Crash: b.crash, DeadLetters: b.deadLetters, BreakDeadLetters: b.breakDeadLetters,
			}, nil
		},
		Visibility: visibility, Grain: time.Second, Groups: fifo, BodyBytes: 1 << 20, ValueBytes: 400 << 10,
		MaxRedelivery: redelivery, PollTime: pollTime,
	}
}

// A bench is one queue with its dead-letter queue, without a test: the suite has none to give.
type bench struct {
	client      *sqs.Client
	fifo        bool
	queue, dead string // URLs

	mu   sync.Mutex
	cuts map[consumer.Source]context.CancelFunc
}

func (b *bench) create(ctx context.Context, visibility time.Duration) error {
	name := "c-" + rand.Text()
	var err error
	if b.dead, err = b.createQueue(ctx, name+"-dead", map[string]string{"MessageRetentionPeriod": "1209600"}); err != nil {
		return err
	}
	arn, err := b.client.GetQueueAttributes(ctx, &sqs.GetQueueAttributesInput{
		QueueUrl: &b.dead, AttributeNames: []types.QueueAttributeName{types.QueueAttributeNameQueueArn},
	})
	if err != nil {
		return err
	}
	b.queue, err = b.createQueue(ctx, name, map[string]string{
		"VisibilityTimeout": strconv.Itoa(int(visibility / time.Second)),
		"RedrivePolicy":     fmt.Sprintf(`{"deadLetterTargetArn":%q,"maxReceiveCount":1000}`, arn.Attributes["QueueArn"]),
	})
	return err
}

func (b *bench) createQueue(ctx context.Context, name string, attributes map[string]string) (string, error) {
	if b.fifo {
		name += ".fifo"
		attributes["FifoQueue"] = "true"
	}
	out, err := b.client.CreateQueue(ctx, &sqs.CreateQueueInput{QueueName: &name, Attributes: attributes})
	if err != nil {
		return "", err
	}
	return aws.ToString(out.QueueUrl), nil
}

func (b *bench) open(context.Context) (consumer.Source, error) {
	ctx, cut := context.WithCancel(context.Background())
	s, err := adapter.New(sqs.New(b.client.Options(), func(o *sqs.Options) {
		o.HTTPClient = severable{o.HTTPClient, ctx}
	}), b.queue, adapter.Config{})
	if err != nil {
		cut()
		return nil, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.cuts == nil {
		b.cuts = map[consumer.Source]context.CancelFunc{}
	}
	b.cuts[s] = cut
	return s, nil
}

// crash cuts the source's connections: calls that are under way, and all later ones.
func (b *bench) crash(_ context.Context, s consumer.Source) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.cuts[s]()
	return nil
}

type severable struct {
	base sqs.HTTPClient
	cut  context.Context //nolint:containedctx // the process whose death it plays
}

func (c severable) Do(r *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancel(r.Context())
	stop := context.AfterFunc(c.cut, cancel)
	resp, err := c.base.Do(r.WithContext(ctx))
	if c.cut.Err() != nil {
		err = errors.Join(errors.New("the process is dead"), err)
	}
	if err != nil {
		stop()
		cancel()
		return nil, err
	}
	return resp, nil // cancel only with the crash: the body is still to be read
}

func (b *bench) send(ctx context.Context, m consumer.Message) (string, error) {
	in := &sqs.SendMessageInput{
		QueueUrl: &b.queue, MessageBody: aws.String(string(m.Body)), MessageAttributes: map[string]types.MessageAttributeValue{},
	}
	for _, a := range m.Attributes {
		v := types.MessageAttributeValue{DataType: aws.String("String"), StringValue: aws.String(string(a.Value))}
		if a.Binary {
			v = types.MessageAttributeValue{DataType: aws.String("Binary"), BinaryValue: a.Value}
		}
		in.MessageAttributes[a.Name] = v
	}
	if b.fifo { // a FIFO queue has no message without a group: one of its own orders nothing
		in.MessageGroupId, in.MessageDeduplicationId = aws.String(cmp.Or(m.Group, rand.Text())), aws.String(rand.Text())
	}
	out, err := b.client.SendMessage(ctx, in)
	if err != nil {
		return "", err
	}
	return aws.ToString(out.MessageId), nil
}

// deadLetters reads them without the adapter, and takes the adapter's attributes apart.
func (b *bench) deadLetters(ctx context.Context) (dead []adaptertest.Dead, err error) {
	all, err := drainQueue(ctx, b.client, b.dead)
	for _, m := range all {
		var d adaptertest.Dead
		for _, a := range m.Attributes {
			switch v := string(a.Value); a.Name {
			case adapter.AttributeReason:
				d.Letter.Reason = v
			case adapter.AttributeDetail:
				d.Letter.Detail = v
			case adapter.AttributeKeyHash:
				d.Letter.KeyHash = v
			case adapter.AttributeAttempts:
				d.Letter.Attempts, _ = strconv.Atoi(v)
			default:
				if !strings.HasPrefix(a.Name, "Claimonce-") {
					d.Message.Attributes = append(d.Message.Attributes, a)
				}
			}
		}
		d.Message.ID, d.Message.Body = m.ID, m.Body
		dead = append(dead, d)
	}
	return dead, err
}

func (b *bench) breakDeadLetters(ctx context.Context) error {
	_, err := b.client.DeleteQueue(ctx, &sqs.DeleteQueueInput{QueueUrl: &b.dead})
	return err
}

// drainQueue takes everything out of a queue, without this adapter.
func drainQueue(ctx context.Context, client *sqs.Client, queue string) (all []consumer.Message, err error) {
	for {
		out, err := client.ReceiveMessage(ctx, &sqs.ReceiveMessageInput{
			QueueUrl: &queue, MaxNumberOfMessages: 10, MessageAttributeNames: []string{"All"}, WaitTimeSeconds: 1,
		})
		if err != nil || len(out.Messages) == 0 {
			return all, err
		}
		for _, m := range out.Messages {
			v := consumer.Message{ID: aws.ToString(m.MessageId), Body: []byte(aws.ToString(m.Body))}
			for name, a := range m.MessageAttributes {
				v.Attributes = append(v.Attributes, consumer.Attribute{
					Name: name, Value: append([]byte(aws.ToString(a.StringValue)), a.BinaryValue...), Binary: a.StringValue == nil,
				})
			}
			all = append(all, v)
			if _, err := client.DeleteMessage(ctx, &sqs.DeleteMessageInput{QueueUrl: &queue, ReceiptHandle: m.ReceiptHandle}); err != nil {
				return nil, err
			}
		}
	}
}
