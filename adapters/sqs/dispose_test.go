package sqs_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	adapter "github.com/claimonce/claimonce/adapters/sqs"
	"github.com/claimonce/claimonce/awstest"
	"github.com/claimonce/claimonce/consumer"
)

// size is how many entries a batch call has.
func size(c awstest.Call) int {
	var b map[string]any
	_ = json.Unmarshal(c.Body, &b)
	return len(entries(b))
}

func handle(entry map[string]any) string { return fmt.Sprint(entry["ReceiptHandle"]) }

// gathered runs f while a slow delete is under way, so that what f deletes is gathered.
func (r *rig) gathered(s *adapter.Source, f func()) {
	r.t.Helper()
	r.send("first")
	m := r.take(s, 1)[0]
	r.server.Inject(awstest.Delay("DeleteMessageBatch", 150*time.Millisecond, 0).Once())
	wait := during(func() {
		if err := s.Ack(r.t.Context(), m); err != nil {
			r.t.Errorf("ack: %v", err)
		}
	})
	synctest.Wait()
	r.server.ResetCalls()
	f()
	wait()
}

// SQS-05: a batch delete is answered with status 200 and a failed entry in it.
func TestSQS05_OnlyTheFailedEntryIsSentAgain(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		s := r.open(adapter.Config{})
		r.gathered(s, func() {
			for i := range 10 {
				r.send(fmt.Sprint("secret body ", i))
			}
			msgs := r.take(s, 10)
			third := awstest.FailEntries("DeleteMessageBatch", false, 3).Once()
			third.Match = func(c awstest.Call) bool { return size(c) == 10 }
			r.server.Inject(third)
			r.server.Inject(func() awstest.Fault {
				again := awstest.FailEntries("DeleteMessageBatch", false, 0).Once()
				again.Match = func(c awstest.Call) bool { return size(c) == 1 }
				return again
			}())
			before := time.Now()
			if err := errors.Join(each(msgs, func(m *consumer.Message) error { return s.Ack(t.Context(), m) })...); err != nil {
				t.Errorf("acks: %v", err)
			}
			if time.Since(before) < 100*time.Millisecond {
				t.Error("the entry was sent again without a back-off")
			}
		})
		calls := r.calls("DeleteMessageBatch")
		if len(calls) != 3 || len(entries(calls[0])) != 10 || len(entries(calls[1])) != 1 || len(entries(calls[2])) != 1 {
			t.Fatalf("got calls %v, want ten entries, then the third alone, twice", calls)
		}
		third := handle(entries(calls[0])[3])
		if handle(entries(calls[1])[0]) != third || handle(entries(calls[2])[0]) != third {
			t.Error("another entry than the one that failed was sent again")
		}
		r.wantLeft(0)
		if log := r.log.String(); !strings.Contains(log, "InternalError") || strings.Contains(log, "secret") || strings.Contains(log, third) {
			t.Errorf("log %q, want the failure's code without payload and handle", log)
		}
	})
}

func TestSQS05_SendersFaultIsNotSentAgain(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		s := r.open(adapter.Config{})
		r.send("body")
		m := r.take(s, 1)[0]
		remove := r.server.Inject(awstest.FailEntries("DeleteMessageBatch", true, 0))
		if err := s.Ack(t.Context(), m); err == nil || !strings.Contains(err.Error(), "injected") {
			t.Errorf("got %v, want the entry's error", err)
		}
		if got := r.server.Count("DeleteMessageBatch"); got != 1 {
			t.Errorf("sent %d times, want once", got)
		}
		remove()
		if err := s.Ack(t.Context(), m); err != nil { // an ack that failed can be tried again
			t.Errorf("ack: %v", err)
		}
		r.wantLeft(0)
	})
}

func TestSQS05_NothingIsSentForEver(t *testing.T) {
	for _, f := range []awstest.Fault{
		awstest.FailEntries("DeleteMessageBatch", false, 0),
		awstest.FailBefore("DeleteMessageBatch", http.StatusServiceUnavailable, "ServiceUnavailable"),
		awstest.DropAnswer("DeleteMessageBatch"),
		awstest.Delay("DeleteMessageBatch", 24*time.Hour, 0),
	} {
		inBubble(t, func(t *testing.T, r *rig) {
			s := r.open(adapter.Config{})
			r.send("body")
			m := r.take(s, 1)[0]
			r.server.Inject(f)
			before := time.Now()
			if err := s.Ack(t.Context(), m); err == nil || errors.Is(err, consumer.ErrNotHeld) {
				t.Errorf("got %v, want an error that says nothing of the hold", err)
			}
			if got := time.Since(before); got > time.Minute {
				t.Errorf("it took %v, want a bound", got)
			}
		})
	}
}

