package sqsd_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/claimonce/claimonce/awstest/internal/sqsd"
)

// full is a queue with as many messages in flight as can be, and two more waiting.
func full(t *testing.T, name string, attributes fields) (r *rig, handle string) {
	t.Helper()
	const limit = 12
	r = &rig{t, sqsd.NewWithLimit("us-east-1", "000000000000", limit)}
	r.call("CreateQueue", fields{"QueueName": name, "Attributes": attributes})
	for i := range limit + 2 {
		in := fields{"QueueUrl": url + name, "MessageBody": "x"}
		if attributes != nil {
			in["MessageGroupId"], in["MessageDeduplicationId"] = fmt.Sprint("g", i), fmt.Sprint(i)
		}
		r.call("SendMessage", in)
	}
	handle = r.handles(fields{"QueueUrl": url + name, "MaxNumberOfMessages": 10, "VisibilityTimeout": 3600})[0]
	if got := r.handles(fields{"QueueUrl": url + name, "MaxNumberOfMessages": 10, "VisibilityTimeout": 3600}); len(got) != 2 {
		t.Fatalf("got %d messages more, want 2 up to the limit", len(got))
	}
	return r, handle
}

// The service's documentation: a short poll is an error, a long poll is none.
// https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/quotas-queues.html
func TestInFlightLimitOfAStandardQueue(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r, handle := full(t, "q", nil)
		r.wantCode("ReceiveMessage", fields{"QueueUrl": url + "q"}, "com.amazonaws.sqs#OverLimit")
		start := time.Now()
		if got := r.handles(fields{"QueueUrl": url + "q", "WaitTimeSeconds": 20}); len(got) != 0 || time.Since(start) != 20*time.Second {
			t.Errorf("a long poll got %d messages after %v, want none after 20 s", len(got), time.Since(start))
		}
		r.call("DeleteMessage", fields{"QueueUrl": url + "q", "ReceiptHandle": handle})
		if got := r.handles(fields{"QueueUrl": url + "q", "MaxNumberOfMessages": 10}); len(got) != 1 {
			t.Errorf("got %d messages after one was deleted, want 1", len(got))
		}
	})
}

// A long poll that waits at the limit gets what a delete makes room for.
func TestLongPollAtTheLimitWakes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r, handle := full(t, "q", nil)
		time.AfterFunc(3*time.Second, func() { r.call("DeleteMessage", fields{"QueueUrl": url + "q", "ReceiptHandle": handle}) })
		start := time.Now()
		if got := r.handles(fields{"QueueUrl": url + "q", "WaitTimeSeconds": 20}); len(got) != 1 || time.Since(start) != 3*time.Second {
			t.Errorf("got %d messages after %v, want 1 after 3 s", len(got), time.Since(start))
		}
	})
}

// https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/quotas-fifo.html
func TestInFlightLimitOfAFIFOQueueIsNoError(t *testing.T) {
	t.Parallel()
	r, handle := full(t, "q.fifo", fields{"FifoQueue": "true"})
	if got := r.handles(fields{"QueueUrl": url + "q.fifo"}); len(got) != 0 {
		t.Errorf("got %d messages beyond the limit", len(got))
	}
	r.call("DeleteMessage", fields{"QueueUrl": url + "q.fifo", "ReceiptHandle": handle})
	if got := r.handles(fields{"QueueUrl": url + "q.fifo"}); len(got) != 1 {
		t.Errorf("got %d messages after one was deleted, want 1", len(got))
	}
}
