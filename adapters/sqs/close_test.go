package sqs_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	adapter "github.com/claimonce/claimonce/adapters/sqs"
	"github.com/claimonce/claimonce/awstest"
)

func closed(t *testing.T, s *adapter.Source) {
	t.Helper()
	if err := s.Close(t.Context()); err != nil {
		t.Errorf("close: %v", err)
	}
}

func TestCloseGivesBackWhatIsHeld(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		s := r.open(adapter.Config{Visibility: time.Hour})
		r.sendMany(23)
		msgs := r.take(s, 23)
		if err := s.Ack(t.Context(), msgs[0]); err != nil {
			t.Fatal(err)
		}
		if err := s.Nack(t.Context(), msgs[1], 10*time.Minute); err != nil {
			t.Fatal(err)
		}
		r.server.ResetCalls()
		closed(t, s)
		if got := r.server.Count("ChangeMessageVisibilityBatch"); got != 3 {
			t.Errorf("%d calls to give 21 messages back, want 3", got)
		}
		for _, m := range r.left() {
			if hidden := m.VisibleAt.After(time.Now()); hidden != (m.ID == msgs[1].ID) {
				t.Errorf("message %s is hidden: %v; want all but the nacked one visible", m.ID, hidden)
			}
		}
		closed(t, s)
		for what, err := range map[string]error{
			"ack": s.Ack(t.Context(), msgs[2]), "nack": s.Nack(t.Context(), msgs[2], 0), "extend": s.Extend(t.Context(), msgs[2]),
		} {
			if err == nil {
				t.Errorf("%s after close: got no error", what)
			}
		}
	})
}

func TestCloseGivesBackWhatWasExtended(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		s := r.open(adapter.Config{})
		r.send("body")
		m := r.take(s, 1)[0]
		elapse(20 * time.Second)
		if err := s.Extend(t.Context(), m); err != nil {
			t.Fatal(err)
		}
		elapse(20 * time.Second)
		closed(t, s)
		r.wantVisible(1)
	})
}

// What is no longer held is somebody else's.
func TestCloseLeavesWhatWasLost(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		s, other := r.open(adapter.Config{}), r.open(adapter.Config{})
		r.send("body")
		r.take(s, 1)
		elapse(31 * time.Second)
		r.take(other, 1)
		r.server.ResetCalls()
		closed(t, s)
		if got := r.server.Count("ChangeMessageVisibilityBatch"); got != 0 {
			t.Errorf("%d calls, want none for a delivery that is over", got)
		}
		if m := r.left()[0]; !m.InFlight {
			t.Error("the other worker's message was made visible")
		}
	})
}

// Acks that were taken before the close are sent.
func TestCloseFlushes(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		s := r.open(adapter.Config{GatherTime: time.Hour})
		r.sendMany(3)
		msgs := r.take(s, 3)
		r.server.Inject(awstest.Delay("DeleteMessageBatch", 5*time.Second, 0).Once())
		var wait []func()
		for _, m := range msgs {
			wait = append(wait, during(func() {
				if err := s.Ack(t.Context(), m); err != nil {
					t.Errorf("ack: %v", err)
				}
			}))
			synctest.Wait()
		}
		closed(t, s)
		r.wantLeft(0)
		for _, w := range wait {
			w()
		}
	})
}

// A message whose delete is under way is not given back: another worker would run it again.
func TestCloseGivesNothingBackThatIsBeingDeleted(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		s, other := r.open(adapter.Config{}), r.open(adapter.Config{})
		r.send("body")
		m := r.take(s, 1)[0]
		r.server.Inject(awstest.Delay("DeleteMessageBatch", 5*time.Second, 0).Once())
		acked := during(func() {
			if err := s.Ack(t.Context(), m); err != nil {
				t.Errorf("ack: %v", err)
			}
		})
		synctest.Wait()
		got := 0
		received := during(func() {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			msgs, _ := other.Receive(ctx, 10)
			got = len(msgs)
		})
		closed(t, s)
		acked()
		received()
		if got != 0 {
			t.Error("another worker got the message while it was being deleted")
		}
		r.wantLeft(0)
	})
}

// A poll under way at the close is waited for, for a while, and what it brings given back.
func TestCloseWaitsForThePoll(t *testing.T) {
	for _, c := range []struct {
		wait, answered, want time.Duration
		hidden               bool
	}{
		{0, 500 * time.Millisecond, 500 * time.Millisecond, false},
		{0, 10 * time.Second, time.Second, true}, // it was cut, and the client cannot know of the message
		{20 * time.Second, 10 * time.Second, 10 * time.Second, false},
	} {
		inBubble(t, func(t *testing.T, r *rig) {
			s := r.open(adapter.Config{CloseWait: c.wait})
			r.send("body")
			r.server.Inject(awstest.Delay("ReceiveMessage", 0, time.Second+c.answered).Once())
			r.cancelled(s, 10)
			before := time.Now()
			closed(t, s)
			if got := time.Since(before); got != c.want {
				t.Errorf("%+v: close took %v, want %v", c, got, c.want)
			}
			if got := r.left()[0].InFlight; got != c.hidden {
				t.Errorf("%+v: hidden %v, want %v", c, got, c.hidden)
			}
		})
	}
}

// A broken network costs no more than the context that close is given, and nothing is left running some time after.
func TestCloseIsBounded(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		s := r.open(adapter.Config{})
		r.send("body")
		r.take(s, 1)
		r.server.Inject(awstest.Delay("ChangeMessageVisibilityBatch", 24*time.Hour, 0))
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		before := time.Now()
		_ = s.Close(ctx) // it may report the end of its context, or that a message could not be given back
		if got := time.Since(before); got > 3*time.Second {
			t.Errorf("close took %v, want no more than its context", got)
		}
		elapse(time.Minute)
	})
}

func TestFailureToGiveBackIsLogged(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		s := r.open(adapter.Config{})
		r.send("secret body")
		m := r.take(s, 1)[0]
		r.server.Inject(awstest.FailBefore("ChangeMessageVisibilityBatch", http.StatusForbidden, "AccessDenied"))
		closed(t, s)
		if err := s.Ack(t.Context(), m); err == nil || !strings.Contains(err.Error(), "closed") {
			t.Errorf("ack after close: got %v, want that the source is closed", err)
		}
		if log := r.log.String(); !strings.Contains(log, "given back") || !strings.Contains(log, "AccessDenied") || strings.Contains(log, "secret") {
			t.Errorf("log %q, want the failure", log)
		}
	})
}

func TestReceiveEndsWhenTheSourceIsClosed(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		s := r.open(adapter.Config{})
		var err error
		wait := during(func() { _, err = s.Receive(t.Context(), 10) })
		elapse(time.Second)
		closed(t, s)
		wait()
		if err == nil || errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "closed") {
			t.Errorf("got %v, want that the source is closed", err)
		}
	})
}
