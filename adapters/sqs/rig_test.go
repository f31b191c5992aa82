package sqs_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	adapter "github.com/claimonce/claimonce/adapters/sqs"
	"github.com/claimonce/claimonce/awstest"
	"github.com/claimonce/claimonce/consumer"
)

var (
	_ consumer.Source       = (*adapter.Source)(nil)
	_ consumer.Extender     = (*adapter.Source)(nil)
	_ consumer.DeadLetterer = (*adapter.Source)(nil)
	_ consumer.Redeliverer  = (*adapter.Source)(nil)
	_ consumer.Windower     = (*adapter.Source)(nil)
	_ consumer.Poller       = (*adapter.Source)(nil)
	_ consumer.Checker      = (*adapter.Source)(nil)
)

// A rig is a queue with a dead-letter queue, reached through the AWS SDK.
type rig struct {
	t      *testing.T
	server *awstest.Server
	client *sqs.Client
	queue  string // URLs
	dead   string
	log    log
}

// inBubble runs a test on fake time with a queue in the process. At its end nothing may be left running: the bubble fails else.
func inBubble(t *testing.T, f func(t *testing.T, r *rig)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { f(t, newRig(t, nil)) })
}

// newRig makes the queue with attributes beside those of the rig's own.
func newRig(t *testing.T, attributes map[string]string) *rig {
	t.Helper()
	r := &rig{t: t, server: awstest.New(awstest.Config{})}
	r.client = sqs.NewFromConfig(aws.Config{
		Region: "eu-west-1", Credentials: credentials.NewStaticCredentialsProvider("test", "test", ""),
		HTTPClient: r.server.Client(), BaseEndpoint: aws.String("http://aws.invalid"),
	})
	r.dead = r.makeQueue("work-dead", map[string]string{"MessageRetentionPeriod": "1209600"})
	all := map[string]string{"VisibilityTimeout": "30", "RedrivePolicy": r.policy(r.dead, 1000)}
	for name, v := range attributes {
		if all[name] = v; v == "" {
			delete(all, name)
		}
	}
	r.queue = r.makeQueue("work", all)
	return r
}

func (r *rig) policy(dead string, receives int) string {
	r.t.Helper()
	out, err := r.client.GetQueueAttributes(r.t.Context(), &sqs.GetQueueAttributesInput{
		QueueUrl: &dead, AttributeNames: []types.QueueAttributeName{types.QueueAttributeNameQueueArn},
	})
	if err != nil {
		r.t.Fatal(err)
	}
	return fmt.Sprintf(`{"deadLetterTargetArn":%q,"maxReceiveCount":%d}`, out.Attributes["QueueArn"], receives)
}

func (r *rig) makeQueue(name string, attributes map[string]string) string {
	r.t.Helper()
	out, err := r.client.CreateQueue(r.t.Context(), &sqs.CreateQueueInput{QueueName: &name, Attributes: attributes})
	if err != nil {
		r.t.Fatal(err)
	}
	return aws.ToString(out.QueueUrl)
}

// open makes a source that is closed at the test's end.
func (r *rig) open(cfg adapter.Config) *adapter.Source {
	r.t.Helper()
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.NewTextHandler(&r.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	}
	s, err := adapter.New(r.client, r.queue, cfg)
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() {
		if err := s.Close(context.WithoutCancel(r.t.Context())); err != nil {
			r.t.Errorf("close: %v", err)
		}
	})
	return s
}

func (r *rig) send(bodies ...string) (ids []string) {
	r.t.Helper()
	for _, b := range bodies {
		ids = append(ids, send(r.t, r.client, r.queue, consumer.Message{Body: []byte(b)}))
	}
	return ids
}

func (r *rig) sendMany(n int) {
	r.t.Helper()
	for i := range n {
		r.send(fmt.Sprint("body ", i))
	}
}

func send(t *testing.T, client *sqs.Client, queue string, m consumer.Message) string {
	t.Helper()
	in := &sqs.SendMessageInput{QueueUrl: &queue, MessageBody: aws.String(string(m.Body)), MessageAttributes: map[string]types.MessageAttributeValue{}}
	for _, a := range m.Attributes {
		v := types.MessageAttributeValue{DataType: aws.String("String"), StringValue: aws.String(string(a.Value))}
		if a.Binary {
			v = types.MessageAttributeValue{DataType: aws.String("Binary"), BinaryValue: a.Value}
		}
		in.MessageAttributes[a.Name] = v
	}
	out, err := client.SendMessage(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	return aws.ToString(out.MessageId)
}

// take receives n messages.
func (r *rig) take(s *adapter.Source, n int) []*consumer.Message {
	r.t.Helper()
	var got []*consumer.Message
	for len(got) < n {
		msgs, err := s.Receive(r.t.Context(), n-len(got))
		if err != nil {
			r.t.Fatal(err)
		}
		got = append(got, msgs...)
	}
	return got
}

// left is what lies in the queue.
func (r *rig) left() []awstest.Message { return r.server.Messages("work") }

func (r *rig) wantLeft(n int) {
	r.t.Helper()
	if got := r.left(); len(got) != n {
		r.t.Errorf("got %d messages in the queue, want %d", len(got), n)
	}
}

// calls lists the bodies of the calls of an operation.
func (r *rig) calls(operation string) (bodies []map[string]any) {
	r.t.Helper()
	for _, c := range r.server.Calls() {
		if c.Operation != operation {
			continue
		}
		var b map[string]any
		if err := json.Unmarshal(c.Body, &b); err != nil {
			r.t.Fatal(err)
		}
		bodies = append(bodies, b)
	}
	return bodies
}

// entries are the entries of a batch call, in their order.
func entries(call map[string]any) (out []map[string]any) {
	list, _ := call["Entries"].([]any)
	for _, e := range list {
		m, _ := e.(map[string]any)
		out = append(out, m)
	}
	return out
}

func entryIDs(call map[string]any) (ids []string) {
	for _, e := range entries(call) {
		ids = append(ids, fmt.Sprint(e["Id"]))
	}
	slices.Sort(ids)
	return ids
}

// each runs f for all messages at a time and returns what failed, by message.
func each(msgs []*consumer.Message, f func(*consumer.Message) error) []error {
	errs := make([]error, len(msgs))
	var wg sync.WaitGroup
	for i, m := range msgs {
		wg.Go(func() { errs[i] = f(m) })
	}
	wg.Wait()
	return errs
}

// during runs f while nobody waits for it, and returns a way to wait.
func during(f func()) (wait func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	return func() { <-done }
}

// elapse lets time pass: only for what the queue does by its own clock.
func elapse(d time.Duration) { <-time.After(d) }

// log is what the source logged.
type log struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func sorted[T cmp.Ordered](s []T) []T {
	s = slices.Clone(s)
	slices.Sort(s)
	return s
}
