package consumer_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/claimonce/claimonce/consumer"
	"github.com/claimonce/claimonce/dedupe"
)

// Visibility 30 s, handlers of ten minutes: nothing is delivered twice, neither what runs nor what waits.
func TestVisibilityIsKeptWhileMessagesRunAndWait(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.cfg.Workers = 2
		r.handle = func(context.Context, *dedupe.Operation, order) (string, error) {
			elapse(10 * time.Minute)
			return "done", nil
		}
		for i := range 6 {
			r.queue.send(message(fmt.Sprint("k", i), `{"amount":1}`))
		}
		w := r.start()
		elapse(9 * time.Minute)
		if h := w.Health(); h.Held != 6 || h.Running != 2 {
			t.Errorf("health %+v, want 6 held and 2 running", h)
		}
		if got := r.queue.count("extend"); got < 6*9*60/30 || got > 6*9*60/10 {
			t.Errorf("%d extensions in 9 minutes for 6 messages, want one each every ten seconds", got)
		}
		elapse(25 * time.Minute)
		w.stop()
		r.wantEmpty()
		for i := range 6 {
			r.wantRuns(fmt.Sprint("k", i), 1)
			if n := len(r.queue.entry(fmt.Sprint("m-k", i)).receives); n != 1 {
				t.Errorf("k%d was received %d times, want once", i, n)
			}
		}
		extends := r.queue.count("extend")
		elapse(time.Hour)
		if n := r.queue.count("extend"); n != extends {
			t.Errorf("%d extensions after all was done", n-extends)
		}
	})
}

// Two calls in a row may fail, one may hang, and all may be slow, without a second delivery.
func TestVisibilitySurvivesFailedExtensions(t *testing.T) {
	calls := 0
	for name, faults := range map[string]queueFaults{
		"OPS04 errors": {extend: func(*consumer.Message) error {
			if calls++; calls%3 != 0 {
				return errBroken
			}
			return nil
		}},
		"slow":    {extendTime: 9 * time.Second},
		"hanging": {extendHangs: func() bool { calls++; return calls%2 == 1 }},
	} {
		t.Run(name, func(t *testing.T) {
			calls = 0
			inBubble(t, func(t *testing.T, r *rig) {
				r.queue.faults = faults
				r.handle = func(ctx context.Context, _ *dedupe.Operation, _ order) (string, error) {
					return "done", wait(ctx, 10*time.Minute)
				}
				r.queue.send(message("k", `{"amount":1}`))
				w := r.start()
				elapse(11 * time.Minute)
				if h := w.Health(); name != "slow" && h.ExtendFailures == 0 {
					t.Error("health counts no failed extension")
				}
				w.stop()
				r.wantRuns("k", 1)
				r.wantEmpty()
				if n := len(r.queue.entry("m-k").receives); n != 1 {
					t.Errorf("received %d times, want once", n)
				}
			})
		})
	}
}

// reason is why a context ended, told from one goroutine to another.
type reason struct {
	mu  sync.Mutex
	err error
}

func (r *reason) set(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.err = err
}

func (r *reason) get() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}

// losing is a handler that runs until its context ends, and then tells why.
func losing(cause *reason) func(context.Context, *dedupe.Operation, order) (string, error) {
	return func(ctx context.Context, _ *dedupe.Operation, _ order) (string, error) {
		<-ctx.Done()
		cause.set(context.Cause(ctx))
		return "", cause.get()
	}
}

func TestHandlerIsCancelledWhenItsMessageIsNoLongerHeld(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		var cause reason
		r.handle = losing(&cause)
		r.queue.faults.extend = func(*consumer.Message) error { return consumer.ErrNotHeld }
		r.queue.send(message("k", `{"amount":1}`))
		w := r.start()
		elapse(15 * time.Second)
		if !errors.Is(cause.get(), consumer.ErrNotHeld) {
			t.Errorf("the handler's context ended with %v, want ErrNotHeld", cause.get())
		}
		if e := r.first("m-k"); e.Disposition != consumer.Left || !errors.Is(e.Err, consumer.ErrNotHeld) || !e.Ran {
			t.Errorf("told %+v, want it left alone", e)
		}
		if n := r.queue.count("ack") + r.queue.count("nack") + r.queue.count("dead-letter"); n != 0 {
			t.Errorf("%d calls for a message that is no longer held, want none", n)
		}
		w.stop()
	})
}

