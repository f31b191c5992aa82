package sqs_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	adapter "github.com/claimonce/claimonce/adapters/sqs"
	"github.com/claimonce/claimonce/awstest"
	"github.com/claimonce/claimonce/consumer"
)

func TestFIFOGroupIsTheMessagesGroup(t *testing.T) {
	inFIFO(t, func(t *testing.T, r *rig) {
		s := r.open(adapter.Config{})
		r.sendTo("a", "a0", "a1")
		r.sendTo("b", "b0")
		msgs := r.take(s, 3)
		if got, want := bodiesOf(msgs), []string{"a0", "a1", "b0"}; !slices.Equal(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
		for _, m := range msgs {
			if m.Group != string(m.Body[:1]) {
				t.Errorf("message %s has the group %q", m.Body, m.Group)
			}
		}
	})
}

// The group id of a standard queue shares its receives among tenants; it is no order.
func TestStandardQueueHasNoGroups(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		if _, err := r.client.SendMessage(t.Context(), &sqs.SendMessageInput{
			QueueUrl: &r.queue, MessageBody: aws.String("m"), MessageGroupId: aws.String("tenant"),
		}); err != nil {
			t.Fatal(err)
		}
		if m := r.take(r.open(adapter.Config{}), 1)[0]; m.Group != "" {
			t.Errorf("got group %q, want none", m.Group)
		}
	})
}

// The answer to a receive is lost: the SDK's repeat gets the same messages, and their groups do not stand until the visibility ends.
func TestFIFOLostReceiveIsRepeated(t *testing.T) {
	inFIFO(t, func(t *testing.T, r *rig) {
		s := r.open(adapter.Config{Visibility: time.Hour})
		r.sendTo("a", "a0", "a1")
		r.server.Inject(awstest.DropAnswer("ReceiveMessage").Once())
		start := time.Now()
		if got := bodiesOf(r.take(s, 2)); !slices.Equal(got, []string{"a0", "a1"}) {
			t.Errorf("got %v, want both", got)
		}
		if took := time.Since(start); took > 25*time.Second {
			t.Errorf("took %v, want it within the SDK's back-off, not the visibility of an hour", took)
		}
		for _, m := range r.inFIFO() {
			if m.Receives != 1 {
				t.Errorf("message %s was received %d times, want once", m.Body, m.Receives)
			}
		}
		wantAttempts(t, r, 2, 1)
	})
}

// Two polls are two receives: with one id the second would get what the first got.
func TestFIFOEachPollHasItsOwnAttempt(t *testing.T) {
	inFIFO(t, func(t *testing.T, r *rig) {
		s := r.open(adapter.Config{})
		r.sendTo("a", "a0")
		r.sendTo("b", "b0")
		if got := append(bodiesOf(r.take(s, 1)), bodiesOf(r.take(s, 1))...); !slices.Equal(got, []string{"a0", "b0"}) {
			t.Errorf("got %v, want one each", got)
		}
		wantAttempts(t, r, 2, 2)
	})
}

// wantAttempts: receives, and how many different attempts they name.
func wantAttempts(t *testing.T, r *rig, calls, ids int) {
	t.Helper()
	receives, seen := r.calls("ReceiveMessage"), map[string]bool{}
	for _, c := range receives {
		id, _ := c["ReceiveRequestAttemptId"].(string)
		if len(id) < 26 {
			t.Errorf("attempt %q, want a random id", id)
		}
		seen[id] = true
	}
	if len(receives) != calls || len(seen) != ids {
		t.Errorf("got %d receives with %d ids, want %d with %d", len(receives), len(seen), calls, ids)
	}
}

func TestStandardReceiveIsNotRepeated(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		s := r.open(adapter.Config{})
		r.server.Inject(awstest.FailBefore("ReceiveMessage", http.StatusInternalServerError, "InternalError").Once())
		if _, err := s.Receive(t.Context(), 1); err == nil {
			t.Error("got no error")
		}
		for _, c := range r.calls("ReceiveMessage") {
			if id, ok := c["ReceiveRequestAttemptId"]; ok {
				t.Errorf("a standard queue is asked with the attempt %v", id)
			}
		}
		if n := r.server.Count("ReceiveMessage"); n != 1 {
			t.Errorf("%d receives, want no repeat", n)
		}
	})
}

