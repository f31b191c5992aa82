package sqs

import (
	"crypto/rand"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/claimonce/claimonce/consumer"
)

const fifoSuffix = ".fifo"

// isFIFO goes by the URL: the name of a FIFO queue ends so, and no other queue's name can contain a dot.
// https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_CreateQueue.html
func isFIFO(queueURL string) bool { return strings.HasSuffix(queueURL, fifoSuffix) }

// sameKind: SQS itself refuses such a redrive policy, other servers do not, and a copy sent to a queue of the other kind is refused
// only when the first message has to go there.
// https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-dead-letter-queues.html
func sameKind(queueURL, deadLetterURL string) error {
	switch {
	case deadLetterURL == "" || isFIFO(queueURL) == isFIFO(deadLetterURL):
		return nil
	case isFIFO(queueURL):
		return fmt.Errorf("%s is a FIFO queue, but its dead-letter queue %s is not; name a FIFO queue, whose name ends with %s",
			nameOf(queueURL), nameOf(deadLetterURL), fifoSuffix)
	}
	return fmt.Errorf("%s is a standard queue, but its dead-letter queue %s is a FIFO queue; name a standard queue", nameOf(queueURL), nameOf(deadLetterURL))
}

// groupOf is the order that a message is part of. Only a FIFO queue's group is one: on a standard queue it spreads load among tenants
// and orders nothing, so to run its messages one by one would slow them for no gain.
// https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-fair-queues.html
func groupOf(queueURL string, m *types.Message) string {
	if !isFIFO(queueURL) {
		return ""
	}
	return m.Attributes[string(types.MessageSystemAttributeNameMessageGroupId)]
}

// fifoFields puts a dead letter into its message's group. To a FIFO queue it gives a deduplication id of its own: with the message's, or
// with one that SQS takes from the body, the second dead letter of a redriven message, or of two operations with equal bodies, would
// be swallowed within five minutes of the first, and the original then be deleted. What the SDK sends again keeps the id.
func fifoFields(in *sqs.SendMessageInput, group string) {
	if group != "" {
		in.MessageGroupId = &group
	}
	if isFIFO(aws.ToString(in.QueueUrl)) {
		in.MessageDeduplicationId = aws.String(rand.Text())
	}
}

// nameAttempt gives a poll of a FIFO queue an id, so that the SDK may send it again after a lost answer: it gets the same messages with
// the same handles. Without one their groups would stand until the visibility ends.
// https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_ReceiveMessage.html (ReceiveRequestAttemptId)
func nameAttempt(in *sqs.ReceiveMessageInput) { in.ReceiveRequestAttemptId = aws.String(rand.Text()) }

// maxRedelivery is how long after its sending a message can come back from the queue or from its dead-letter queue. A message that SQS
// moves to a dead-letter queue keeps its time on standard queues, and gets a new one on FIFO queues, where the retentions therefore add up.
// https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-dead-letter-queues.html#understanding-message-retention-periods-for-dead-letter-queues
func (f facts) maxRedelivery(queueURL string) time.Duration {
	if isFIFO(queueURL) {
		return f.retention + f.deadLetterRetention
	}
	return max(f.retention, f.deadLetterRetention)
}

// defaultWindow is a day more than the longest redelivery that a queue of this kind can have.
func defaultWindow(queueURL string) time.Duration {
	if isFIFO(queueURL) {
		return 2*longestRetention + 24*time.Hour
	}
	return longestRetention + 24*time.Hour
}

// checkKind refuses a dead-letter queue of the other kind that a redrive policy names.
func (s *Source) checkKind(f *facts) error {
	if err := sameKind(s.url, f.deadLetterURL); err != nil {
		return fmt.Errorf("sqs: %w: %w", consumer.ErrSetup, err)
	}
	return nil
}
