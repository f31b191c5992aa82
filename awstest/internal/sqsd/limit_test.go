package sqsd_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"
)

const inFlightLimit = 120_000

// fill has as many messages in flight as can be, and one more waiting.
func (r *rig) fill(queue string) {
	r.Helper()
	for i := 0; i <= inFlightLimit; i += 10 {
		var entries []fields
		for j := range min(10, inFlightLimit+1-i) {
			entries = append(entries, fields{"Id": fmt.Sprint(j), "MessageBody": "x"})
		}
		r.call("SendMessageBatch", fields{"QueueUrl": url + queue, "Entries": entries})
	}
}

func (r *rig) drain(queue string) (handle string) {
	r.Helper()
	for range inFlightLimit / 10 {
		got := r.handles(fields{"QueueUrl": url + queue, "MaxNumberOfMessages": 10, "VisibilityTimeout": 3600})
		if len(got) != 10 {
			r.Fatalf("got %d messages before the limit, want 10", len(got))
		}
		handle = got[0]
	}
	return handle
}

// https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/quotas-queues.html
func TestInFlightLimitOfAStandardQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.call("CreateQueue", fields{"QueueName": "q"})
		r.fill("q")
		handle := r.drain("q")
		r.wantCode("ReceiveMessage", fields{"QueueUrl": url + "q"}, "com.amazonaws.sqs#OverLimit")
		start := time.Now()
		if got := r.handles(fields{"QueueUrl": url + "q", "WaitTimeSeconds": 20}); len(got) != 0 || time.Since(start) != 20*time.Second {
			t.Errorf("a long poll got %d messages after %v, want none after 20 s", len(got), time.Since(start))
		}
		r.call("DeleteMessage", fields{"QueueUrl": url + "q", "ReceiptHandle": handle})
		if got := r.handles(fields{"QueueUrl": url + "q", "MaxNumberOfMessages": 10}); len(got) != 1 {
			t.Errorf("got %d messages after one was deleted, want the waiting one", len(got))
		}
	})
}
