package sqs

import (
	"context"
	"time"

	"github.com/claimonce/claimonce/consumer"
)

// Ack implements [consumer.Source]: it waits until the queue has confirmed the delete.
func (s *Source) Ack(ctx context.Context, m *consumer.Message) error {
	const what = "delete from"
	d, err := s.deliveryOf(what, m)
	if err != nil {
		return err
	}
	switch d.now() {
	case deleted:
		return nil
	case returned:
		return s.explain(what, errSettled)
	case open, lost: // of a lost one too: nobody may have it yet, and its outcome may be written
	}
	return s.explain(what, s.deletes.do(ctx, d.handle, func(err error) {
		if err == nil {
			d.become(deleted)
			s.drop(d)
		}
	}))
}

// Nack implements [consumer.Source]. The delay is rounded up to whole seconds, and ends at the latest twelve hours after the message was
// received.
func (s *Source) Nack(ctx context.Context, m *consumer.Message, delay time.Duration) error {
	const what = "hand back to"
	d, err := s.deliveryOf(what, m)
	if err != nil {
		return err
	}
	if err := d.enter(ctx); err != nil {
		return s.explain(what, err)
	}
	delay = max(min(min(delay, maxVisibility)+time.Second-1, d.left()), 0)
	return s.explain(what, s.hides.do(ctx, hide{d.handle, wholeSeconds(delay)}, func(err error) {
		st := settledBy(err)
		d.leave(st)
		if st != open {
			s.drop(d)
		}
	}))
}

func wholeSeconds(d time.Duration) int32 { return int32(d / time.Second) } //nolint:gosec // at most twelve hours
