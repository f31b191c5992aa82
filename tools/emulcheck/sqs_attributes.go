package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

// attributesCases are about what comes with a message.
func (w *queues) attributesCases() []testCase {
	return []testCase{
		{"sqs.send_batch_10_attrs_md5", w.sendBatch10AttrsMd5},
		{"sqs.receive_10_all_attrs", w.receive10AllAttrs},
		{"sqs.system_attributes", w.systemAttributes},
		{"sqs.names_not_asked_not_returned", w.namesNotAskedNotReturned},
		{"sqs.attr_name_filter_and_prefix", w.attrNameFilterAndPrefix},
		{"sqs.trace_header_system_attribute", w.traceHeaderSystemAttribute},
		{"sqs.standard_group_id_fair_queue", w.standardGroupIDFairQueue},
	}
}

func (w *queues) sendBatch10AttrsMd5(ctx context.Context) error {
	var err error
	if w.first, err = w.fresh(ctx, map[string]string{"VisibilityTimeout": "30"}); err != nil {
		return err
	}
	var es []types.SendMessageBatchRequestEntry
	for i := range 10 {
		es = append(es, types.SendMessageBatchRequestEntry{Id: aws.String(fmt.Sprint("e", i)), MessageBody: aws.String(fmt.Sprint("body é ", i)), MessageAttributes: w.attrs})
	}
	o, err := w.client.SendMessageBatch(ctx, &sqs.SendMessageBatchInput{QueueUrl: &w.first, Entries: es})
	if err != nil {
		return err
	}
	if len(o.Successful) != 10 || len(o.Failed) != 0 {
		return fmt.Errorf("successful %d failed %d", len(o.Successful), len(o.Failed))
	}
	want := digest(w.attrs)
	for _, r := range o.Successful {
		if aws.ToString(r.MD5OfMessageAttributes) != want {
			return fmt.Errorf("MD5OfMessageAttributes %q, want %q", aws.ToString(r.MD5OfMessageAttributes), want)
		}
	}
	return nil
}

func (w *queues) receive10AllAttrs(ctx context.Context) error {
	seen := map[string]bool{}
	for i := 0; i < 5 && len(seen) < 10; i++ {
		ms, err := w.receive(ctx, w.first, 10, 1)
		if err != nil {
			return err
		}
		if len(ms) > 10 {
			return fmt.Errorf("%d messages in one response", len(ms))
		}
		for _, m := range ms {
			seen[aws.ToString(m.MessageId)] = true
			w.received = append(w.received, m)
			a := m.MessageAttributes
			if aws.ToString(a["attempt"].StringValue) != "42" || aws.ToString(a["attempt"].DataType) != "Number" || string(a["sig"].BinaryValue) != string(w.attrs["sig"].BinaryValue) ||
				aws.ToString(a["trace.id"].DataType) != "String.custom" || len(a) != 4 {
				return fmt.Errorf("attributes %v", a)
			}
			if aws.ToString(m.MD5OfMessageAttributes) != digest(w.attrs) {
				return fmt.Errorf("receive MD5OfMessageAttributes %q", aws.ToString(m.MD5OfMessageAttributes))
			}
		}
	}
	if len(seen) != 10 {
		return fmt.Errorf("got %d of 10", len(seen))
	}
	return nil
}

func (w *queues) systemAttributes(_ context.Context) error {
	if len(w.received) == 0 {
		return errors.New("nothing received")
	}
	a := w.received[0].Attributes
	var miss []string
	for _, k := range []string{"SenderId", "SentTimestamp", "ApproximateReceiveCount", "ApproximateFirstReceiveTimestamp"} {
		if a[k] == "" {
			miss = append(miss, k)
		}
	}
	if len(miss) > 0 {
		return fmt.Errorf("missing %v", miss)
	}
	if t, _ := strconv.ParseInt(a["SentTimestamp"], 10, 64); t < 1_600_000_000_000 {
		return fmt.Errorf("SentTimestamp %q not in ms", a["SentTimestamp"])
	}
	return nil
}

func (w *queues) namesNotAskedNotReturned(ctx context.Context) error {
	q, err := w.fresh(ctx, nil)
	if err != nil {
		return err
	}
	if _, err = w.client.SendMessage(ctx, &sqs.SendMessageInput{QueueUrl: &q, MessageBody: aws.String("x"), MessageAttributes: w.attrs}); err != nil {
		return err
	}
	o, err := w.client.ReceiveMessage(ctx, &sqs.ReceiveMessageInput{QueueUrl: &q})
	if err != nil {
		return err
	}
	if len(o.Messages) != 1 || len(o.Messages[0].MessageAttributes) != 0 || len(o.Messages[0].Attributes) != 0 {
		return fmt.Errorf("messages %d, attributes returned unasked", len(o.Messages))
	}
	return nil
}

func (w *queues) attrNameFilterAndPrefix(ctx context.Context) error {
	q, err := w.fresh(ctx, nil)
	if err != nil {
		return err
	}
	if _, err = w.client.SendMessage(ctx, &sqs.SendMessageInput{QueueUrl: &q, MessageBody: aws.String("x"), MessageAttributes: w.attrs}); err != nil {
		return err
	}
	o, err := w.client.ReceiveMessage(ctx, &sqs.ReceiveMessageInput{
		QueueUrl: &q, MessageAttributeNames: []string{"idempotency-key", "trace.*"},
		MessageSystemAttributeNames: []types.MessageSystemAttributeName{types.MessageSystemAttributeNameApproximateReceiveCount},
	})
	if err != nil {
		return err
	}
	if len(o.Messages) != 1 || len(o.Messages[0].MessageAttributes) != 2 || len(o.Messages[0].Attributes) != 1 {
		return fmt.Errorf("got %v / %v", o.Messages[0].MessageAttributes, o.Messages[0].Attributes)
	}
	return nil
}

func (w *queues) traceHeaderSystemAttribute(ctx context.Context) error {
	q, err := w.fresh(ctx, nil)
	if err != nil {
		return err
	}
	if _, err = w.client.SendMessage(ctx, &sqs.SendMessageInput{
		QueueUrl: &q, MessageBody: aws.String("x"),
		MessageSystemAttributes: map[string]types.MessageSystemAttributeValue{"AWSTraceHeader": {DataType: aws.String("String"), StringValue: aws.String("Root=1-5e3d83c1-e6a0db584850d61342823d4c")}},
	}); err != nil {
		return err
	}
	ms, err := w.receive(ctx, q, 1, 0)
	if err != nil {
		return err
	}
	if len(ms) != 1 || !strings.HasPrefix(ms[0].Attributes["AWSTraceHeader"], "Root=") {
		return fmt.Errorf("attributes %v", ms[0].Attributes)
	}
	return nil
}

func (w *queues) standardGroupIDFairQueue(ctx context.Context) error {
	q, err := w.fresh(ctx, nil)
	if err != nil {
		return err
	}
	if _, err := w.client.SendMessage(ctx, &sqs.SendMessageInput{QueueUrl: &q, MessageBody: aws.String("x"), MessageGroupId: aws.String("tenant-1")}); err != nil {
		return err
	}
	ms, err := w.receive(ctx, q, 1, 1)
	if err != nil {
		return err
	}
	if len(ms) != 1 || ms[0].Attributes["MessageGroupId"] != "tenant-1" {
		return fmt.Errorf("attributes %v", ms)
	}
	return nil
}
