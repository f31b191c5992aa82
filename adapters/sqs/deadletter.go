package sqs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/claimonce/claimonce/consumer"
)

// Attributes of a dead letter, beside those that the message had. Where they do not fit beside those, all of them are in one, as JSON.
const (
	AttributeReason   = "Claimonce-Reason"
	AttributeDetail   = "Claimonce-Detail"
	AttributeAttempts = "Claimonce-Attempts"
	AttributeKeyHash  = "Claimonce-Key-Hash"
	AttributeSource   = "Claimonce-Source"
	AttributeAll      = "Claimonce-Dead-Letter"
)

const (
	maxAttributes = 10
	maxDetail     = 500 // bytes
)

// DeadLetter implements [consumer.DeadLetterer]: the copy first, then the delete. If we crash in between there are two copies and
// the original's next delivery makes a third: the reason is on each.
func (s *Source) DeadLetter(ctx context.Context, m *consumer.Message, d consumer.DeadLetter) error {
	f, err := s.known(ctx)
	if err != nil {
		return err
	}
	if f.deadLetterURL == "" {
		return fmt.Errorf("sqs: dead letter of %s: %w", nameOf(s.url), errNoDeadLetters)
	}
	attrs, err := s.letterAttributes(m, d)
	if err != nil {
		return fmt.Errorf("sqs: dead letter of %s: %w", nameOf(s.url), err)
	}
	_, err = s.client.SendMessage(ctx, &sqs.SendMessageInput{
		QueueUrl: &f.deadLetterURL, MessageBody: aws.String(string(m.Body)), MessageAttributes: attrs,
	})
	if err != nil {
		return s.explain("send to the dead-letter queue of", err)
	}
	return s.Ack(ctx, m)
}

func (s *Source) letterAttributes(m *consumer.Message, d consumer.DeadLetter) (map[string]types.MessageAttributeValue, error) {
	r, ok := m.Receipt.(receipt)
	if !ok {
		return nil, errNoReceipt
	}
	attrs := map[string]types.MessageAttributeValue{}
	for name, a := range r.attributes {
		if !strings.HasPrefix(name, "Claimonce-") { // else of an earlier dead letter that was moved back
			attrs[name] = a
		}
	}
	own := map[string]string{
		AttributeReason: d.Reason, AttributeDetail: clean(d.Detail), AttributeKeyHash: d.KeyHash, AttributeSource: nameOf(s.url),
	}
	if d.Attempts > 0 {
		own[AttributeAttempts] = strconv.Itoa(d.Attempts)
	}
	for name, v := range own {
		if v == "" {
			delete(own, name)
		}
	}
	if len(attrs)+len(own) > maxAttributes {
		all, err := json.Marshal(own)
		if err != nil {
			return nil, err
		}
		own = map[string]string{AttributeAll: string(all)}
	}
	if len(attrs)+len(own) > maxAttributes {
		return nil, errors.New("the message has ten attributes already, so that the reason has no place; the message is kept")
	}
	for name, v := range own {
		attrs[name] = text(v)
	}
	return attrs, nil
}

func text(v string) types.MessageAttributeValue {
	return types.MessageAttributeValue{DataType: aws.String("String"), StringValue: aws.String(v)}
}

// clean keeps what SQS takes as text, and bounds it.
func clean(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < 0x20 && r != '\t' && r != '\n' && r != '\r' || r == utf8.RuneError || r == 0xFFFE || r == 0xFFFF {
			return '?'
		}
		return r
	}, s)
	if len(s) <= maxDetail {
		return s
	}
	cut := maxDetail
	for !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut]
}
