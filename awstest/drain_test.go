package awstest_test

import (
	"strconv"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

// fill sends the numbers below n, a multiple of ten, to groups in turn if there are any.
func (r *rig) fill(q string, n, groups int) {
	r.Helper()
	for at := 0; at < n; at += 10 {
		list := entries(10)
		for i := range list {
			list[i].MessageBody = aws.String(strconv.Itoa(at + i))
			if groups > 0 {
				list[i].MessageGroupId, list[i].MessageDeduplicationId = aws.String(strconv.Itoa((at+i)%groups)), list[i].MessageBody
			}
		}
		_, err := r.sendBatch(q, list...)
		r.must(err)
	}
}

// drain receives and deletes until nothing comes, and gives the bodies in the order in which they came.
func (r *rig) drain(q string) []string {
	r.Helper()
	var got []string
	for {
		list := r.receive(q)
		if len(list) == 0 {
			return got
		}
		var done []types.DeleteMessageBatchRequestEntry
		for _, m := range list {
			got = append(got, *m.Body)
			done = append(done, types.DeleteMessageBatchRequestEntry{Id: m.MessageId, ReceiptHandle: m.ReceiptHandle})
		}
		_, err := r.sqs.DeleteMessageBatch(r.Context(), &sqs.DeleteMessageBatchInput{QueueUrl: &q, Entries: done})
		r.must(err)
	}
}

// Were a receive or a delete to look at every message of its queue, these would take minutes.
func TestLongQueueDrains(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ n, groups int }{
		"standard": {20_000, 0}, "one group": {4_000, 1}, "a thousand groups": {4_000, 1000},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			q := r.queue("standard")
			if c.groups > 0 {
				q = r.fifo("q")
			}
			r.fill(q, c.n, c.groups)
			got := r.drain(q)
			if len(got) != c.n {
				t.Fatalf("got %d messages, want %d", len(got), c.n)
			}
			last := map[int]int{} // of each group
			for _, body := range got {
				i, _ := strconv.Atoi(body)
				g := i % max(c.groups, 1)
				if before, ok := last[g]; ok && i <= before {
					t.Fatalf("message %d came after %d", i, before)
				}
				last[g] = i
			}
			r.wantCounts(q, "0/0/0")
		})
	}
}
