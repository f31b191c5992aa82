package sqs_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/claimonce/claimonce/adapters/internal/sourcetest"
	adapter "github.com/claimonce/claimonce/adapters/sqs"
	"github.com/claimonce/claimonce/consumer"
)

func TestContract(t *testing.T) {
	t.Parallel()
	for _, c := range sourcetest.Checks(false) {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, nil)
				rig := contractRig(r.client, r.queue, r.dead, 30*time.Second)
				rig.FakeTime = true
				c.Run(t, rig)
			})
		})
	}
}

func contractRig(client *sqs.Client, queue, dead string, visibility time.Duration) *sourcetest.Rig {
	return &sourcetest.Rig{
		Open: func(t *testing.T) consumer.Source {
			t.Helper()
			s, err := adapter.New(client, queue, adapter.Config{})
			if err != nil {
				t.Fatal(err)
			}
			return s
		},
		Send: func(t *testing.T, _ string, m consumer.Message) string {
			t.Helper()
			return send(t, client, queue, m)
		},
		DeadLetters: func(t *testing.T) []consumer.Message {
			t.Helper()
			return drain(t, client, dead)
		},
		Visibility: visibility,
		Grain:      time.Second,
	}
}

// drain takes everything out of a queue, without this adapter.
func drain(t *testing.T, client *sqs.Client, queue string) (all []consumer.Message) {
	t.Helper()
	for {
		out, err := client.ReceiveMessage(context.WithoutCancel(t.Context()), &sqs.ReceiveMessageInput{
			QueueUrl: &queue, MaxNumberOfMessages: 10, MessageAttributeNames: []string{"All"}, WaitTimeSeconds: 1,
		})
		if err != nil {
			t.Fatal(err)
		}
		if len(out.Messages) == 0 {
			return all
		}
		for _, m := range out.Messages {
			v := consumer.Message{ID: aws.ToString(m.MessageId), Body: []byte(aws.ToString(m.Body))}
			for name, a := range m.MessageAttributes {
				v.Attributes = append(v.Attributes, consumer.Attribute{
					Name: name, Value: append([]byte(aws.ToString(a.StringValue)), a.BinaryValue...), Binary: a.StringValue == nil,
				})
			}
			all = append(all, v)
			if _, err := client.DeleteMessage(t.Context(), &sqs.DeleteMessageInput{QueueUrl: &queue, ReceiptHandle: m.ReceiptHandle}); err != nil {
				t.Fatal(err)
			}
		}
	}
}
