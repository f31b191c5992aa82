package adaptertest_test

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/claimonce/claimonce/adapters/adaptertest"
	"github.com/claimonce/claimonce/consumer"
)

func loseMutants() []mutant {
	return []mutant{
		{"never not held", "taken away|acked not held", func(s *bent) { notHeld(s, func(error) error { return nil }) }, nil},
		{"not held in other words", "taken away|acked not held|nacked not held", func(s *bent) {
			notHeld(s, func(error) error { return errors.New("the receipt is invalid") })
		}, nil},
		{"a late nack takes the message from its new worker", "taken away", func(s *bent) {
			s.nack = func(ctx context.Context, m *consumer.Message, delay time.Duration) error {
				err := s.src.Nack(ctx, m, delay)
				if err != nil {
					s.bed.q.Revoke(m.ID)
				}
				return err
			}
		}, nil},
		{"a nack of what was acked is sent anew", "acked not held", func(s *bent) {
			s.nack = func(ctx context.Context, m *consumer.Message, delay time.Duration) error {
				err := s.src.Nack(ctx, m, delay)
				if err != nil && s.bed.q.Receives(m.ID) == 0 {
					_, _ = s.bed.send(ctx, *m)
				}
				return err
			}
		}, nil},
		{"no word of what is taken back", "revoked", onMessages(func(m *consumer.Message) { m.SetRevoked(make(chan struct{})) }), nil},
		{"no channel of what is taken back", "revoked", onMessages(func(m *consumer.Message) { m.SetRevoked(nil) }), nil},
		{"all is taken back from the start", "revoked", onMessages(func(m *consumer.Message) {
			c := make(chan struct{})
			close(c)
			m.SetRevoked(c)
		}), nil},
	}
}

// notHeld changes what is said instead of ErrNotHeld. Of what never had a receipt the error stays.
func notHeld(s *bent, f func(error) error) {
	say := func(m *consumer.Message, err error) error {
		if errors.Is(err, consumer.ErrNotHeld) && m.Receipt != nil {
			return f(err)
		}
		return err
	}
	s.ack = func(ctx context.Context, m *consumer.Message) error { return say(m, s.src.Ack(ctx, m)) }
	s.extend = func(ctx context.Context, m *consumer.Message) error { return say(m, s.src.Extend(ctx, m)) }
	s.nack = func(ctx context.Context, m *consumer.Message, delay time.Duration) error {
		return say(m, s.src.Nack(ctx, m, delay))
	}
}

func otherMutants() []mutant {
	type letter = consumer.DeadLetter
	onDead := func(f func(s *bent, ctx context.Context, m *consumer.Message, d letter) error) func(*bent) {
		return func(s *bent) {
			s.deadLetter = func(ctx context.Context, m *consumer.Message, d letter) error { return f(s, ctx, m, d) }
		}
	}
	return []mutant{
		{"a dead letter without a copy", "dead letter", onDead(func(s *bent, ctx context.Context, m *consumer.Message, _ letter) error {
			return s.src.Ack(ctx, m)
		}), nil},
		{"a dead letter that is not removed", "dead letter", onDead(func(s *bent, ctx context.Context, m *consumer.Message, d letter) error {
			copied := s.bed.q.Source()
			if err := s.src.Nack(ctx, m, 0); err != nil {
				return err
			}
			again, err := copied.Receive(ctx, 1)
			if err != nil {
				return err
			}
			body := memoryOf(again[0])
			if err := copied.DeadLetter(ctx, again[0], d); err != nil {
				return err
			}
			s.bed.q.Send(body)
			return nil
		}), nil},
		{"a dead letter without its reason", "dead letter", onDead(func(s *bent, ctx context.Context, m *consumer.Message, _ letter) error {
			return s.src.DeadLetter(ctx, m, letter{})
		}), nil},
		{"a dead letter loses attributes", "dead letter", nil, func(b *bed) {
			b.deads = func(dead []adaptertest.Dead) []adaptertest.Dead {
				for i := range dead {
					dead[i].Message.Attributes = nil
				}
				return dead
			}
		}},
		{"removed before it is copied", "dead letter fails", onDead(func(s *bent, ctx context.Context, m *consumer.Message, d letter) error {
			if s.bed.deadBroken {
				return errors.Join(s.src.Ack(ctx, m), errors.New("there is no room for the copy"))
			}
			return s.src.DeadLetter(ctx, m, d)
		}), nil},
		{"a copy that failed is no error", "dead letter fails", onDead(func(s *bent, ctx context.Context, m *consumer.Message, d letter) error {
			if s.bed.deadBroken {
				return nil
			}
			return s.src.DeadLetter(ctx, m, d)
		}), nil},
		{"no redelivery", "max redelivery", func(s *bent) {
			s.redelivery = func(context.Context) (time.Duration, error) { return 0, nil }
		}, nil},
		{"another redelivery", "max redelivery", func(s *bent) {
			s.redelivery = func(context.Context) (time.Duration, error) { return time.Hour, nil }
		}, nil},
		{"a check that fails", "check", func(s *bent) {
			s.check = func(context.Context) error { return errors.New("the queue is not there") }
		}, nil},
		{"a check that receives", "check", func(s *bent) {
			s.check = func(ctx context.Context) error {
				msgs, err := s.src.Receive(ctx, 1)
				for _, m := range msgs {
					err = errors.Join(err, s.src.Nack(ctx, m, 0))
				}
				return err
			}
		}, nil},
		{"never polled", "last poll", func(s *bent) { s.lastPoll = func() time.Time { return time.Time{} } }, nil},
		{"polled from the start", "last poll", func(s *bent) { s.lastPoll = time.Now }, nil},
		{"no window", "window", func(s *bent) { s.window = func() time.Duration { return 0 } }, nil},
		{"what is left is acked", "leave", func(s *bent) { s.leave = s.src.Ack }, nil},
		{"a panic", "check", func(s *bent) { s.check = func(context.Context) error { panic("oh") } }, nil},
		{"a goroutine stays", "no goroutine", leaks, nil},
		{"a goroutine stays after a cancelled receive", "no goroutine", leaksAfterCancel, nil},
	}
}

func leaks(s *bent) {
	var once sync.Once
	onMessages(func(*consumer.Message) {
		once.Do(func() { go func() { <-s.bed.end.Done() }() })
	})(s)
}

func leaksAfterCancel(s *bent) {
	onReceive(func(ctx context.Context, limit int, receive next) ([]*consumer.Message, error) {
		msgs, err := receive(ctx, limit)
		if err != nil {
			go func() { <-s.bed.end.Done() }()
		}
		return msgs, err
	})(s)
}
