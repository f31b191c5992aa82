package sqs

import (
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/claimonce/claimonce/consumer"
)

var errNoDeadLetters = fmt.Errorf("%w: the queue has no dead-letter queue, so the message is kept: give it a redrive policy or set Config.DeadLetterURL",
	consumer.ErrNoDeadLetter)

// DeadLetter implements [consumer.DeadLetterer]: the copy first, then the delete. If the delete fails or the process dies in between,
// there are two copies, and the original's next delivery makes a third: the reason is on each.
func (s *Source) DeadLetter(ctx context.Context, m *consumer.Message, letter consumer.DeadLetter) error {
	const what = "dead-letter a message of"
	d, err := s.deliveryOf(what, m)
	if err != nil {
		return err
	}
	if err := d.now().over(); err != nil { // lost too: another worker has the message, and sends a copy if there is to be one
		return s.explain(what, err)
	}
	if err := s.stillHeld(ctx, m, d); err != nil {
		return err
	}
	f, err := s.known(ctx)
	if err != nil {
		return err
	}
	if f.deadLetterURL == "" {
		return s.explain(what, errNoDeadLetters)
	}
	attrs, err := sheet{letter, m.Needed, nameOf(s.url), d.sent, d.past.original}.attributes(f.deadLetterSize - len(d.body))
	if err != nil {
		return s.explain(what, fmt.Errorf("%w: %w", consumer.ErrNoDeadLetter, err))
	}
	in := &sqs.SendMessageInput{QueueUrl: &f.deadLetterURL, MessageBody: &d.body, MessageAttributes: attrs}
	fifoFields(in, d.system[string(types.MessageSystemAttributeNameMessageGroupId)])
	if trace := d.system[string(types.MessageSystemAttributeNameAWSTraceHeader)]; trace != "" {
		in.MessageSystemAttributes = map[string]types.MessageSystemAttributeValue{
			string(types.MessageSystemAttributeNameForSendsAWSTraceHeader): {DataType: aws.String("String"), StringValue: &trace},
		}
	}
	if _, err = s.client.SendMessage(ctx, in); err != nil {
		return s.explainOf("send to the dead-letter queue", nameOf(f.deadLetterURL), err)
	}
	if err := s.Ack(ctx, m); err != nil {
		return fmt.Errorf("%w: %w", consumer.ErrCopied, err)
	}
	return nil
}

// stillHeld asks SQS where the visibility may have ended: whoever has the message by now finds the same record and sends a copy
// by itself, and two are one too many.
func (s *Source) stillHeld(ctx context.Context, m *consumer.Message, d *delivery) error {
	switch {
	case d.isHidden(time.Now()):
		return nil
	case d.hideable() <= 0:
		return s.explain("dead-letter a message of", errTwelveHours)
	}
	return s.Extend(ctx, m)
}
