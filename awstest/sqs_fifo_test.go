package awstest_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

func (r *rig) fifo(name string, attributes ...string) string {
	r.Helper()
	return r.queue(name+".fifo", append([]string{"FifoQueue", "true"}, attributes...)...)
}

// inGroup sends with a group, and with a deduplication id if that is not empty.
func inGroup(group, dedup string) func(*sqs.SendMessageInput) {
	return func(in *sqs.SendMessageInput) {
		in.MessageGroupId = &group
		if dedup != "" {
			in.MessageDeduplicationId = &dedup
		}
	}
}

// sendAll sends bodies of which the first letter is the group.
func (r *rig) sendAll(q string, list ...string) {
	r.Helper()
	for _, body := range list {
		r.send(q, body, inGroup(body[:1], body))
	}
}

func TestFIFOKeepsTheOrderOfAGroup(t *testing.T) {
	bubble(t, func(r *rig) {
		q := r.fifo("q")
		last := ""
		for i := range 12 {
			out := r.send(q, strconv.Itoa(i), inGroup("g", strconv.Itoa(i)))
			if n := aws.ToString(out.SequenceNumber); n <= last || len(n) != 20 {
				r.Errorf("got sequence number %q after %q, want a greater one of 20 digits", n, last)
			}
			last = aws.ToString(out.SequenceNumber)
		}
		var got []string
		for {
			list := r.receive(q, atMost(5))
			if len(list) == 0 {
				break
			}
			for _, m := range list {
				got = append(got, *m.Body)
				if a := m.Attributes; a["MessageGroupId"] != "g" || a["MessageDeduplicationId"] != *m.Body || len(a["SequenceNumber"]) != 20 {
					r.Errorf("got system attributes %v", a)
				}
				r.must(r.delete(q, m.ReceiptHandle))
			}
		}
		if want := "0 1 2 3 4 5 6 7 8 9 10 11"; strings.Join(got, " ") != want {
			r.Errorf("got %v, want %s", got, want)
		}
	})
}

func TestFIFOGroupWaitsForWhatIsInFlight(t *testing.T) {
	bubble(t, func(r *rig) {
		q := r.fifo("q")
		r.sendAll(q, "a1", "b1", "a2", "a3", "b2")
		first := r.receive(q, atMost(2))
		r.wantBodies(first, "a1", "a2")
		r.wantBodies(r.receive(q), "b1", "b2")
		r.wantBodies(r.receive(q))
		r.must(r.delete(q, first[0].ReceiptHandle))
		r.wantBodies(r.receive(q)) // a2 still holds a3 back
		got, took := r.polled(q, func() {
			time.Sleep(time.Second)
			r.must(r.delete(q, first[1].ReceiptHandle))
		})
		r.wantBodies(got, "a3")
		if took != time.Second {
			r.Errorf("got it after %v, want with the delete after 1s", took)
		}
	})
}

func TestFIFORedeliversInOrder(t *testing.T) {
	bubble(t, func(r *rig) {
		q := r.fifo("q", "VisibilityTimeout", "10")
		r.sendAll(q, "a1", "a2", "a3")
		list := r.receive(q, atMost(2))
		r.must(r.hide(q, list[1].ReceiptHandle, 0))
		r.wantBodies(r.receive(q)) // a1 is in flight
		r.must(r.hide(q, list[0].ReceiptHandle, 5))
		time.Sleep(5 * time.Second)
		list = r.receive(q, atMost(2))
		r.wantBodies(list, "a1", "a2")
		r.must(r.hide(q, list[0].ReceiptHandle, 0))
		first := r.receive(q)
		r.wantBodies(first, "a1") // and not a3: a2 is in flight
		r.must(r.hide(q, list[1].ReceiptHandle, 0))
		r.wantBodies(r.receive(q)) // a1 is in flight again
		r.must(r.hide(q, first[0].ReceiptHandle, 0))
		r.wantBodies(r.receive(q), "a1", "a2", "a3")
	})
}

func TestFIFOHandleExpires(t *testing.T) {
	bubble(t, func(r *rig) {
		q := r.fifo("q", "VisibilityTimeout", "10")
		r.sendAll(q, "a1")
		old := r.one(q)
		time.Sleep(10 * time.Second)
		coded(r.T, r.delete(q, old.ReceiptHandle), "InvalidParameterValue", "expired")
		last := r.one(q)
		coded(r.T, r.delete(q, old.ReceiptHandle), "InvalidParameterValue", "expired")
		r.must(r.delete(q, last.ReceiptHandle))
		r.must(r.delete(q, last.ReceiptHandle))
	})
}

func TestFIFODeduplicatesForFiveMinutes(t *testing.T) {
	bubble(t, func(r *rig) {
		q := r.fifo("q")
		first := r.send(q, "m", inGroup("a", "id"))
		r.must(r.delete(q, r.one(q).ReceiptHandle))
		time.Sleep(5*time.Minute - time.Second)
		// What became of the message, the group and the body do not matter.
		again := r.send(q, "other", inGroup("b", "id"))
		if *again.MessageId != *first.MessageId || *again.SequenceNumber != *first.SequenceNumber {
			r.Errorf("got %v, want the first message's id and number %v", again, first)
		}
		r.wantCounts(q, "0/0/0")
		time.Sleep(time.Second)
		if out := r.send(q, "m", inGroup("a", "id")); *out.MessageId == *first.MessageId {
			r.Error("the id was recognised after five minutes")
		}
		r.wantCounts(q, "1/0/0")
	})
}

