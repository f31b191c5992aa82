package main

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
)

// rulesCases are about what a message may be, where servers were found to disagree by random calls.
func (w *queues) rulesCases() []testCase {
	one := func(typ, value string) map[string]attribute {
		return map[string]attribute{"x": {DataType: &typ, StringValue: &value}}
	}
	body := aws.String("x")
	return []testCase{
		w.refused("sqs.empty_body_rejected", sqs.SendMessageInput{MessageBody: aws.String("")}, "MissingParameter", "InvalidParameterValue"),
		w.refused("sqs.delay_over_900_rejected", sqs.SendMessageInput{MessageBody: body, DelaySeconds: 901}, "InvalidParameterValue"),
		w.refused("sqs.unknown_attribute_type_rejected", sqs.SendMessageInput{MessageBody: body, MessageAttributes: one("Text", "v")}, "InvalidParameterValue"),
		w.refused("sqs.empty_attribute_rejected", sqs.SendMessageInput{MessageBody: body, MessageAttributes: one("String", "")}, "InvalidParameterValue"),
		w.refused("sqs.number_that_is_none_rejected", sqs.SendMessageInput{MessageBody: body, MessageAttributes: one("Number", "one")}, "InvalidParameterValue"),
	}
}

func (w *queues) refused(name string, in sqs.SendMessageInput, codes ...string) testCase {
	return testCase{name, func(ctx context.Context) error {
		queue, err := w.fresh(ctx, nil)
		if err != nil {
			return err
		}
		in.QueueUrl = &queue
		_, err = w.client.SendMessage(ctx, &in)
		return wantCode(err, codes...)
	}}
}
