package consumer_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/claimonce/claimonce/consumer"
	"github.com/claimonce/claimonce/dedupe"
)

// rebalancing takes every delivery back a second after it was received, and counts what it is told to leave.
type rebalancing struct {
	*queue

	left atomic.Int32
}

func (s *rebalancing) Receive(ctx context.Context, limit int) ([]*consumer.Message, error) {
	ms, err := s.queue.Receive(ctx, limit)
	for _, m := range ms {
		gone := make(chan struct{})
		m.SetRevoked(gone)
		time.AfterFunc(time.Second, func() { close(gone) })
	}
	return ms, err
}

func (s *rebalancing) Leave(context.Context, *consumer.Message) error {
	s.left.Add(1)
	return nil
}

// A handler that is interrupted since its message was taken back has not failed: rebalances must not use up its attempts. A source that
// wants to hear of messages that are left alone hears of each.
func TestRevocationCostsNoAttempt(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.handle = func(ctx context.Context, _ *dedupe.Operation, _ order) (string, error) {
			<-ctx.Done()
			return "", context.Cause(ctx)
		}
		src := &rebalancing{queue: r.queue}
		r.src = src
		r.queue.send(message("k", `{"amount":1}`))
		r.work(10 * time.Minute)
		if n := r.ran("k"); n < 7 {
			t.Fatalf("%d runs, want more than the attempt bound", n)
		}
		rec := seen(t, r.consumer().Ledger(), keyOf("k"))
		if rec.State != dedupe.StateReleased || rec.Attempt != 0 || rec.Troubled != 0 {
			t.Errorf("the record is %v after attempt %d, troubled %d; want released with no attempt counted", rec.State, rec.Attempt, rec.Troubled)
		}
		if n := int(src.left.Load()); n < 7 {
			t.Errorf("the source heard of %d messages left alone, want all", n)
		}
	})
}