// A call that fails as a whole is repeated beyond what the SDK does.
func TestWholeCallIsRepeated(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		s := r.open(adapter.Config{})
		r.send("body")
		m := r.take(s, 1)[0]
		f := awstest.FailBefore("DeleteMessageBatch", http.StatusInternalServerError, "InternalError")
		f.Times = 5
		r.server.Inject(f)
		if err := s.Ack(t.Context(), m); err != nil {
			t.Errorf("ack: %v", err)
		}
		r.wantLeft(0)
	})
}

// SQS-07: one message in two deliveries, deleted in one batch with eight others.
func TestSQS07_OneMessageTwiceInABatch(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		s := r.open(adapter.Config{})
		r.gathered(s, func() {
			r.sendMany(1)
			msgs := r.take(s, 1)
			elapse(31 * time.Second)
			r.sendMany(8)
			msgs = append(msgs, r.take(s, 9)...)
			if msgs[0].ID != msgs[1].ID {
				t.Fatalf("the first message was not delivered again")
			}
			r.server.Inject(awstest.Delay("DeleteMessageBatch", 150*time.Millisecond, 0).Once())
			r.send("opener")
			opener := r.take(s, 1)[0]
			wait := during(func() { _ = s.Ack(t.Context(), opener) })
			synctest.Wait()
			r.server.ResetCalls()
			if err := errors.Join(each(msgs, func(m *consumer.Message) error { return s.Ack(t.Context(), m) })...); err != nil {
				t.Errorf("acks: %v", err)
			}
			wait()
		})
		calls := r.calls("DeleteMessageBatch")
		if len(calls) != 1 || len(entries(calls[0])) != 10 {
			t.Fatalf("got %v, want one call with ten entries", calls)
		}
		if ids := entryIDs(calls[0]); len(slices.Compact(ids)) != 10 {
			t.Errorf("entry ids %v are not distinct", ids)
		}
		r.wantLeft(0)
	})
}

// SQS-07: a failure of one entry is the failure of its message.
func TestSQS07_FailuresMapBack(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		s := r.open(adapter.Config{})
		r.gathered(s, func() {
			r.sendMany(9)
			msgs := r.take(s, 9)
			f := awstest.FailEntries("DeleteMessageBatch", true, 2, 7)
			f.Match = func(c awstest.Call) bool { return size(c) == 9 }
			r.server.Inject(f)
			errs := each(msgs, func(m *consumer.Message) error { return s.Ack(t.Context(), m) })
			var failed, left []string
			for i, err := range errs {
				if err != nil {
					failed = append(failed, msgs[i].ID)
				}
			}
			for _, m := range r.left() {
				left = append(left, m.ID)
			}
			if len(failed) != 2 || !slices.Equal(sorted(failed), sorted(left)) {
				t.Errorf("acks of %v failed, %v are left", failed, left)
			}
		})
	})
}

func TestBatchesAreOfTen(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		s := r.open(adapter.Config{})
		r.gathered(s, func() {
			r.sendMany(25)
			msgs := r.take(s, 25)
			r.server.ResetCalls()
			if err := errors.Join(each(msgs, func(m *consumer.Message) error { return s.Ack(t.Context(), m) })...); err != nil {
				t.Errorf("acks: %v", err)
			}
		})
		var sizes []int
		for _, c := range r.calls("DeleteMessageBatch") {
			sizes = append(sizes, len(entries(c)))
		}
		if !slices.Equal(sorted(sizes), []int{5, 10, 10}) {
			t.Errorf("batches of %v, want 10, 10 and 5", sizes)
		}
	})
}