// revoking is a source whose messages can be taken back.
type revoking struct {
	*queue

	revoked chan struct{}
}

func (s revoking) Receive(ctx context.Context, limit int) ([]*consumer.Message, error) {
	ms, err := s.queue.Receive(ctx, limit)
	for _, m := range ms {
		m.SetRevoked(s.revoked)
	}
	return ms, err
}

func TestHandlerIsCancelledWhenItsMessageIsRevoked(t *testing.T) {
	for _, extends := range []bool{true, false} {
		t.Run(fmt.Sprint("extender ", extends), func(t *testing.T) {
			inBubble(t, func(t *testing.T, r *rig) {
				revoked := make(chan struct{})
				src := revoking{r.queue, revoked}
				r.src = src
				if !extends {
					r.src = bare{src}
				}
				r.cfg.Workers = 1
				var cause reason
				r.handle = losing(&cause)
				r.queue.send(message("a", `{"amount":1}`), message("b", `{"amount":1}`))
				w := r.start()
				elapse(15 * time.Second)
				close(revoked)
				elapse(time.Millisecond)
				if !errors.Is(cause.get(), consumer.ErrNotHeld) {
					t.Errorf("the handler's context ended with %v, want ErrNotHeld", cause.get())
				}
				for _, id := range []string{"m-a", "m-b"} {
					if e := r.first(id); e.Disposition != consumer.Left || !errors.Is(e.Err, consumer.ErrNotHeld) {
						t.Errorf("told %+v, want it left alone", e)
					}
				}
				if n := len(r.order()); n != 1 {
					t.Errorf("%d handlers were started, want not the one that waited", n)
				}
				if n := r.queue.count("ack") + r.queue.count("nack"); n != 0 {
					t.Errorf("%d calls for messages that were revoked, want none", n)
				}
				w.stop()
			})
		})
	}
}

func TestMessageThatWasRevokedBeforeItStartedIsNotStarted(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		revoked := make(chan struct{})
		close(revoked)
		r.src = bare{revoking{r.queue, revoked}}
		for i := range 100 {
			r.queue.send(message(fmt.Sprint("k", i), `{"amount":1}`))
		}
		r.work(time.Second)
		if ids := r.order(); len(ids) != 0 {
			t.Errorf("ran %q, want nothing", ids)
		}
		if n := r.store.asked(); n != 0 {
			t.Errorf("%d calls to the store, want none", n)
		}
	})
}

// What completed is acked even if the message was lost meanwhile: a late ack does no harm and saves a delivery.
func TestCompletedIsAckedAlthoughTheMessageWasLost(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		revoked := make(chan struct{})
		r.src = revoking{r.queue, revoked}
		r.handle = func(context.Context, *dedupe.Operation, order) (string, error) {
			close(revoked)
			elapse(time.Second)
			return "done", nil
		}
		r.queue.send(message("k", `{"amount":1}`))
		r.work(5 * time.Second)
		if e := r.first("m-k"); e.Disposition != consumer.Acked {
			t.Errorf("told %+v, want it acked", e)
		}
		r.wantState("k", dedupe.StateCompleted)
	})
}

