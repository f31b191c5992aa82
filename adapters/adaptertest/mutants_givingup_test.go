package adaptertest_test

import (
	"context"
	"time"

	"github.com/claimonce/claimonce/consumer"
)

func givingUpMutants() []mutant {
	// hangs is what a call to a broker that is away does which does not look at its context.
	hangs := func(ctx context.Context) {
		if ctx.Err() != nil {
			elapse(time.Hour)
		}
	}
	const calls, asking = "calls given up", "asking given up"
	return []mutant{
		{"an ack that is given up hangs", calls + "|one gives up", onAck(func(s *bent, ctx context.Context, m *consumer.Message) error {
			hangs(ctx)
			return s.src.Ack(ctx, m)
		}), nil},
		{"a nack that is given up hangs", calls, func(s *bent) {
			s.nack = func(ctx context.Context, m *consumer.Message, delay time.Duration) error {
				hangs(ctx)
				return s.src.Nack(ctx, m, delay)
			}
		}, nil},
		{"an extension that is given up hangs", calls, func(s *bent) {
			s.extend = func(ctx context.Context, m *consumer.Message) error {
				hangs(ctx)
				return s.src.Extend(ctx, m)
			}
		}, nil},
		{"a leave that is given up hangs", calls, func(s *bent) {
			s.leave = func(ctx context.Context, _ *consumer.Message) error {
				hangs(ctx)
				return nil
			}
		}, nil},
		{"a dead letter that is given up hangs", calls, func(s *bent) {
			s.deadLetter = func(ctx context.Context, m *consumer.Message, d consumer.DeadLetter) error {
				hangs(ctx)
				return s.src.DeadLetter(ctx, m, d)
			}
		}, nil},
		{"a nack that is given up drops", calls, func(s *bent) {
			s.nack = func(ctx context.Context, m *consumer.Message, delay time.Duration) error {
				if ctx.Err() != nil {
					_ = s.src.Ack(ctx, m)
				}
				return s.src.Nack(ctx, m, delay)
			}
		}, nil},
		{"a dead letter that is given up drops", calls, func(s *bent) {
			s.deadLetter = func(ctx context.Context, m *consumer.Message, d consumer.DeadLetter) error {
				if ctx.Err() != nil {
					_ = s.src.Ack(ctx, m)
					return ctx.Err()
				}
				return s.src.DeadLetter(ctx, m, d)
			}
		}, nil},
		{"a dead letter that is given up succeeds", calls, func(s *bent) {
			s.deadLetter = func(ctx context.Context, m *consumer.Message, d consumer.DeadLetter) error {
				if ctx.Err() == nil {
					return s.src.DeadLetter(ctx, m, d)
				}
				return nil
			}
		}, nil},
		{"a check that is given up hangs", asking, func(s *bent) {
			s.check = func(ctx context.Context) error {
				hangs(ctx)
				return ctx.Err()
			}
		}, nil},
		{"a question for the redelivery that is given up hangs", asking, func(s *bent) {
			s.redelivery = func(ctx context.Context) (time.Duration, error) {
				hangs(ctx)
				return s.src.MaxRedelivery(ctx)
			}
		}, nil},
	}
}
