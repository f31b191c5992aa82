package sqs_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	adapter "github.com/claimonce/claimonce/adapters/sqs"
	"github.com/claimonce/claimonce/awstest"
	"github.com/claimonce/claimonce/consumer"
)

// Two operations with equal bodies, on queues that take the deduplication id from the body: with SQS's id the second dead letter would
// be swallowed, and its original be deleted.
func TestFIFODeadLettersAreNeverDeduplicated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newFIFORig(t, nil)
		r.dead = r.makeQueue("by-content.fifo", map[string]string{"FifoQueue": "true", "ContentBasedDeduplication": "true"})
		s := r.open(adapter.Config{DeadLetterURL: r.dead})
		r.sendTo("a", "same", "same")
		for _, m := range r.take(s, 2) {
			if err := s.DeadLetter(t.Context(), m, consumer.DeadLetter{Reason: "test"}); err != nil {
				t.Fatal(err)
			}
		}
		letters := r.letters()
		if len(letters) != 2 {
			t.Fatalf("got %d dead letters, want 2", len(letters))
		}
		seen := map[string]bool{}
		for _, m := range letters {
			id := m.Attributes["MessageDeduplicationId"]
			if m.Attributes["MessageGroupId"] != "a" || len(id) < 26 || seen[id] {
				t.Errorf("dead letter in group %q with id %q, want group a and an id of its own", m.Attributes["MessageGroupId"], id)
			}
			seen[id] = true
		}
		if left := r.inFIFO(); len(left) != 0 {
			t.Errorf("left %+v", left)
		}
	})
}

// The answer to the send is lost: the SDK's repeat is recognised by the id, and there is one dead letter.
func TestFIFODeadLetterWhoseAnswerIsLost(t *testing.T) {
	inFIFO(t, func(t *testing.T, r *rig) {
		s := r.open(adapter.Config{})
		r.sendTo("a", "a0")
		m := r.take(s, 1)[0]
		r.server.Inject(awstest.DropAnswer("SendMessage").Once())
		if err := s.DeadLetter(t.Context(), m, consumer.DeadLetter{Reason: "test"}); err != nil {
			t.Fatal(err)
		}
		if n := len(r.letters()); n != 1 {
			t.Errorf("got %d dead letters, want 1", n)
		}
		if n := len(r.calls("SendMessage")); n != 3 { // the test's, the lost one, its repeat
			t.Errorf("got %d sends, want 3", n)
		}
	})
}

// A redriven message that is dead-lettered again within five minutes.
func TestFIFODeadLetterAfterARedrive(t *testing.T) {
	inFIFO(t, func(t *testing.T, r *rig) {
		s := r.open(adapter.Config{})
		r.sendTo("a", "a0")
		for i := range 2 {
			if err := s.DeadLetter(t.Context(), r.take(s, 1)[0], consumer.DeadLetter{Reason: "test"}); err != nil {
				t.Fatal(err)
			}
			list := r.letters()
			if len(list) != 1 {
				t.Fatalf("round %d: got %d dead letters, want 1", i, len(list))
			}
			r.sendTo("a", aws.ToString(list[0].Body))
			elapse(time.Second)
			if _, err := r.client.DeleteMessage(t.Context(), deleteOf(r.dead, list[0].ReceiptHandle)); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// A redrive policy to a queue of the other kind, which SQS refuses and other servers take.
func TestFIFODeadLetterQueueOfTheOtherKind(t *testing.T) {
	inFIFO(t, func(t *testing.T, r *rig) {
		r.answer(func(body string) string { return strings.ReplaceAll(body, "work-dead.fifo", "work-dead") })
		wantError(t, r.open(adapter.Config{}).Check(t.Context()), true, "work.fifo is a FIFO queue", "work-dead is not", "name a FIFO queue")
	})
	inBubble(t, func(t *testing.T, r *rig) {
		r.makeQueue("work-dead.fifo", map[string]string{"FifoQueue": "true"})
		r.answer(func(body string) string { return strings.ReplaceAll(body, ":work-dead", ":work-dead.fifo") })
		wantError(t, r.open(adapter.Config{}).Check(t.Context()), true, "work is a standard queue", "name a standard queue")
	})
}

// SQS gives a message that it moves to a FIFO dead-letter queue a new time, so the retentions add up.
func TestFIFOLongestRedelivery(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newFIFORig(t, map[string]string{"MessageRetentionPeriod": "345600"})
		s := r.open(adapter.Config{})
		if got, err := s.MaxRedelivery(t.Context()); err != nil || got != 18*24*time.Hour {
			t.Errorf("got %v, %v, want 4 + 14 days", got, err)
		}
		if got := s.DefaultWindow(); got != 29*24*time.Hour {
			t.Errorf("default window %v, want a day more than twice the longest retention", got)
		}
	})
}

func TestFIFOFewReceivesAreWarnedOf(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newFIFORig(t, nil)
		r.queue = r.makeQueue("few.fifo", map[string]string{"FifoQueue": "true", "RedrivePolicy": r.policy(r.dead, 3)})
		if err := r.open(adapter.Config{}).Check(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := r.log.String(); !strings.Contains(got, "max_receive_count=3") {
			t.Errorf("log %q, want the low maxReceiveCount warned of", got)
		}
	})
}
