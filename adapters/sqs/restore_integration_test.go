//go:build integration

package sqs_test

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/sqs"

	adapter "github.com/claimonce/claimonce/adapters/sqs"
	"github.com/claimonce/claimonce/consumer"
)

// SQS-17 on a server by other people: ten attributes in, ten out, and after a move back they are what they were.
func TestServerSQS17_DeadLetterOfTenAttributes(t *testing.T) {
	t.Parallel()
	r := onServer(t)
	s := r.open(adapter.Config{})
	sent := ten("X", value("Binary.png", "\x00\xff"))
	r.put(r.queue, "body", sent)
	m := r.take(s, 1)[0]
	first := m.SentAt
	m.Needed = []string{consumer.DefaultKeyAttribute, "Tenant"}
	if err := s.DeadLetter(t.Context(), m, letter()); err != nil {
		t.Fatal(err)
	}
	out, err := r.client.ReceiveMessage(t.Context(), &sqs.ReceiveMessageInput{
		QueueUrl: &r.dead, WaitTimeSeconds: 5, MessageAttributeNames: []string{"All"},
	})
	if err != nil || len(out.Messages) != 1 {
		t.Fatalf("got %+v, %v, want one dead letter", out, err)
	}
	dead := out.Messages[0]
	if _, there := dead.MessageAttributes["X"]; there || len(dead.MessageAttributes) != 10 {
		t.Errorf("got\n%s\nwant ten attributes without X", told(dead.MessageAttributes))
	}
	if got, err := adapter.Restore(dead.MessageAttributes); err != nil || told(got) != told(sent) {
		t.Errorf("got %v and\n%s\nwant\n%s", err, told(got), told(sent))
	}
	r.put(r.queue, *dead.Body, dead.MessageAttributes)
	if m := r.take(s, 1)[0]; !m.SentAt.Equal(first) || m.Fault != nil {
		t.Errorf("got sent at %v, fault %v of the message that came back, want %v", m.SentAt, m.Fault, first)
	}
}
