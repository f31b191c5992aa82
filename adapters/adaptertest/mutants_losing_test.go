package adaptertest_test

import (
	"context"
	"errors"
	"time"

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
