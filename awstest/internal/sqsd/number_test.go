package sqsd_test

import (
	"strings"
	"testing"
)

// A number is decimal and bounded: nothing that only a library for numbers would take, and nothing that would keep it busy.
func TestNumbersAsAttributes(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.call("CreateQueue", fields{"QueueName": "q"})
	send := func(v string) fields {
		return fields{"QueueUrl": url + "q", "MessageBody": "x", "MessageAttributes": fields{"n": fields{"DataType": "Number", "StringValue": v}}}
	}
	for _, v := range []string{"0", "-1", "+1", "1.5", ".5", "5.", "1e3", "1E-128", "-2.5e126", "007", strings.Repeat("9", 38), "0.000" + strings.Repeat("1", 38)} {
		r.call("SendMessage", send(v))
	}
	for _, v := range []string{
		"x", ".", "-", "", "1/3", "0x10", "1_000", "1e", "e3", "1e127", "1e-129", "1e1000000000", "1.2.3", "--1", "+-1", "Inf", "NaN", " 1",
		"１", strings.Repeat("9", 39), "1e99999999999999999999",
	} {
		r.wantCode("SendMessage", send(v), "InvalidParameterValue")
	}
}

// Values that no SDK sends must be refused, not break the server.
func TestSystemAttributesWithoutValue(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.call("CreateQueue", fields{"QueueName": "q"})
	for _, a := range []fields{{}, {"DataType": "String"}, {"DataType": "String", "StringValue": ""}, {"DataType": "Binary", "BinaryValue": "AA=="}} {
		r.wantCode("SendMessage", fields{"QueueUrl": url + "q", "MessageBody": "x", "MessageSystemAttributes": fields{"AWSTraceHeader": a}}, "InvalidParameterValue")
	}
	r.wantCode("SendMessage", fields{"QueueUrl": url + "q", "MessageBody": "x", "MessageSystemAttributes": fields{"Other": fields{"DataType": "String", "StringValue": "v"}}}, "InvalidParameterValue")
}

// An entry that is too large counts in the batch's size: the whole batch is refused.
func TestOversizeEntryIsAnOversizeBatch(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.call("CreateQueue", fields{"QueueName": "q"})
	r.wantCode("SendMessageBatch", fields{"QueueUrl": url + "q", "Entries": []fields{
		{"Id": "a", "MessageBody": strings.Repeat("x", 1<<20+1)}, {"Id": "b", "MessageBody": "x"},
	}}, "com.amazonaws.sqs#BatchRequestTooLong")
	if got := r.server.Messages("q"); len(got) != 0 {
		t.Errorf("%d messages were sent", len(got))
	}
}

// A URL with another account's number is not this account's queue.
func TestQueueURLNamesTheAccount(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.call("CreateQueue", fields{"QueueName": "q"})
	const missing = "com.amazonaws.sqs#QueueDoesNotExist"
	r.wantCode("ReceiveMessage", fields{"QueueUrl": "http://host/111111111111/q"}, missing)
	r.wantCode("GetQueueUrl", fields{"QueueName": "q", "QueueOwnerAWSAccountId": "111111111111"}, missing)
	r.call("GetQueueUrl", fields{"QueueName": "q", "QueueOwnerAWSAccountId": "000000000000"})
	r.call("ReceiveMessage", fields{"QueueUrl": "https://sqs.us-east-1.amazonaws.com/000000000000/q"})
}
