package sqs

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/claimonce/claimonce/consumer"
	"github.com/claimonce/claimonce/internal/awshttp"
)

// Source receives from one queue. It implements [consumer.Source], [consumer.Extender], [consumer.DeadLetterer],
// [consumer.Redeliverer], [consumer.Windower] and [consumer.Checker].
type Source struct {
	client *sqs.Client
	url    string
	cfg    Config

	deletes *batcher[string]
	hides   *batcher[hide]

	mu     sync.Mutex
	facts  *facts // of the queue; nil until they were asked for
	closed bool
	polls  sync.WaitGroup
}

// New uses a client's configuration for a queue. The client itself is not used and stays the caller's: the source's own copy has an
// HTTP client that the SDK cannot make lose messages.
func New(client *sqs.Client, queueURL string, cfg Config) (*Source, error) {
	cfg = cfg.withDefaults()
	err := cfg.validate(queueURL)
	if client == nil {
		err = errors.Join(errors.New("the client is nil"), err)
	}
	if err != nil {
		return nil, fmt.Errorf("sqs: %w", err)
	}
	s := &Source{url: queueURL, cfg: cfg}
	s.client = sqs.New(client.Options(), func(o *sqs.Options) { o.HTTPClient = awshttp.Wrap(o.HTTPClient) })
	s.deletes = newBatcher(cfg.GatherTime, s.deleteBatch)
	s.hides = newBatcher(cfg.GatherTime, s.hideBatch)
	return s, nil
}

// receipt is what a delivery carries.
type receipt struct {
	handle     string
	received   time.Time                              // when it was asked for: its visibility cannot have started later
	attributes map[string]types.MessageAttributeValue // with their types, for a dead letter's copy
}

// onePoll: the SDK sends a ReceiveMessage once.
func onePoll(o *sqs.Options) { o.RetryMaxAttempts = 1 }

// Receive implements [consumer.Source].
//
// A poll that is cancelled may have been answered already, and its messages would stay hidden although nobody has them. So it is not
// cut off: it goes on for what is left of its wait, and what it brings is handed back.
func (s *Source) Receive(ctx context.Context, limit int) ([]*consumer.Message, error) {
	visibility, err := s.visibility(ctx)
	if err != nil {
		return nil, err
	}
	for ctx.Err() == nil {
		msgs, err := s.poll(ctx, limit, visibility)
		if err != nil {
			return nil, s.explain("receive from", err)
		}
		if len(msgs) > 0 {
			return msgs, nil
		}
	}
	return nil, fmt.Errorf("sqs: receive from %s: %w", nameOf(s.url), ctx.Err())
}

type answer struct {
	msgs []*consumer.Message
	err  error
}

func (s *Source) poll(ctx context.Context, limit int, visibility time.Duration) ([]*consumer.Message, error) {
	got := make(chan answer, 1)
	going, cut := context.WithCancel(context.WithoutCancel(ctx))
	if !s.begin() {
		cut()
		return nil, errClosed
	}
	go func() {
		defer s.polls.Done()
		defer cut()
		msgs, err := s.receiveOnce(going, limit, visibility)
		got <- answer{msgs, err}
	}()
	select {
	case a := <-got:
		return a.msgs, a.err
	case <-ctx.Done():
	}
	// What comes in the next moment is handed back. The connection is cut after that: a message answered later than that is
	// taken from nobody, since SQS hides only what it has answered.
	t := time.NewTimer(lateAnswer)
	defer t.Stop()
	select {
	case a := <-got:
		return a.msgs, nil // the consumer hands back what it did not start
	case <-t.C:
		cut()
	}
	a := <-got
	return a.msgs, nil
}

// lateAnswer is how long an answer that is on its way is waited for at a stop.
const lateAnswer = 500 * time.Millisecond

var errClosed = errors.New("sqs: the source is closed")

func (s *Source) begin() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	s.polls.Add(1)
	return true
}

func (s *Source) receiveOnce(ctx context.Context, limit int, visibility time.Duration) ([]*consumer.Message, error) {
	in := &sqs.ReceiveMessageInput{
		QueueUrl: &s.url, MaxNumberOfMessages: int32(max(min(limit, batchLimit), 1)), //nolint:gosec // at most ten
		WaitTimeSeconds: int32(s.cfg.WaitTime / time.Second), //nolint:gosec // at most twenty
		// SQS sends only what is asked for: a key in another attribute would seem to be missing.
		MessageAttributeNames:       []string{"All"},
		MessageSystemAttributeNames: []types.MessageSystemAttributeName{types.MessageSystemAttributeNameAll},
	}
	if s.cfg.Visibility > 0 {
		in.VisibilityTimeout = int32(visibility / time.Second) //nolint:gosec // at most twelve hours
	}
	asked := time.Now()
	out, err := s.client.ReceiveMessage(ctx, in, onePoll)
	if err != nil {
		return nil, err
	}
	msgs := make([]*consumer.Message, 0, len(out.Messages))
	for i := range out.Messages {
		msgs = append(msgs, view(&out.Messages[i], asked))
	}
	return msgs, nil
}

// view is a message as the consumer sees it. Attributes come in the order of their names: SQS sends them as a map.
func view(m *types.Message, asked time.Time) *consumer.Message {
	v := &consumer.Message{
		ID: aws.ToString(m.MessageId), Body: []byte(aws.ToString(m.Body)),
		Receipt: receipt{aws.ToString(m.ReceiptHandle), asked, m.MessageAttributes},
	}
	for name, a := range m.MessageAttributes {
		at := consumer.Attribute{Name: name, Value: []byte(aws.ToString(a.StringValue))}
		if a.StringValue == nil {
			at.Value, at.Binary = a.BinaryValue, true
		}
		v.Attributes = append(v.Attributes, at)
	}
	slices.SortFunc(v.Attributes, func(a, b consumer.Attribute) int { return compare(a.Name, b.Name) })
	if ms, err := strconv.ParseInt(m.Attributes[string(types.MessageSystemAttributeNameSentTimestamp)], 10, 64); err == nil {
		v.SentAt = time.UnixMilli(ms).UTC()
	}
	v.Receives, _ = strconv.Atoi(m.Attributes[string(types.MessageSystemAttributeNameApproximateReceiveCount)])
	return v
}

func compare(a, b string) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// Close implements [consumer.Source].
func (s *Source) Close(ctx context.Context) error {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	done := make(chan struct{})
	go func() {
		s.polls.Wait()
		s.deletes.wait()
		s.hides.wait()
		close(done)
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("sqs: close %s: %w", nameOf(s.url), ctx.Err())
	}
}