func TestSingleAckWaitsForNothing(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		s := r.open(adapter.Config{GatherTime: time.Hour})
		r.send("body")
		m := r.take(s, 1)[0]
		before := time.Now()
		if err := s.Ack(t.Context(), m); err != nil || time.Since(before) != 0 {
			t.Errorf("got %v after %v, want the delete at once", err, time.Since(before))
		}
		if err := s.Ack(t.Context(), m); err != nil {
			t.Errorf("second ack: %v", err)
		}
		if got := r.server.Count("DeleteMessageBatch"); got != 1 {
			t.Errorf("%d deletes, want one: the second ack has nothing to do", got)
		}
	})
}

// While a batch is under way the next gathers until it is full, the first one is answered, or its time is over.
func TestGathering(t *testing.T) {
	for _, c := range []struct {
		name                string
		n                   int
		gather, first, want time.Duration
	}{
		{"full", 10, time.Hour, 10 * time.Second, 0},
		{"answered", 9, time.Hour, 10 * time.Second, 10 * time.Second},
		{"over", 9, 0, 10 * time.Second, 200 * time.Millisecond},
	} {
		t.Run(c.name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, r *rig) {
				s := r.open(adapter.Config{GatherTime: c.gather})
				r.sendMany(c.n + 1)
				msgs := r.take(s, c.n+1)
				r.server.Inject(awstest.Delay("DeleteMessageBatch", c.first, 0).Once())
				wait := during(func() { _ = s.Ack(t.Context(), msgs[0]) })
				synctest.Wait()
				before := time.Now()
				if err := errors.Join(each(msgs[1:], func(m *consumer.Message) error { return s.Ack(t.Context(), m) })...); err != nil {
					t.Errorf("acks: %v", err)
				}
				if got := time.Since(before); got != c.want {
					t.Errorf("the second batch left after %v, want %v", got, c.want)
				}
				if got := r.server.Count("DeleteMessageBatch"); got != 2 {
					t.Errorf("%d batches, want 2", got)
				}
				wait()
			})
		})
	}
}

// An extension whose caller gave up is applied late. It must not hide again what was handed back meanwhile.
func TestLateExtensionDoesNotOvertakeTheNack(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		s := r.open(adapter.Config{})
		r.send("body")
		m := r.take(s, 1)[0]
		r.server.Inject(awstest.Delay("ChangeMessageVisibilityBatch", 5*time.Second, 0).Once())
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := s.Extend(ctx, m); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v, want the deadline", err)
		}
		if err := s.Nack(t.Context(), m, 0); err != nil {
			t.Errorf("nack: %v", err)
		}
		elapse(10 * time.Second)
		r.wantVisible(1)
	})
}

func TestExtensionIsWithdrawnWhileItGathers(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		s := r.open(adapter.Config{})
		r.sendMany(2)
		msgs := r.take(s, 2)
		r.server.Inject(awstest.Delay("ChangeMessageVisibilityBatch", 150*time.Millisecond, 0).Once())
		wait := during(func() { _ = s.Extend(t.Context(), msgs[0]) })
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		if err := s.Extend(ctx, msgs[1]); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v, want the deadline", err)
		}
		wait()
		elapse(time.Second)
		if calls := r.calls("ChangeMessageVisibilityBatch"); len(calls) != 1 || len(entries(calls[0])) != 1 {
			t.Errorf("got calls %v, want the first extension alone", calls)
		}
		if err := s.Nack(t.Context(), msgs[1], 0); err != nil {
			t.Errorf("nack: %v", err)
		}
	})
}

func TestNackIsCappedAtTwelveHours(t *testing.T) {
	for _, delay := range []time.Duration{12 * time.Hour, 30 * 24 * time.Hour, math.MaxInt64} {
		inBubble(t, func(t *testing.T, r *rig) {
			s := r.open(adapter.Config{Visibility: 2 * time.Hour})
			r.send("body")
			m := r.take(s, 1)[0]
			elapse(time.Hour)
			if err := s.Nack(t.Context(), m, delay); err != nil {
				t.Errorf("nack: %v", err)
			}
			want := time.Now().Add(11 * time.Hour)
			if got := r.left()[0].VisibleAt; got.After(want) || got.Before(want.Add(-10*time.Second)) {
				t.Errorf("delay %v: visible at %v, want just before %v", delay, got, want)
			}
		})
	}
}

