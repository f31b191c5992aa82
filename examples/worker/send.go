package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awssqs "github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

type sender = func(context.Context, []request) ([]string, error)

// sendSQS sends as a producer would: key and tenant as attributes, and when the operation was made.
func sendSQS(client *awssqs.Client, url string, o options) sender {
	return func(ctx context.Context, reqs []request) ([]string, error) {
		in := &awssqs.SendMessageBatchInput{QueueUrl: &url}
		for i, r := range reqs {
			e := types.SendMessageBatchRequestEntry{
				Id: aws.String(strconv.Itoa(i)), MessageBody: aws.String(string(r.payload())),
				MessageAttributes: map[string]types.MessageAttributeValue{},
			}
			for name, v := range r.Attributes {
				e.MessageAttributes[name] = types.MessageAttributeValue{DataType: aws.String("String"), StringValue: aws.String(v)}
			}
			if o.sns {
				if err := notified(&e, r); err != nil {
					return nil, err
				}
			}
			if o.fifo {
				ordered(&e, r)
			}
			in.Entries = append(in.Entries, e)
		}
		out, err := client.SendMessageBatch(ctx, in)
		if err != nil {
			return nil, err
		}
		if len(out.Failed) > 0 {
			return nil, fmt.Errorf("%d of %d messages were refused: %s", len(out.Failed), len(reqs), aws.ToString(out.Failed[0].Message))
		}
		var ids []string
		for _, s := range out.Successful {
			ids = append(ids, aws.ToString(s.MessageId))
		}
		return ids, nil
	}
}

// ordered: the refunds of one charge run in order. Every message has a deduplication id of its own, so that the duplicates of the
// input arrive: a FIFO queue itself would drop those of five minutes, and let all later ones through.
func ordered(e *types.SendMessageBatchRequestEntry, r request) {
	var body Refund
	group := "unreadable"
	if json.Unmarshal(r.payload(), &body) == nil && body.Charge != "" {
		group = body.Charge
	}
	e.MessageGroupId, e.MessageDeduplicationId = &group, aws.String(rand.Text())
}

// notified makes of a message what SNS delivers of it to a queue without raw delivery: the attributes are then in the body.
// https://docs.aws.amazon.com/sns/latest/dg/sns-message-and-json-formats.html#http-notification-json
func notified(e *types.SendMessageBatchRequestEntry, r request) error {
	type attribute struct{ Type, Value string }
	envelope := struct {
		Type, MessageId, TopicArn, Message string
		Timestamp                          time.Time
		MessageAttributes                  map[string]attribute
	}{
		Type: "Notification", MessageId: rand.Text(), TopicArn: "arn:aws:sns:us-east-1:000000000000:refunds",
		Message: string(r.payload()), Timestamp: time.Now().UTC().Truncate(time.Millisecond), MessageAttributes: map[string]attribute{},
	}
	for name, v := range r.Attributes {
		envelope.MessageAttributes[name] = attribute{"String", v}
	}
	body, err := json.Marshal(envelope)
	e.MessageBody, e.MessageAttributes = aws.String(string(body)), nil
	return err
}
