//go:build integration

package sqs_test

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	adapter "github.com/claimonce/claimonce/adapters/sqs"
	"github.com/claimonce/claimonce/consumer"
	"github.com/claimonce/claimonce/internal/awshttp"
)

// serverVisibility: the least that the source takes, since the checks wait for its end in real time.
const serverVisibility = 3 * time.Second

// onServer makes a fresh queue with a dead-letter queue on the server that CLAIMONCE_SQS_ENDPOINT names.
func onServer(t *testing.T) *rig {
	t.Helper()
	r := &rig{t: t, client: serverClient(t)}
	name := "t-" + rand.Text()
	r.dead = r.makeQueue(name+"-dead", map[string]string{"MessageRetentionPeriod": "1209600"})
	r.queue = r.makeQueue(name, map[string]string{
		"VisibilityTimeout": fmt.Sprint(serverVisibility.Seconds()), "RedrivePolicy": r.policy(r.dead, 1000),
	})
	return r
}

// SQS-05, SQS-07: failures of entries map back to their messages.
func TestServerBatchWithAnEntryThatFails(t *testing.T) {
	t.Parallel()
	r := onServer(t)
	s := r.open(adapter.Config{})
	r.sendMany(9)
	msgs := r.take(s, 9)
	if err := s.Ack(t.Context(), msgs[4]); err != nil {
		t.Fatal(err)
	}
	for i, err := range each(msgs, func(m *consumer.Message) error { return s.Extend(t.Context(), m) }) {
		if i != 4 && err != nil || i == 4 && !errors.Is(err, consumer.ErrNotHeld) {
			t.Errorf("extension %d: got %v, want ErrNotHeld of the deleted message alone", i, err)
		}
	}
	for i, err := range each(msgs, func(m *consumer.Message) error { return s.Ack(t.Context(), m) }) {
		if err != nil {
			t.Errorf("ack %d: %v", i, err)
		}
	}
	if left := drain(t, r.client, r.queue); len(left) > 0 {
		t.Errorf("got %d messages after all were acked", len(left))
	}
}

// A message that was deleted by somebody else: a handle that no server takes for a live one.
func TestServerBatchWithAMessageThatIsGone(t *testing.T) {
	t.Parallel()
	r := onServer(t)
	s := r.open(adapter.Config{Visibility: 60 * time.Second})
	r.sendMany(5)
	msgs := r.take(s, 5)
	one, err := adapter.New(r.client, r.queue, adapter.Config{Visibility: 60 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Nack(t.Context(), msgs[2], 0); err != nil {
		t.Fatal(err)
	}
	if err := one.Ack(t.Context(), r.take(one, 1)[0]); err != nil {
		t.Fatal(err)
	}
	for i, err := range each(msgs, func(m *consumer.Message) error { return s.Nack(t.Context(), m, 0) }) {
		if i != 2 && err != nil || i == 2 && !errors.Is(err, consumer.ErrNotHeld) {
			t.Errorf("nack %d: got %v, want ErrNotHeld of the message that is gone alone", i, err)
		}
	}
	if left := drain(t, r.client, r.queue); len(left) != 4 {
		t.Errorf("got %d messages back, want 4", len(left))
	}
}

func serverClient(t *testing.T) *sqs.Client {
	t.Helper()
	endpoint := os.Getenv("CLAIMONCE_SQS_ENDPOINT")
	if endpoint == "" {
		t.Fatal("CLAIMONCE_SQS_ENDPOINT is not set: name an SQS server, for example http://127.0.0.1:4566")
	}
	return sqs.New(sqs.Options{
		Region: "us-east-1", BaseEndpoint: aws.String(endpoint), HTTPClient: awshttp.Wrap(nil),
		Credentials: credentials.NewStaticCredentialsProvider("test", "test", ""),
	})
}

func TestServerDeadLetterKeepsTypes(t *testing.T) {
	t.Parallel()
	r := onServer(t)
	s := r.open(adapter.Config{})
	sent := map[string]types.MessageAttributeValue{
		consumer.DefaultKeyAttribute: {DataType: aws.String("String"), StringValue: aws.String("k")},
		"Count":                      {DataType: aws.String("Number.int"), StringValue: aws.String("42")},
		"Picture":                    {DataType: aws.String("Binary.png"), BinaryValue: []byte{0, 0xff, 0x89}},
	}
	if _, err := r.client.SendMessage(t.Context(), &sqs.SendMessageInput{
		QueueUrl: &r.queue, MessageBody: aws.String("body ключ"), MessageAttributes: sent,
	}); err != nil {
		t.Fatal(err)
	}
	m := r.take(s, 1)[0]
	letter := consumer.DeadLetter{Reason: consumer.ReasonExhausted, Detail: "bell \a and ключ", KeyHash: "hash", Attempts: 5}
	if err := s.DeadLetter(t.Context(), m, letter); err != nil {
		t.Fatal(err)
	}
	out, err := r.client.ReceiveMessage(t.Context(), &sqs.ReceiveMessageInput{
		QueueUrl: &r.dead, WaitTimeSeconds: 5, MessageAttributeNames: []string{"All"},
	})
	if err != nil || len(out.Messages) != 1 || aws.ToString(out.Messages[0].Body) != "body ключ" {
		t.Fatalf("got %+v, %v, want the dead letter", out, err)
	}
	got := out.Messages[0].MessageAttributes
	for name, want := range sent {
		if a := got[name]; aws.ToString(a.DataType) != *want.DataType || aws.ToString(a.StringValue) != aws.ToString(want.StringValue) ||
			string(a.BinaryValue) != string(want.BinaryValue) {
			t.Errorf("%s: got %s %q %q", name, aws.ToString(a.DataType), aws.ToString(a.StringValue), a.BinaryValue)
		}
	}
	for name, want := range map[string]string{
		adapter.AttributeReason: consumer.ReasonExhausted, adapter.AttributeDetail: "bell ? and ключ",
		adapter.AttributeKeyHash: "hash", adapter.AttributeAttempts: "5",
	} {
		if a := aws.ToString(got[name].StringValue); a != want {
			t.Errorf("%s: got %q, want %q", name, a, want)
		}
	}
}

func TestServerCheck(t *testing.T) {
	t.Parallel()
	r := onServer(t)
	s := r.open(adapter.Config{})
	if err := s.Check(t.Context()); err != nil {
		t.Error(err)
	}
	if got, err := s.MaxRedelivery(t.Context()); err != nil || got != 14*24*time.Hour {
		t.Errorf("got %v, %v, want the dead-letter queue's 14 days", got, err)
	}
	r.queue += "-missing"
	missing := r.open(adapter.Config{})
	wantError(t, missing.Check(t.Context()), true, "does not exist")
	_, err := r.open(adapter.Config{Visibility: 30 * time.Second}).Receive(t.Context(), 1)
	wantError(t, err, true, "does not exist")
}
