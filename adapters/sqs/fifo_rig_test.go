package sqs_test

import (
	"crypto/rand"
	"maps"
	"strconv"
	"testing"
	"testing/synctest"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/claimonce/claimonce/awstest"
	"github.com/claimonce/claimonce/consumer"
)

// inFIFO runs a test on fake time with a FIFO queue in the process.
func inFIFO(t *testing.T, f func(t *testing.T, r *rig)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { f(t, newFIFORig(t, nil)) })
}

// newFIFORig makes the queue work.fifo, whose dead letters go to work-dead.fifo.
func newFIFORig(t *testing.T, attributes map[string]string) *rig {
	t.Helper()
	r := newRig(t, nil)
	r.dead = r.makeQueue("work-dead.fifo", map[string]string{"FifoQueue": "true", "MessageRetentionPeriod": "1209600"})
	all := map[string]string{"FifoQueue": "true", "VisibilityTimeout": "30", "RedrivePolicy": r.policy(r.dead, 1000)}
	maps.Copy(all, attributes)
	r.queue = r.makeQueue("work.fifo", all)
	return r
}

// sendTo sends to a group, each message under a deduplication id of its own.
func (r *rig) sendTo(group string, bodies ...string) (ids []string) {
	r.t.Helper()
	for _, b := range bodies {
		out, err := r.client.SendMessage(r.t.Context(), &sqs.SendMessageInput{
			QueueUrl: &r.queue, MessageBody: aws.String(b), MessageGroupId: &group, MessageDeduplicationId: aws.String(rand.Text()),
		})
		if err != nil {
			r.t.Fatal(err)
		}
		ids = append(ids, aws.ToString(out.MessageId))
	}
	return ids
}

func (r *rig) inFIFO() []awstest.Message { return r.server.Messages("work.fifo") }

func bodiesOf(msgs []*consumer.Message) (all []string) {
	for _, m := range msgs {
		all = append(all, string(m.Body))
	}
	return all
}

func numbered(prefix string, n int) (all []string) {
	for i := range n {
		all = append(all, prefix+strconv.Itoa(i))
	}
	return all
}

// letters takes all dead letters out, as SQS shows them.
func (r *rig) letters() (all []types.Message) {
	r.t.Helper()
	for {
		out, err := r.client.ReceiveMessage(r.t.Context(), &sqs.ReceiveMessageInput{
			QueueUrl: &r.dead, MaxNumberOfMessages: 10, VisibilityTimeout: 600, MessageAttributeNames: []string{"All"},
			MessageSystemAttributeNames: []types.MessageSystemAttributeName{types.MessageSystemAttributeNameAll},
		})
		if err != nil {
			r.t.Fatal(err)
		}
		if len(out.Messages) == 0 {
			return all
		}
		all = append(all, out.Messages...)
	}
}

func deleteOf(queue string, handle *string) *sqs.DeleteMessageInput {
	return &sqs.DeleteMessageInput{QueueUrl: &queue, ReceiptHandle: handle}
}

// batchOf makes one call of several messages, so that a poll that waits finds all of them.
func batchOf(queue, group string, bodies []string) *sqs.SendMessageBatchInput {
	in := &sqs.SendMessageBatchInput{QueueUrl: &queue}
	for i, b := range bodies {
		in.Entries = append(in.Entries, types.SendMessageBatchRequestEntry{
			Id: aws.String(strconv.Itoa(i)), MessageBody: &b, MessageGroupId: &group, MessageDeduplicationId: aws.String(rand.Text()),
		})
	}
	return in
}
