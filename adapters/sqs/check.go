package sqs

import (
	"context"
	"time"
)

// Visibility implements [consumer.Extender]. Before the queue was asked it is 30 s, which is what SQS gives a queue.
func (s *Source) Visibility() time.Duration {
	if s.cfg.Visibility > 0 {
		return s.cfg.Visibility
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.facts == nil {
		return defaultVisibility
	}
	return s.facts.visibility
}

// DefaultWindow implements [consumer.Windower]: a day more than a message of a queue of this kind can last, which is the longest
// retention that SQS has on a standard queue, and twice that on a FIFO queue.
func (s *Source) DefaultWindow() time.Duration { return defaultWindow(s.url) }

// MaxRedelivery implements [consumer.Redeliverer]: on a standard queue the longer one of the retentions of the queue and its dead-letter
// queue, since SQS counts a message that it moves there from its first sending; on a FIFO queue their sum, since it counts anew.
//
// It counts from the sending, as the retention does: a delay of the queue or of a message is part of it.
//
// A message that is moved back from a dead-letter queue begins a new retention. A dead letter that [Source.DeadLetter] sent carries the
// time of its first sending, which counts then, so that the age of each message is checked through any number of such moves. One
// that SQS's own redrive policy moved carries none: how old it is shows only in the time that its producer gave it.
func (s *Source) MaxRedelivery(ctx context.Context) (time.Duration, error) {
	f, err := s.known(ctx)
	return f.maxRedelivery(s.url), err
}

// fewReceives: a message of a busy key, and one that a stopping worker gives back, is received without an attempt.
const fewReceives = 10

// Check implements [consumer.Checker]: the queue and its dead-letter queue exist and can be asked.
func (s *Source) Check(ctx context.Context) error {
	f, err := s.known(ctx)
	if err == nil {
		s.warned.Do(func() { s.warn(ctx, f) }) // Open checks too
	}
	return err
}

func (s *Source) warn(ctx context.Context, f facts) {
	if f.deadLetterURL == "" {
		s.cfg.Logger.WarnContext(ctx, "the queue has no dead-letter queue: messages that can never run stay until they expire; "+
			"give it a redrive policy or set Config.DeadLetterURL", "queue", nameOf(s.url))
	}
	if f.maxReceives > 0 && f.maxReceives < fewReceives {
		s.cfg.Logger.WarnContext(ctx, "the queue's redrive policy moves messages away after few receives, be they only waiting for a busy key; "+
			"raise its maxReceiveCount to 100 or more, since attempts are counted in the records", "queue", nameOf(s.url), "max_receive_count", f.maxReceives)
	}
}