// SQS-08: a FIFO queue refuses the delete by an expired handle. The delivery is over; the message is not.
func TestSQS08_FIFODeleteByAnExpiredHandle(t *testing.T) {
	inFIFO(t, func(t *testing.T, r *rig) {
		s := r.open(adapter.Config{})
		r.sendTo("a", "a0", "a1")
		msgs := r.take(s, 2)
		elapse(31 * time.Second)
		for i, err := range each(msgs, func(m *consumer.Message) error { return s.Ack(t.Context(), m) }) {
			if !errors.Is(err, consumer.ErrNotHeld) {
				t.Errorf("ack %d: got %v, want ErrNotHeld", i, err)
			}
			for _, c := range r.calls("DeleteMessageBatch") {
				if h := fmt.Sprint(entries(c)[0]["ReceiptHandle"]); strings.Contains(fmt.Sprint(err), h) {
					t.Error("the error shows the handle")
				}
			}
		}
		again := r.take(s, 2)
		if got := bodiesOf(again); !slices.Equal(got, []string{"a0", "a1"}) {
			t.Errorf("got %v again, want both in order", got)
		}
		for _, m := range again {
			if err := s.Ack(t.Context(), m); err != nil {
				t.Error(err)
			}
		}
		if left := r.inFIFO(); len(left) != 0 {
			t.Errorf("left %+v", left)
		}
	})
}

// What is handed back behind a head is visible no earlier than the head, also where a part of a second is asked for.
func TestFIFOHandBackBehindAHead(t *testing.T) {
	inFIFO(t, func(t *testing.T, r *rig) {
		s := r.open(adapter.Config{})
		r.sendTo("a", numbered("a", 5)...)
		for _, m := range r.take(s, 5) {
			if err := s.Nack(t.Context(), m, 2500*time.Millisecond); err != nil {
				t.Error(err)
			}
		}
		var last time.Time
		for i, m := range r.inFIFO() {
			if m.VisibleAt.Before(last) || m.Body != fmt.Sprint("a", i) {
				t.Errorf("%s is visible at %v, before what is ahead of it (%v)", m.Body, m.VisibleAt, last)
			}
			last = m.VisibleAt
		}
		if got := bodiesOf(r.take(s, 5)); !slices.Equal(got, numbered("a", 5)) {
			t.Errorf("got %v, want all in order", got)
		}
	})
}

// A stop gives back what a poll brought, and it comes to another worker at once and in order.
func TestLIF10_FIFOGivesBackInOrder(t *testing.T) {
	inFIFO(t, func(t *testing.T, r *rig) {
		s := r.open(adapter.Config{Visibility: 10 * time.Minute})
		r.sendTo("a", numbered("a", 4)...)
		r.sendTo("b", numbered("b", 3)...)
		r.take(s, 7)
		if err := s.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		got := bodiesOf(r.take(r.open(adapter.Config{}), 7))
		if want := append(numbered("a", 4), numbered("b", 3)...); !slices.Equal(got, want) || time.Since(start) > time.Second {
			t.Errorf("got %v after %v, want %v at once", got, time.Since(start), want)
		}
	})
}

// A poll that is taken over by a caller with less room: what goes back comes after what was handed out.
func TestFIFOSurplusOfAPollComesAfterwards(t *testing.T) {
	inFIFO(t, func(t *testing.T, r *rig) {
		s, other := r.open(adapter.Config{}), r.open(adapter.Config{})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if msgs, err := s.Receive(ctx, 10); err == nil {
			t.Fatalf("got %v from an empty queue", bodiesOf(msgs))
		}
		wait := during(func() {
			elapse(time.Second)
			out, err := r.client.SendMessageBatch(t.Context(), batchOf(r.queue, "a", numbered("a", 5)))
			if err != nil || len(out.Failed) > 0 {
				t.Errorf("send: %+v, %v", out, err)
			}
		})
		first := r.take(s, 2)
		wait()
		if got := bodiesOf(first); !slices.Equal(got, []string{"a0", "a1"}) {
			t.Fatalf("got %v, want the first two", got)
		}
		ctx, cancel = context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		if msgs, err := other.Receive(ctx, 10); err == nil {
			t.Errorf("got %v while what is ahead of it is held", bodiesOf(msgs))
		}
		if calls := r.calls("ChangeMessageVisibilityBatch"); len(calls) != 1 || len(entries(calls[0])) != 3 {
			t.Errorf("given back by %v, want one call for three", calls)
		}
		for _, m := range first {
			if err := s.Ack(t.Context(), m); err != nil {
				t.Error(err)
			}
		}
		if got := bodiesOf(r.take(other, 3)); !slices.Equal(got, []string{"a2", "a3", "a4"}) {
			t.Errorf("got %v, want the rest in order", got)
		}
	})
}
