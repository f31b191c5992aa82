package sqs

import (
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/claimonce/claimonce/consumer"
)

// A poll is one ReceiveMessage. It outlives a Receive that is cancelled: the queue may have answered it already, or answer it to a
// connection that is gone, and those messages would stay hidden although nobody has them. The next Receive takes it over; if there
// is none when it is answered, what it brought is given back.
type poll struct {
	cut    context.CancelFunc
	wanted bool          // a Receive waits for it
	over   chan struct{} // closed when msgs and err are set
	msgs   []*consumer.Message
	err    error
}

// Receive implements [consumer.Source].
func (s *Source) Receive(ctx context.Context, limit int) ([]*consumer.Message, error) {
	limit = max(min(limit, batchLimit), 1)
	if s.isClosed() { // before the queue is asked for its settings
		return nil, s.explain("receive from", errClosed)
	}
	visibility, err := s.visibility(ctx)
	if err != nil {
		return nil, err
	}
	for ctx.Err() == nil {
		p, err := s.join(ctx, limit, visibility)
		if err != nil {
			return nil, s.explain("receive from", err)
		}
		select {
		case <-p.over:
		case <-ctx.Done():
			if s.leave(p) {
				continue
			}
			<-p.over
		}
		if p.err != nil {
			return nil, s.explain("receive from", p.err)
		}
		if msgs := s.atMost(ctx, limit, p.msgs); len(msgs) > 0 {
			return msgs, nil // after a cancellation too: the consumer hands back what it does not start
		}
	}
	return nil, fmt.Errorf("sqs: receive from %s: %w", nameOf(s.url), ctx.Err())
}

// join starts a poll or takes over the one that is under way.
func (s *Source) join(ctx context.Context, limit int, visibility time.Duration) (*poll, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, errClosed
	}
	if s.poll == nil {
		// A broken network that neither answers nor refuses must not end receiving for good.
		ctx, cut := context.WithTimeout(context.WithoutCancel(ctx), s.cfg.WaitTime+callTime)
		p := &poll{cut: cut, over: make(chan struct{})}
		s.poll = p
		s.polls.Go(func() { s.run(ctx, p, limit, visibility) })
	}
	s.poll.wanted = true
	return s.poll, nil
}

func (s *Source) isClosed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closed
}

// leave reports false if the poll has just been answered: then it is still the caller's.
func (s *Source) leave(p *poll) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.poll != p {
		return false
	}
	p.wanted = false
	return true
}

func (s *Source) run(ctx context.Context, p *poll, limit int, visibility time.Duration) {
	defer p.cut()
	defer close(p.over)
	asked := time.Now()
	out, err := s.receive(ctx, limit, visibility)
	hidden := time.Now().Add(visibility) // before any is read, which takes time too
	var got []*delivery
	if p.err = err; err == nil {
		for i := range out.Messages { // not under the lock: an envelope can be a megabyte of JSON
			d := s.newDelivery(&out.Messages[i], asked, hidden)
			got = append(got, d)
			m := view(&out.Messages[i], d)
			m.Group = groupOf(s.url, &out.Messages[i])
			p.msgs = append(p.msgs, m)
		}
	}
	s.mu.Lock()
	s.poll = nil
	wanted := p.wanted
	if err == nil {
		s.lastPoll = time.Now()
	} else if s.closed {
		p.err = errClosed // it was cut
	}
	if wanted {
		s.holdLocked(got)
	}
	s.mu.Unlock()
	if !wanted {
		s.giveBack(context.WithoutCancel(ctx), got)
	}
}

// receive lets the SDK send the call again on a FIFO queue only, where the repeat gets what the first one was to get.
func (s *Source) receive(ctx context.Context, limit int, visibility time.Duration) (*sqs.ReceiveMessageOutput, error) {
	in := s.receiveInput(limit, visibility)
	if isFIFO(s.url) {
		nameAttempt(in)
		return s.client.ReceiveMessage(ctx, in)
	}
	return s.client.ReceiveMessage(ctx, in, once)
}

// once: a repeat after a lost answer would hide the messages of the first one.
func once(o *sqs.Options) { o.Retryer = aws.NopRetryer{} }

// receiveInput names the visibility always: so Extend goes by what SQS goes by, even if somebody changes the queue's own meanwhile.
func (s *Source) receiveInput(limit int, visibility time.Duration) *sqs.ReceiveMessageInput {
	return &sqs.ReceiveMessageInput{
		QueueUrl: &s.url, MaxNumberOfMessages: int32(limit), //nolint:gosec // at most ten
		WaitTimeSeconds:   int32(s.cfg.WaitTime / time.Second), //nolint:gosec // at most twenty
		VisibilityTimeout: int32(visibility / time.Second),     //nolint:gosec // at most twelve hours
		// SQS sends only what is asked for: a key in another attribute would seem to be missing.
		MessageAttributeNames:       []string{"All"},
		MessageSystemAttributeNames: []types.MessageSystemAttributeName{types.MessageSystemAttributeNameAll},
	}
}

// atMost gives back what is more than the caller has room for: a poll that was taken over may have asked for more. On a FIFO queue that
// overtakes nothing: while what is ahead of it in its group is in flight, it is visible and not handed out.
// https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/using-messagegroupid-property.html
func (s *Source) atMost(ctx context.Context, limit int, msgs []*consumer.Message) []*consumer.Message {
	if len(msgs) <= limit {
		return msgs
	}
	var more []*delivery
	for _, m := range msgs[limit:] {
		more = append(more, m.Receipt.(*delivery)) //nolint:forcetypeassert // made by view
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed { // else Close does it
		s.polls.Go(func() { s.giveBack(context.WithoutCancel(ctx), more) })
	}
	return msgs[:limit]
}

// giveBack makes messages visible at once, in their order. What fails comes back when its visibility ends.
func (s *Source) giveBack(ctx context.Context, ds []*delivery) {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	for len(ds) > 0 {
		n := min(len(ds), batchLimit)
		var batch []*delivery
		var hides []hide
		for _, d := range ds[:n] {
			if d.enter(ctx) == nil {
				batch, hides = append(batch, d), append(hides, hide{handle: d.handle})
			}
		}
		ds = ds[n:]
		if len(batch) == 0 {
			continue
		}
		var failed error
		s.hideBatch(ctx, hides, func(i int, err error) {
			batch[i].leave(settledBy(err))
			if err != nil {
				failed = err
			}
		})
		s.drop(batch...)
		if failed != nil {
			s.cfg.Logger.WarnContext(ctx, "messages could not be given back; they come back when their visibility ends",
				"queue", nameOf(s.url), "err", failed)
		}
	}
}
