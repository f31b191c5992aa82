package sqs_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	adapter "github.com/claimonce/claimonce/adapters/sqs"
	"github.com/claimonce/claimonce/awstest"
	"github.com/claimonce/claimonce/consumer"
)

// SQS-01: a queue's own visibility counts unless another is configured.
func TestSQS01_Visibility(t *testing.T) {
	for _, c := range []struct {
		name       string
		configured time.Duration
		want       time.Duration
	}{
		{"the queue's", 0, 150 * time.Second},
		{"configured", 60 * time.Second, 60 * time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, map[string]string{"VisibilityTimeout": "150"})
				s := r.open(adapter.Config{Visibility: c.configured})
				r.send("body")
				m := r.take(s, 1)[0]
				if got := s.Visibility(); got != c.want {
					t.Errorf("got visibility %v, want %v", got, c.want)
				}
				for _, call := range r.calls("ReceiveMessage") {
					if v, ok := call["VisibilityTimeout"]; ok && v != c.want.Seconds() {
						t.Errorf("asked for visibility %v, want none or %v", v, c.want)
					}
				}
				other := r.open(adapter.Config{Visibility: c.configured})
				before := time.Now()
				r.take(other, 1)
				if got := time.Since(before); got != c.want {
					t.Errorf("a second delivery after %v, want it after %v", got, c.want)
				}
				if err := s.Extend(t.Context(), m); !errors.Is(err, consumer.ErrNotHeld) {
					t.Errorf("got %v, want ErrNotHeld", err)
				}
			})
		})
	}
}

// SQS-15: what is not asked for is not sent, and a key would seem to be missing.
func TestSQS15_AllAttributesAreAskedFor(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		s := r.open(adapter.Config{})
		send(t, r.client, r.queue, consumer.Message{Body: []byte("body"), Attributes: []consumer.Attribute{{Name: "Operation-Key", Value: []byte("k")}}})
		m := r.take(s, 1)[0]
		if v, ok, err := m.Attribute("operation-key"); v != "k" || !ok || err != nil {
			t.Errorf("got %q, %v, %v, want k", v, ok, err)
		}
		if m.Receives != 1 || !m.SentAt.Equal(time.Now()) {
			t.Errorf("got %d receives, sent at %v, want 1 and %v", m.Receives, m.SentAt, time.Now())
		}
		if m.Group != "" {
			t.Errorf("got group %q, want none on a standard queue", m.Group)
		}
	})
}

func TestIdlePollsAreLong(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		s := r.open(adapter.Config{})
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if msgs, err := s.Receive(ctx, 10); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %d messages and %v, want the deadline", len(msgs), err)
		}
		if got := r.server.Count("ReceiveMessage"); got > 4 {
			t.Errorf("%d receives in a minute, want one each 20 s", got)
		}
	})
}

func TestLastPoll(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		s := r.open(adapter.Config{})
		if got := s.LastPoll(); !got.IsZero() {
			t.Errorf("last poll at %v before the first one", got)
		}
		start := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Second)
		defer cancel()
		_, _ = s.Receive(ctx, 10) // brings nothing
		if got := s.LastPoll().Sub(start); got != 40*time.Second {
			t.Errorf("last poll after %v, want the second answer, after 40 s", got)
		}
	})
}

// A repeat by the SDK would hide the messages of an answer that was lost, and seem to have found an empty queue.
func TestLostAnswerIsNotRepeated(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		s := r.open(adapter.Config{})
		r.send("body")
		r.server.Inject(awstest.DropAnswer("ReceiveMessage").Once())
		if _, err := s.Receive(t.Context(), 10); err == nil || errors.Is(err, consumer.ErrSetup) {
			t.Errorf("got %v, want an error that time can mend", err)
		}
		if got := r.server.Count("ReceiveMessage"); got != 1 {
			t.Errorf("the SDK sent %d receives, want 1", got)
		}
		if m := r.take(s, 1)[0]; m.Receives != 2 {
			t.Errorf("got %d receives, want 2: counts jump", m.Receives)
		}
	})
}

