package awstest_test

import (
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
)

func attempt(id string) receiving {
	return func(in *sqs.ReceiveMessageInput) { in.ReceiveRequestAttemptId = &id }
}

// A receive that is sent again with its id gets the same messages by the same handles, and their visibility starts anew.
func TestFIFOReceiveIsRepeatedByItsAttemptID(t *testing.T) {
	bubble(t, func(r *rig) {
		q := r.fifo("q", "VisibilityTimeout", "10")
		r.sendAll(q, "a1", "a2", "a3")
		first := r.receive(q, atMost(2), attempt("x"))
		time.Sleep(6 * time.Second)
		again := r.receive(q, atMost(2), attempt("x"))
		r.wantBodies(again, "a1", "a2")
		for i := range again {
			if aws.ToString(again[i].ReceiptHandle) != aws.ToString(first[i].ReceiptHandle) {
				r.Errorf("message %d has another handle", i)
			}
		}
		r.wantBodies(r.receive(q, attempt("y"))) // the group is in flight for any other call
		time.Sleep(6 * time.Second)
		r.wantBodies(r.receive(q)) // hidden for 10 s from the repeat
		r.must(r.delete(q, first[0].ReceiptHandle))
		time.Sleep(4 * time.Second)
		r.wantBodies(r.receive(q, attempt("x")), "a2", "a3") // what was deleted or came back ends it: a receive like any other
	})
}

func TestFIFOAttemptIDEndsWithAChangeAndAfterFiveMinutes(t *testing.T) {
	bubble(t, func(r *rig) {
		q := r.fifo("q", "VisibilityTimeout", "600")
		r.sendAll(q, "a1", "b1")
		a := r.one(q, atMost(1), attempt("x"))
		r.must(r.hide(q, a.ReceiptHandle, 300))
		b := r.one(q, atMost(1), attempt("x"))
		r.wantBodies(append(r.receive(q), a, b), "a1", "b1")
		time.Sleep(5*time.Minute - time.Second)
		r.wantBodies(r.receive(q, attempt("x")), "b1")
		time.Sleep(time.Second)
		r.wantBodies(r.receive(q, attempt("x")), "a1") // that visibility ended; b1's has not
	})
}

func TestAttemptIDOfAStandardQueueIsIgnored(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	q := r.queue("q")
	r.send(q, "m")
	r.wantBodies(r.receive(q, attempt("x")), "m")
	r.wantBodies(r.receive(q, attempt("x")))
	_, err := r.tryReceive(t.Context(), q, attempt(strings.Repeat("x", 129)))
	coded(t, err, "InvalidParameterValue", "ReceiveRequestAttemptId")
}
