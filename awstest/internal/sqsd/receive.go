package sqsd

import (
	"context"
	"time"

	"github.com/claimonce/claimonce/awstest/internal/wire"
)

type receiveInput struct {
	QueueUrl                    string
	AttributeNames              []string
	MessageSystemAttributeNames []string
	MessageAttributeNames       []string
	MaxNumberOfMessages         *int
	VisibilityTimeout           *int
	WaitTimeSeconds             *int
	ReceiveRequestAttemptID     string `json:"ReceiveRequestAttemptId"`
}

func (in receiveInput) check() *wire.Error {
	for _, p := range []struct {
		name      string
		value     *int
		low, high int
	}{
		{"MaxNumberOfMessages", in.MaxNumberOfMessages, 1, 10},
		{"VisibilityTimeout", in.VisibilityTimeout, 0, 43200},
		{"WaitTimeSeconds", in.WaitTimeSeconds, 0, 20},
	} {
		if p.value != nil && (*p.value < p.low || *p.value > p.high) {
			return badValue(*p.value, p.name, "Must be between %d and %d, if provided.", p.low, p.high)
		}
	}
	if err := in.checkAttempt(); err != nil {
		return err
	}
	return in.checkNames()
}

// poll is one ReceiveMessage. What is nil in the request is the queue's to say when the poll starts.
type poll struct {
	in         receiveInput
	limit      int
	visibility time.Duration
	end        time.Time // answered empty then
	long       bool
}

// receiveMessage waits for a message no longer than the poll asks for, and not beyond the call.
func (s at) receiveMessage(ctx context.Context, in receiveInput) (any, *wire.Error) {
	if err := in.check(); err != nil {
		return nil, err
	}
	p := &poll{in: in}
	for ctx.Err() == nil { // a message taken for a client that is gone would stay hidden
		got, changed, next, err := s.look(p)
		if err != nil {
			return nil, err
		}
		now := time.Now()
		if len(got) > 0 || !now.Before(p.end) {
			return receiveOutput{got}, nil
		}
		if next.IsZero() || next.After(p.end) {
			next = p.end
		}
		timer := time.NewTimer(next.Sub(now))
		select {
		case <-changed:
		case <-timer.C:
		case <-ctx.Done():
		}
		timer.Stop()
	}
	return receiveOutput{}, nil
}

// look takes what is visible now, else says what to wait for.
func (s at) look(p *poll) (got []received, changed <-chan struct{}, next time.Time, refusal *wire.Error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	q, refusal := s.find(p.in.QueueUrl)
	if refusal != nil {
		return nil, nil, time.Time{}, refusal
	}
	now := time.Now()
	if p.end.IsZero() {
		p.start(q, now)
	}
	q.settle(now)
	limit := min(p.limit, s.maxInFlight-q.flying)
	if limit <= 0 && !q.fifo && !p.long {
		return nil, nil, time.Time{}, refuse("OverLimit", "Too many messages are in flight: at most %d can be.", s.maxInFlight)
	}
	list := q.repeated(p, now)
	if len(list) == 0 {
		list = s.take(q, limit, p.visibility, now)
		q.remember(p, list, now)
	}
	for _, m := range list {
		got = append(got, m.view(q, p.in, s.account))
	}
	return got, q.wait(), q.next(), nil
}

func (p *poll) start(q *queue, now time.Time) {
	wait := q.seconds("ReceiveMessageWaitTimeSeconds")
	if p.in.WaitTimeSeconds != nil {
		wait = time.Duration(*p.in.WaitTimeSeconds) * time.Second
	}
	p.end, p.long = now.Add(wait), wait > 0
	p.visibility = q.seconds("VisibilityTimeout")
	if p.in.VisibilityTimeout != nil {
		p.visibility = time.Duration(*p.in.VisibilityTimeout) * time.Second
	}
	p.limit = 1
	if p.in.MaxNumberOfMessages != nil {
		p.limit = *p.in.MaxNumberOfMessages
	}
}

// maxInFlight: beyond it a short poll of a standard queue is an error, and any other poll finds nothing.
// https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/quotas-queues.html
const maxInFlight = 120_000