// A connection that died in silence must not end the receiving for ever.
func TestUnansweredPollEnds(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		s := r.open(adapter.Config{})
		r.server.Inject(awstest.Delay("ReceiveMessage", 24*time.Hour, 0).Once())
		before := time.Now()
		if _, err := s.Receive(t.Context(), 10); err == nil || t.Context().Err() != nil {
			t.Errorf("got %v, want an error", err)
		}
		if got := time.Since(before); got > 2*time.Minute {
			t.Errorf("it took %v, want a bound", got)
		}
		r.send("body")
		r.take(s, 1)
	})
}

// cancelled calls Receive and cancels it after a second.
func (r *rig) cancelled(s *adapter.Source, limit int) {
	r.t.Helper()
	ctx, cancel := context.WithCancel(r.t.Context())
	before := time.Now()
	time.AfterFunc(time.Second, cancel)
	if msgs, err := s.Receive(ctx, limit); !errors.Is(err, context.Canceled) {
		r.t.Errorf("got %d messages and %v, want context.Canceled", len(msgs), err)
	}
	if got := time.Since(before); got != time.Second {
		r.t.Errorf("receive returned %v after its start, want it at once after the cancellation", got)
	}
}

func (r *rig) wantVisible(receives int) {
	r.t.Helper()
	for _, m := range r.left() {
		if m.InFlight || m.Receives != receives {
			r.t.Errorf("message in flight %v, received %d times, want it visible and %d", m.InFlight, m.Receives, receives)
		}
	}
}

// A stop in the middle of a long poll: a message that the queue hands to it afterwards must not stay hidden.
func TestCancelledPollGivesBack(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		s := r.open(adapter.Config{})
		r.cancelled(s, 10)
		r.sendAtOnce(3)
		synctest.Wait()
		r.wantLeft(3)
		r.wantVisible(1)
		if got := r.server.Count("ChangeMessageVisibilityBatch"); got != 1 {
			t.Errorf("%d calls to give back, want one for all", got)
		}
	})
}

// The queue has handed the messages out already, and their answer is on its way when the worker stops.
func TestAnswerAfterTheStopIsGivenBack(t *testing.T) {
	inBubble(t, func(_ *testing.T, r *rig) {
		s := r.open(adapter.Config{})
		r.send("body")
		r.server.Inject(awstest.Delay("ReceiveMessage", 0, 5*time.Second).Once())
		r.cancelled(s, 10)
		elapse(4 * time.Second)
		synctest.Wait()
		r.wantVisible(1)
	})
}

// The answer and the stop come in the same moment: the messages are returned or given back, never forgotten.
func TestAnswerAtTheStop(t *testing.T) {
	for range 50 {
		inBubble(t, func(t *testing.T, r *rig) {
			s := r.open(adapter.Config{})
			r.send("body")
			r.server.Inject(awstest.Delay("ReceiveMessage", 0, time.Second).Once())
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			msgs, _ := s.Receive(ctx, 10)
			synctest.Wait()
			if held := r.left()[0].InFlight; held != (len(msgs) == 1) {
				t.Errorf("got %d messages, and hidden is %v", len(msgs), held)
			}
		})
	}
}

func TestNextReceiveTakesAPollOver(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		s := r.open(adapter.Config{})
		r.cancelled(s, 10)
		time.AfterFunc(time.Second, func() { r.sendAtOnce(3) })
		msgs, err := s.Receive(t.Context(), 1)
		if err != nil || len(msgs) != 1 || msgs[0].Receives != 1 {
			t.Fatalf("got %d messages and %v, want one", len(msgs), err)
		}
		if got := r.server.Count("ReceiveMessage"); got != 1 {
			t.Errorf("%d receives, want the one that was under way", got)
		}
		synctest.Wait()
		inFlight := 0
		for _, m := range r.left() {
			if m.InFlight {
				inFlight++
			}
		}
		if inFlight != 1 {
			t.Errorf("%d messages are hidden, want those beyond the limit given back", inFlight)
		}
	})
}

// sendAtOnce makes a long poll see all messages together.
func (r *rig) sendAtOnce(n int) {
	r.t.Helper()
	in := &sqs.SendMessageBatchInput{QueueUrl: &r.queue}
	for i := range n {
		in.Entries = append(in.Entries, types.SendMessageBatchRequestEntry{Id: aws.String(string(rune('a' + i))), MessageBody: aws.String("body")})
	}
	if _, err := r.client.SendMessageBatch(r.t.Context(), in); err != nil {
		r.t.Error(err)
	}
}
