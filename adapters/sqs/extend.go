package sqs

import (
	"context"
	"fmt"
	"time"

	"github.com/claimonce/claimonce/consumer"
)

// Extend implements [consumer.Extender]. SQS hides a message for at most twelve hours after it was received, so that the last calls ask
// for what is left of them. After that Extend makes no call and returns [consumer.ErrHoldOver]: the message is hidden no longer, but its
// handler goes on, since the lease of its record keeps other deliveries from running. The logger is told once.
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
		d.leave(open)
		s.tellOfTheLimit(ctx, m, d)
		return s.explain(what, consumer.ErrHoldOver)
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

func (s *Source) tellOfTheLimit(ctx context.Context, m *consumer.Message, d *delivery) {
	d.mu.Lock()
	told := d.told
	d.told = true
	d.mu.Unlock()
	if !told {
		s.cfg.Logger.WarnContext(ctx, "a message can be hidden no longer: SQS hides it for twelve hours after its receipt at most; its handler, if it runs, goes on; "+
			"the message comes back, waits for the record's lease, and is answered from the record", "queue", nameOf(s.url), "message_id", m.ID)
	}
}

var errTwelveHours = fmt.Errorf("%w: SQS hides a message for %v at most after it was received", consumer.ErrNotHeld, maxVisibility)

// hideable is for how long SQS can still hide the message.
// https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_ChangeMessageVisibility.html
func (d *delivery) hideable() time.Duration { return maxVisibility - time.Since(d.received) }

// left is for how long it can be asked to.
func (d *delivery) left() time.Duration { return d.hideable() - leftMargin }

// leftMargin: an entry can wait for a batch before it is sent, and SQS refuses what would end beyond its limit.
const leftMargin = 2 * time.Second
