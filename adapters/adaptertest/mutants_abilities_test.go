package adaptertest_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/claimonce/claimonce/adapters/adaptertest"
	"github.com/claimonce/claimonce/consumer"
)

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
		{"polled when something came", "last poll", func(s *bent) {
			var last atomic.Pointer[time.Time]
			onMessages(func(*consumer.Message) {
				now := time.Now()
				last.Store(&now)
			})(s)
			s.lastPoll = func() (t time.Time) {
				if p := last.Load(); p != nil {
					t = *p
				}
				return t
			}
		}, nil},
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
