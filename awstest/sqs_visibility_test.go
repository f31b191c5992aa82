package awstest_test

import (
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

func TestVisibilityOfAnHourPasses(t *testing.T) {
	bubble(t, func(r *rig) {
		q := r.queue("q", "VisibilityTimeout", "3600")
		r.send(q, "m")
		r.one(q)
		time.Sleep(time.Hour - time.Millisecond)
		r.wantBodies(r.receive(q))
		r.wantCounts(q, "0/1/0")
		time.Sleep(time.Millisecond)
		r.wantCounts(q, "1/0/0")
		r.wantBodies(r.receive(q), "m")
	})
}

func TestVisibilityOfTheReceiveGoesBeforeTheQueues(t *testing.T) {
	bubble(t, func(r *rig) {
		q := r.queue("q", "VisibilityTimeout", "3600")
		r.send(q, "m")
		r.one(q, hiddenFor(5))
		time.Sleep(5 * time.Second)
		r.one(q)
	})
}

func TestVisibilityOfZeroOnReceiveHidesNothing(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	q := r.queue("q", "VisibilityTimeout", "0")
	r.send(q, "m")
	for want := range 3 {
		if m := r.one(q); receives(m) != want+1 { // once in each answer, though it is visible again at once
			t.Errorf("got receive count %d, want %d", receives(m), want+1)
		}
	}
	r.wantCounts(q, "1/0/0")
}

func TestEachReceiveCountsAndGivesANewHandle(t *testing.T) {
	bubble(t, func(r *rig) {
		q := r.queue("q", "VisibilityTimeout", "10")
		sentID := *r.send(q, "m").MessageId
		handles := map[string]bool{}
		first := ""
		for i := range 4 {
			m := r.one(q)
			handles[*m.ReceiptHandle] = true
			seen := m.Attributes["ApproximateFirstReceiveTimestamp"]
			if first == "" {
				first = seen
			}
			if receives(m) != i+1 || *m.MessageId != sentID || seen != first {
				t.Errorf("receive %d: got id %s, count %d, first received %s, want %s, %d, %s", i+1, *m.MessageId, receives(m), seen, sentID, i+1, first)
			}
			time.Sleep(10 * time.Second)
		}
		if len(handles) != 4 {
			t.Errorf("got %d handles in 4 receives", len(handles))
		}
	})
}

func TestChangeVisibility(t *testing.T) {
	bubble(t, func(r *rig) {
		q := r.queue("q", "VisibilityTimeout", "10")
		r.send(q, "m")
		m := r.one(q)
		time.Sleep(9 * time.Second)
		r.must(r.hide(q, m.ReceiptHandle, 60))
		time.Sleep(59 * time.Second) // a minute from the change, not from the receive
		r.wantBodies(r.receive(q))
		time.Sleep(time.Second)
		m = r.one(q)
		r.must(r.hide(q, m.ReceiptHandle, 0))
		r.one(q)
	})
}

func TestChangeVisibilityIsBoundedByTwelveHoursFromTheReceive(t *testing.T) {
	bubble(t, func(r *rig) {
		q := r.queue("q", "VisibilityTimeout", "43200")
		r.send(q, "m")
		m := r.one(q)
		time.Sleep(time.Hour)
		coded(r.T, r.hide(q, m.ReceiptHandle, 11*3600+1), "InvalidParameterValue", "beyond the limit")
		r.must(r.hide(q, m.ReceiptHandle, 11*3600))
		coded(r.T, r.hide(q, m.ReceiptHandle, 43201), "InvalidParameterValue", "between 0 and 43200")
		coded(r.T, r.hide(q, m.ReceiptHandle, -1), "InvalidParameterValue", "between 0 and 43200")
		time.Sleep(11 * time.Hour) // a refused change leaves the one before
		r.one(q)
	})
}

func TestChangeVisibilityNeedsAMessageInFlight(t *testing.T) {
	bubble(t, func(r *rig) {
		q := r.queue("q", "VisibilityTimeout", "10")
		r.send(q, "m")
		old := r.one(q)
		time.Sleep(10 * time.Second)
		typed[*types.MessageNotInflight](r.T, r.hide(q, old.ReceiptHandle, 10))
		last := r.one(q)
		typed[*types.MessageNotInflight](r.T, r.hide(q, old.ReceiptHandle, 0)) // must not release what another receive holds
		r.wantBodies(r.receive(q))
		typed[*types.ReceiptHandleIsInvalid](r.T, r.hide(q, aws.String("garbage"), 10))
		coded(r.T, r.hide(q, aws.String(""), 10), "MissingParameter", "ReceiptHandle")
		r.must(r.delete(q, last.ReceiptHandle))
		coded(r.T, r.hide(q, last.ReceiptHandle, 10), "InvalidParameterValue", "does not exist")
	})
}

func TestHandleOfAnotherQueueIsInvalid(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	a, b := r.queue("a"), r.queue("b")
	r.send(a, "m")
	m := r.one(a)
	typed[*types.ReceiptHandleIsInvalid](r.T, r.delete(b, m.ReceiptHandle))
	typed[*types.ReceiptHandleIsInvalid](r.T, r.hide(b, m.ReceiptHandle, 0))
	r.wantCounts(a, "0/1/0")
}

func TestDelete(t *testing.T) {
	bubble(t, func(r *rig) {
		q := r.queue("q", "VisibilityTimeout", "10")
		r.send(q, "m")
		old := r.one(q)
		time.Sleep(10 * time.Second)
		last := r.one(q)
		// An older handle: accepted, and the message stays.
		r.must(r.delete(q, old.ReceiptHandle))
		r.wantCounts(q, "0/1/0")
		typed[*types.ReceiptHandleIsInvalid](r.T, r.delete(q, aws.String("garbage")))
		// The last handle deletes, after its visibility timeout too, and twice.
		time.Sleep(time.Minute)
		r.must(r.delete(q, last.ReceiptHandle))
		r.wantCounts(q, "0/0/0")
		r.must(r.delete(q, last.ReceiptHandle))
	})
}

func TestInFlightMessageCannotBeReceivedByMany(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	q := r.queue("q")
	for range 100 {
		r.send(q, "m")
	}
	got := make(chan string, 200)
	done := make(chan struct{})
	for range 8 {
		go func() {
			defer func() { done <- struct{}{} }()
			for {
				out, err := r.sqs.ReceiveMessage(t.Context(), &sqs.ReceiveMessageInput{QueueUrl: &q, MaxNumberOfMessages: 3})
				if err != nil {
					t.Errorf("receive: %v", err)
					return
				}
				for _, m := range out.Messages {
					got <- *m.MessageId
				}
				if len(out.Messages) == 0 {
					return
				}
			}
		}()
	}
	for range 8 {
		<-done
	}
	close(got)
	seen := map[string]bool{}
	n := 0
	for id := range got {
		seen[id], n = true, n+1
	}
	if n != 100 || len(seen) != 100 {
		t.Errorf("got %d receives of %d messages, want 100 of 100", n, len(seen))
	}
}