// The record was taken over: the handler ends with ErrLeaseLost, and the message is neither acked nor nacked.
func TestHandlerIsCancelledWhenItsLeaseIsLost(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		var cause reason
		r.handle = losing(&cause)
		r.queue.send(message("k", `{"amount":1}`))
		w := r.start()
		elapse(time.Second)
		rec := r.store.record(keyOf("k"))
		rec.Owner, rec.Revision = "another", "r9"
		r.store.put(rec)
		elapse(21 * time.Second)
		if !errors.Is(cause.get(), dedupe.ErrLeaseLost) {
			t.Errorf("the handler's context ended with %v, want ErrLeaseLost", cause.get())
		}
		if e := r.first("m-k"); e.Disposition != consumer.Left || !errors.Is(e.Err, dedupe.ErrLeaseLost) {
			t.Errorf("told %+v, want it left alone with the cause", e)
		}
		if n := r.queue.count("ack") + r.queue.count("nack"); n != 0 {
			t.Errorf("%d calls for the message, want none", n)
		}
		if got := r.store.record(keyOf("k")); got.Owner != "another" {
			t.Errorf("the successor's record was written: %+v", got)
		}
		w.stop()
	})
}

// A lost completion is no ack either: the effect is counted as one by a lost owner.
func TestLostCompletionIsLeft(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		var notes dedupe.Note
		r.cfg.Ledger.Observe = func(_ context.Context, o dedupe.Observation) { notes |= o.Note }
		r.handle = func(context.Context, *dedupe.Operation, order) (string, error) {
			rec := r.store.record(keyOf("k"))
			rec.Owner, rec.Revision = "another", "r9"
			r.store.put(rec)
			return "done", nil
		}
		r.queue.send(message("k", `{"amount":1}`))
		w := r.start()
		elapse(5 * time.Second)
		w.stop()
		if e := r.first("m-k"); e.Disposition != consumer.Left || !errors.Is(e.Err, dedupe.ErrLeaseLost) {
			t.Errorf("told %+v, want it left alone", e)
		}
		if notes&dedupe.NoteEffectByLostOwner == 0 {
			t.Error("the effect of a lost owner was not observed")
		}
	})
}

func TestNackWaitsForAnExtensionUnderWay(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.queue.faults.extendTime, r.queue.faults.nackTakes = 5*time.Second, 4*time.Second
		r.handle = func(context.Context, *dedupe.Operation, order) (string, error) {
			elapse(12 * time.Second) // the extension of second 10 is under way
			if r.ran("k") == 1 {
				return "", dedupe.RetryAfter(errPlain, 5*time.Second)
			}
			return "done", nil
		}
		r.queue.send(message("k", `{"amount":1}`))
		r.work(time.Minute)
		e := r.queue.entry("m-k")
		if len(e.receives) != 2 || e.receives[1].Sub(e.receives[0]) > 18*time.Second {
			t.Errorf("received at %v, want the second five seconds after the nack: no extension may follow it", e.receives)
		}
	})
}

// A source that can hide a message no longer ends no handler; what has not been started is somebody else's.
func TestHoldThatIsOver(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.cfg.Workers = 1
		r.queue.faults.extend = func(*consumer.Message) error { return fmt.Errorf("the queue: %w", consumer.ErrHoldOver) }
		r.handle = func(ctx context.Context, _ *dedupe.Operation, _ order) (string, error) {
			return "done", wait(ctx, 25*time.Second)
		}
		r.queue.send(message("runs", `{"amount":1}`))
		w := r.start()
		elapse(time.Millisecond)
		r.queue.send(message("waits", `{"amount":1}`))
		elapse(20 * time.Second) // the keepers' first calls were after ten
		if e := r.first("m-waits"); e.Disposition != consumer.Left || e.Ran || !errors.Is(e.Err, consumer.ErrNotHeld) || !errors.Is(e.Err, consumer.ErrHoldOver) {
			t.Errorf("told %+v, want it left, and why", e)
		}
		elapse(6 * time.Second)
		if e := r.first("m-runs"); e.Disposition != consumer.Acked || e.Err != nil {
			t.Errorf("told %+v, want it run to its end and acked", e)
		}
		if n := w.Health().ExtendFailures; n != 0 {
			t.Errorf("%d failed extensions are told, want none", n)
		}
		w.stop()
	})
}