func TestExpiredVisibilityIsNotHeld(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		s := r.open(adapter.Config{})
		r.sendMany(2)
		msgs := r.take(s, 2)
		elapse(31 * time.Second)
		for range 2 {
			if err := s.Extend(t.Context(), msgs[0]); !errors.Is(err, consumer.ErrNotHeld) {
				t.Errorf("extend: got %v, want ErrNotHeld", err)
			}
		}
		if err := s.Nack(t.Context(), msgs[1], time.Minute); !errors.Is(err, consumer.ErrNotHeld) {
			t.Errorf("nack: got %v, want ErrNotHeld", err)
		}
		// Nobody has it yet, and its outcome may be written: the delete is tried.
		if err := s.Ack(t.Context(), msgs[0]); err != nil {
			t.Errorf("ack: %v", err)
		}
		r.wantLeft(1)
	})
}

// Its handle may still delete it, but somebody was to have it.
func TestAckAfterNackIsRefused(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		s := r.open(adapter.Config{})
		r.send("body")
		m := r.take(s, 1)[0]
		if err := s.Nack(t.Context(), m, 0); err != nil {
			t.Fatal(err)
		}
		if err := s.Ack(t.Context(), m); !errors.Is(err, consumer.ErrNotHeld) {
			t.Errorf("got %v, want ErrNotHeld", err)
		}
		r.wantLeft(1)
	})
}

func TestMessageOfAnotherSourceIsRefused(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		s, other := r.open(adapter.Config{}), r.open(adapter.Config{})
		r.send("body")
		m := r.take(s, 1)[0]
		if err := other.Ack(t.Context(), m); err == nil || !strings.Contains(err.Error(), "not received by this source") {
			t.Errorf("got %v, want a refusal", err)
		}
		r.wantLeft(1)
	})
}

// Codes of servers and of AWS, in a batch and for one handle of it.
func TestErrNotHeldByCode(t *testing.T) {
	for _, code := range []string{"ReceiptHandleIsInvalid", "MessageNotInflight", "AWS.SimpleQueueService.MessageNotInflight", "com.amazonaws.sqs#ReceiptHandleIsInvalid"} {
		inBubble(t, func(t *testing.T, r *rig) {
			s := r.open(adapter.Config{})
			r.send("body")
			m := r.take(s, 1)[0]
			r.server.Inject(awstest.FailBefore("ChangeMessageVisibilityBatch", http.StatusBadRequest, code).Once())
			if err := s.Extend(t.Context(), m); !errors.Is(err, consumer.ErrNotHeld) {
				t.Errorf("%s: got %v, want ErrNotHeld", code, err)
			}
		})
	}
}

// A server that refuses a whole batch for one handle's sake must not make the others seem lost.
func TestRefusedBatchIsSentSingly(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		s := r.open(adapter.Config{})
		r.sendMany(7)
		msgs := r.take(s, 7)
		r.server.Inject(awstest.Delay("ChangeMessageVisibilityBatch", 150*time.Millisecond, 0).Once())
		wait := during(func() { _ = s.Extend(t.Context(), msgs[6]) })
		synctest.Wait()
		msgs = msgs[:6]
		var refused atomic.Int32
		f := awstest.FailBefore("ChangeMessageVisibilityBatch", http.StatusBadRequest, "ReceiptHandleIsInvalid")
		f.Match = func(c awstest.Call) bool {
			if size(c) < 2 {
				return false
			}
			refused.Add(1)
			return true
		}
		r.server.Inject(f)
		if err := errors.Join(each(msgs, func(m *consumer.Message) error { return s.Extend(t.Context(), m) })...); err != nil {
			t.Errorf("extend: %v", err)
		}
		wait()
		if refused.Load() == 0 {
			t.Error("no batch was refused")
		}
	})
}

// A visibility beyond what SQS allows says nothing of the hold.
func TestOtherInvalidParameterIsNoLoss(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		s := r.open(adapter.Config{})
		r.send("body")
		m := r.take(s, 1)[0]
		r.server.Inject(awstest.FailBefore("ChangeMessageVisibilityBatch", http.StatusBadRequest, "InvalidParameterValue").Once())
		if err := s.Extend(t.Context(), m); err == nil || errors.Is(err, consumer.ErrNotHeld) {
			t.Errorf("got %v, want an error that leaves the hold open", err)
		}
		if err := s.Extend(t.Context(), m); err != nil {
			t.Errorf("second try: %v", err)
		}
	})
}
