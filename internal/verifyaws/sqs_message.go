package main

import (
	"bytes"
	"context"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

func attributes(values map[string]types.MessageAttributeValue) func(*sqs.SendMessageInput) {
	return func(in *sqs.SendMessageInput) { in.MessageAttributes = values }
}

func stringValue(v string) types.MessageAttributeValue {
	return types.MessageAttributeValue{DataType: aws.String("String"), StringValue: &v}
}

// onlyWhatIsAsked: attributes come only if they are asked for; All brings every one.
func onlyWhatIsAsked(ctx context.Context, w *world) error {
	q, err := w.queue(ctx)
	if err != nil {
		return err
	}
	if _, err := q.send(ctx, "x", attributes(map[string]types.MessageAttributeValue{"Idempotency-Key": stringValue("k"), "Tenant": stringValue("t")})); err != nil {
		return err
	}
	out, err := w.sqs.ReceiveMessage(ctx, &sqs.ReceiveMessageInput{QueueUrl: &q.url, VisibilityTimeout: 30, WaitTimeSeconds: pollTime})
	if err != nil {
		return err
	}
	if len(out.Messages) != 1 {
		return seen("no message came within %d s", pollTime)
	}
	if m := out.Messages[0]; len(m.MessageAttributes)+len(m.Attributes) > 0 {
		return seen("%v and %v came unasked", m.MessageAttributes, m.Attributes)
	}
	if err := q.hide(ctx, out.Messages[0], 0); err != nil {
		return err
	}
	m, err := q.one(ctx, 30)
	if err != nil {
		return err
	}
	if len(m.MessageAttributes) != 2 || m.Attributes["SentTimestamp"] == "" || m.Attributes["ApproximateReceiveCount"] == "" {
		return seen("All brought %v and %v", m.MessageAttributes, m.Attributes)
	}
	return nil
}

// exactMessages: body and attributes come as they were sent, with their types and custom labels.
func exactMessages(ctx context.Context, w *world) error {
	q, err := w.queue(ctx)
	if err != nil {
		return err
	}
	body := " é 日本 😀\t\r\n \"'<&>\\u0000 "
	sent := map[string]types.MessageAttributeValue{
		"Idempotency-Key": stringValue("é 😀\t"), "a.b-c_D": {DataType: aws.String("String.label"), StringValue: aws.String(" ")},
		"n": {DataType: aws.String("Number"), StringValue: aws.String("4200")}, "b": {DataType: aws.String("Binary.gz"), BinaryValue: []byte{0, 1, 255}},
	}
	if _, err := q.send(ctx, body, attributes(sent)); err != nil {
		return err
	}
	m, err := q.one(ctx, 30)
	if err != nil {
		return err
	}
	if got := aws.ToString(m.Body); got != body {
		return seen("the body %q came as %q", body, got)
	}
	if len(m.MessageAttributes) != len(sent) {
		return seen("%d of %d attributes came", len(m.MessageAttributes), len(sent))
	}
	for name, want := range sent {
		got := m.MessageAttributes[name]
		if aws.ToString(got.DataType) != aws.ToString(want.DataType) || aws.ToString(got.StringValue) != aws.ToString(want.StringValue) ||
			!bytes.Equal(got.BinaryValue, want.BinaryValue) {
			return seen("the attribute %s came as %s %q %v", name, aws.ToString(got.DataType), aws.ToString(got.StringValue), got.BinaryValue)
		}
	}
	return nil
}

// stableIdentity: id and SentTimestamp are the same at every delivery, the receive count rises by one, the handle is new.
func stableIdentity(ctx context.Context, w *world) error {
	q, err := w.queue(ctx)
	if err != nil {
		return err
	}
	id, err := q.send(ctx, "x")
	if err != nil {
		return err
	}
	var sent int64
	handles := map[string]bool{}
	for receive := 1; receive <= 3; receive++ {
		m, err := q.one(ctx, 30)
		if err != nil {
			return err
		}
		at, err := sentAt(m)
		if err != nil {
			return err
		}
		if receive == 1 {
			sent = at
		}
		handles[aws.ToString(m.ReceiptHandle)] = true
		if aws.ToString(m.MessageId) != id || at != sent || receives(m) != strconv.Itoa(receive) || len(handles) != receive {
			return seen("at receive %d: id %s (sent as %s), SentTimestamp %d (first %d), count %s, %d handles in all",
				receive, aws.ToString(m.MessageId), id, at, sent, receives(m), len(handles))
		}
		if err := q.hide(ctx, m, 0); err != nil {
			return err
		}
		if err := pause(ctx, time.Second); err != nil { // so that a stamp of the delivery would differ
			return err
		}
	}
	if off := time.Since(time.UnixMilli(sent)); off > time.Minute || off < -time.Minute {
		return seen("SentTimestamp %d is %v from this machine's clock in milliseconds since 1970", sent, off)
	}
	return nil
}

const trace = "Root=1-5759e988-bd862e3fe1be46a994272793;Parent=53995c3f42cd8ad8;Sampled=1"

// traceHeader: AWSTraceHeader is sent and received as a system attribute and takes no room in the message.
func traceHeader(ctx context.Context, w *world) error {
	q, err := w.queue(ctx, "MaximumMessageSize", "1024")
	if err != nil {
		return err
	}
	_, err = q.send(ctx, string(bytes.Repeat([]byte("x"), 1024)), func(in *sqs.SendMessageInput) {
		in.MessageSystemAttributes = map[string]types.MessageSystemAttributeValue{
			string(types.MessageSystemAttributeNameForSendsAWSTraceHeader): {DataType: aws.String("String"), StringValue: aws.String(trace)},
		}
	})
	if codeOf(err) == "InvalidParameterValue" {
		return seen("a full message with a trace header was refused: %v", err)
	} else if err != nil {
		return err
	}
	m, err := q.one(ctx, 30)
	if err == nil && system(m, types.MessageSystemAttributeNameAWSTraceHeader) != trace {
		return seen("the header came as %q", system(m, types.MessageSystemAttributeNameAWSTraceHeader))
	}
	return err
}

// groupOnStandard: a standard queue takes a group id and gives it back, and lets another message of the group be received meanwhile.
func groupOnStandard(ctx context.Context, w *world) error {
	q, err := w.queue(ctx)
	if err != nil {
		return err
	}
	for i := range 2 {
		if _, err := q.send(ctx, strconv.Itoa(i), group("g")); err != nil {
			return err
		}
	}
	ms, err := q.several(ctx, 2, 30)
	if err != nil {
		return err
	}
	for _, m := range ms {
		if got := system(m, types.MessageSystemAttributeNameMessageGroupId); got != "g" {
			return seen("the group id came as %q", got)
		}
	}
	return nil
}