func TestFIFODeduplicationScopeOfAGroup(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	q := r.fifo("q", "DeduplicationScope", "messageGroup", "FifoThroughputLimit", "perMessageGroupId")
	for _, group := range []string{"a", "b", "a", "b"} {
		r.send(q, group, inGroup(group, "id"))
	}
	r.wantBodies(r.receive(q), "a", "b")
}

func TestFIFOContentBasedDeduplication(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	q := r.fifo("q", "ContentBasedDeduplication", "true")
	r.send(q, "m", inGroup("g", ""))
	r.send(q, "m", inGroup("g", ""), with(values{"k": text("v")})) // attributes are no content
	r.send(q, "n", inGroup("g", ""))
	r.send(q, "m", inGroup("g", "own-id"))
	list := r.receive(q)
	r.wantBodies(list, "m", "n", "m")
	// sha256 of "m".
	if got, want := list[0].Attributes["MessageDeduplicationId"], "62c66a7a5dd70c3146618063c344e531e6d4b59e379808443ce962b3abd63c5a"; got != want {
		t.Errorf("got deduplication id %s, want %s", got, want)
	}
}

func TestFIFORules(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	q, standard := r.fifo("q"), r.queue("standard")
	_, err := r.trySend(q, "m")
	coded(t, err, "MissingParameter", "MessageGroupId")
	_, err = r.trySend(q, "m", inGroup("g", ""))
	coded(t, err, "InvalidParameterValue", "ContentBasedDeduplication")
	_, err = r.trySend(q, "m", inGroup("g", "id"), delayed(1))
	coded(t, err, "InvalidParameterValue", "DelaySeconds")
	_, err = r.trySend(standard, "m", func(in *sqs.SendMessageInput) { in.MessageDeduplicationId = aws.String("id") })
	coded(t, err, "InvalidParameterValue", "MessageDeduplicationId")
	for _, id := range []string{"a b", "é", "\n", strings.Repeat("a", 129)} {
		_, err = r.trySend(q, "m", inGroup(id, "id"))
		coded(t, err, "InvalidParameterValue", "MessageGroupId")
		_, err = r.trySend(q, "m", inGroup("g", id))
		coded(t, err, "InvalidParameterValue", "MessageDeduplicationId")
	}
	r.send(q, "m", inGroup(strings.Repeat("~", 128), strings.Repeat("!", 128)))

	coded(t, r.create("q", "FifoQueue", "true"), "InvalidParameterValue", ".fifo")
	coded(t, r.create(".fifo", "FifoQueue", "true"), "InvalidParameterValue", ".fifo")
	typed[*types.InvalidAttributeName](t, r.create("q", "FifoQueue", "false"))
	typed[*types.InvalidAttributeName](t, r.create("q", "ContentBasedDeduplication", "true"))
	typed[*types.InvalidAttributeValue](t, r.create("x.fifo", "FifoQueue", "true", "FifoThroughputLimit", "perMessageGroupId"))
	typed[*types.InvalidAttributeValue](t, r.create("x.fifo", "FifoQueue", "true", "ContentBasedDeduplication", "yes"))
}

func TestFIFODelayOfTheQueue(t *testing.T) {
	bubble(t, func(r *rig) {
		q := r.fifo("q", "DelaySeconds", "5")
		r.sendAll(q, "a1")
		r.must(r.setAttributes(q, "DelaySeconds", "0"))
		r.sendAll(q, "a2", "b1")
		r.wantBodies(r.receive(q), "b1") // a2 must not overtake a1
		time.Sleep(5 * time.Second)
		r.wantBodies(r.receive(q), "a1", "a2")

		r.sendAll(q, "c1")
		r.must(r.setAttributes(q, "DelaySeconds", "5"))
		r.sendAll(q, "c2")
		r.must(r.setAttributes(q, "DelaySeconds", "0"))
		r.sendAll(q, "c3")
		r.wantBodies(r.receive(q), "c1") // nor c3 the delayed c2 behind c1
	})
}

func TestFIFODeadLetterLetsTheGroupGoOn(t *testing.T) {
	bubble(t, func(r *rig) {
		dead := r.fifo("dead")
		q := r.fifo("q", "VisibilityTimeout", "10", "RedrivePolicy", redriveTo(r.arn(dead), 1))
		r.sendAll(q, "a1", "a2")
		r.wantBodies(r.receive(q, atMost(1)), "a1")
		time.Sleep(10 * time.Second)
		r.wantBodies(r.receive(q), "a2")
		m := r.one(dead)
		if *m.Body != "a1" || m.Attributes["MessageGroupId"] != "a" || m.Attributes["SentTimestamp"] != "946684810000" {
			r.Errorf("got %s %v, want a1 in its group, sent when it was moved", *m.Body, m.Attributes)
		}
	})
}

func TestFIFOBatchOfGroupsComesOldestFirst(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	q := r.fifo("q")
	r.sendAll(q, "c1", "a1", "b1", "a2")
	list := r.receive(q)
	if got := bodies(list); slices.Index(got, "a1") > slices.Index(got, "a2") || len(got) != 4 {
		t.Errorf("got %q, want all four, a1 before a2", got)
	}
}
