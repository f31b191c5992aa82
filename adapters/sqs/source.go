package sqs

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/claimonce/claimonce/consumer"
	"github.com/claimonce/claimonce/internal/awshttp"
)

// Source receives from one queue. It implements [consumer.Source], [consumer.Extender], [consumer.DeadLetterer],
// [consumer.Redeliverer], [consumer.Windower], [consumer.Poller] and [consumer.Checker].
type Source struct {
	client *sqs.Client
	url    string
	cfg    Config

	deletes *batcher[string]
	hides   *batcher[hide]

	warned   sync.Once // of what is odd with the queue
	mu       sync.Mutex
	facts    *facts // of the queue; nil until they were asked for
	poll     *poll  // under way; nil: none
	lastPoll time.Time
	held     []*delivery // handed out and not settled, in the order of receipt
	closed   bool
	polls    sync.WaitGroup
}

// New uses a client's configuration for a queue. The client itself is not used and stays the caller's: the source's own copy has an
// HTTP client that the SDK cannot make lose messages. New makes no call; what is wrong with the queue [Source.Check] says.
func New(client *sqs.Client, queueURL string, cfg Config) (*Source, error) {
	cfg = cfg.withDefaults()
	err := cfg.validate(queueURL)
	if client == nil {
		err = errors.Join(errors.New("the client is nil"), err)
	} else {
		err = errors.Join(cfg.validateClient(client.Options(), queueURL), err)
	}
	if err != nil {
		return nil, fmt.Errorf("sqs: %s: %w: %w", nameOf(queueURL), consumer.ErrSetup, err)
	}
	s := &Source{url: queueURL, cfg: cfg}
	s.client = sqs.New(client.Options(), func(o *sqs.Options) { o.HTTPClient = awshttp.Wrap(o.HTTPClient) })
	s.deletes = newBatcher(cfg.GatherTime, s.deleteBatch)
	s.hides = newBatcher(cfg.GatherTime, s.hideBatch)
	return s, nil
}

// LastPoll implements [consumer.Poller].
func (s *Source) LastPoll() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lastPoll
}

// Close implements [consumer.Source]. It gives back what a poll that is under way brings within CloseWait, and what was handed out
// and neither acked nor nacked. After it every call fails; calling it again does no harm.
func (s *Source) Close(ctx context.Context) error {
	s.mu.Lock()
	s.closed = true
	p := s.poll
	s.mu.Unlock()
	done := make(chan struct{})
	go func() {
		defer close(done)
		var ends sync.WaitGroup
		ends.Go(func() { s.endPoll(ctx, p) })
		ends.Go(s.deletes.close) // before anything is given back: a message whose delete is under way must not be
		ends.Wait()
		s.giveBack(ctx, s.takeHeld())
		s.hides.close()
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("sqs: close %s: %w", nameOf(s.url), ctx.Err())
	}
}

// endPoll waits for a poll, then cuts it, then waits for what it leaves behind.
func (s *Source) endPoll(ctx context.Context, p *poll) {
	if p != nil {
		t := time.NewTimer(s.cfg.CloseWait)
		defer t.Stop()
		select {
		case <-p.over:
		case <-t.C:
		case <-ctx.Done():
		}
		p.cut()
	}
	s.polls.Wait()
}
