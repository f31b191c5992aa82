package sqs

import (
	"context"
	"fmt"
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

// Extend implements [consumer.Extender]. Twelve hours after the message was received it is no longer held: SQS hides it no longer.
func (s *Source) Extend(ctx context.Context, m *consumer.Message) error {
	const what = "extend the visibility in"
	d, err := s.deliveryOf(what, m)
	if err != nil {
		return err
	}
	if err := d.enter(ctx); err != nil {
		return s.explain(what, err)
	}
	left := d.left()
	if left < time.Second { // to ask for nothing would hand it back
		d.leave(lost)
		s.drop(d)
		return s.explain(what, fmt.Errorf("%w: SQS hides a message for %v at most after it was received", consumer.ErrNotHeld, maxVisibility))
	}
	n := wholeSeconds(min(s.Visibility(), left))
	return s.explain(what, s.hides.do(ctx, hide{d.handle, n}, func(err error) {
		st := settledBy(err)
		if err == nil {
			st = open
			d.hiddenUntil(time.Now().Add(time.Duration(n) * time.Second))
		}
		d.leave(st)
		if st != open {
			s.drop(d)
		}
	}))
}

// left is for how long SQS can still hide the message.
// https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_ChangeMessageVisibility.html
func (d *delivery) left() time.Duration { return maxVisibility - time.Since(d.received) - leftMargin }

// leftMargin: an entry can wait for a batch before it is sent, and SQS refuses what would end beyond its limit.
const leftMargin = 2 * time.Second

func wholeSeconds(d time.Duration) int32 { return int32(d / time.Second) } //nolint:gosec // at most twelve hours
