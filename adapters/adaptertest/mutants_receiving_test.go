package adaptertest_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/claimonce/claimonce/consumer"
)

// onReceive replaces Receive; next is the healthy one.
func onReceive(f func(ctx context.Context, limit int, next func(context.Context, int) ([]*consumer.Message, error)) ([]*consumer.Message, error)) func(*bent) {
	return func(s *bent) {
		next := s.receive
		s.receive = func(ctx context.Context, limit int) ([]*consumer.Message, error) { return f(ctx, limit, next) }
	}
}

type next = func(context.Context, int) ([]*consumer.Message, error)

func receiveMutants() []mutant {
	return []mutant{
		{"one more than the limit", "limit", onReceive(func(ctx context.Context, limit int, receive next) ([]*consumer.Message, error) {
			return receive(ctx, limit+1)
		}), nil},
		{"a limit of none is none", "limit of none", onReceive(func(ctx context.Context, limit int, receive next) ([]*consumer.Message, error) {
			if limit <= 0 {
				limit = 1000
			}
			return receive(ctx, limit)
		}), nil},
		{"none without an error", "waits|context", onReceive(func(ctx context.Context, limit int, receive next) ([]*consumer.Message, error) {
			ctx, cancel := context.WithTimeout(ctx, time.Second/2)
			defer cancel()
			msgs, err := receive(ctx, limit)
			if errors.Is(err, context.DeadlineExceeded) {
				err = nil
			}
			return msgs, err
		}), nil},
		{"an error when there is nothing", "waits", onReceive(func(ctx context.Context, limit int, receive next) ([]*consumer.Message, error) {
			short, cancel := context.WithTimeout(ctx, time.Second)
			defer cancel()
			return receive(short, limit)
		}), nil},
		{"the context is ignored", "context", onReceive(func(ctx context.Context, limit int, receive next) ([]*consumer.Message, error) {
			return receive(context.WithoutCancel(ctx), limit)
		}), nil},
		{"the context's error is hidden", "context|ended context", onReceive(func(ctx context.Context, limit int, receive next) ([]*consumer.Message, error) {
			msgs, err := receive(ctx, limit)
			if err != nil {
				err = errors.New("stopped")
			}
			return msgs, err
		}), nil},
		{"a context that has ended takes", "ended context", onReceive(func(ctx context.Context, limit int, receive next) ([]*consumer.Message, error) {
			if ctx.Err() != nil {
				if _, err := receive(context.WithoutCancel(ctx), limit); err != nil {
					return nil, err
				}
			}
			return receive(ctx, limit)
		}), nil},
		{"delivers again what is held", "held once|held at home", deliversAgain, nil},
		{"an answer to a cancelled receive is lost", "context|close after cancel|close and arrivals", losesAnswers, nil},
		{"acks at receipt", "unacked|crash|crash in receive|close loses nothing", acksAtReceipt, nil},
		{"a group's last first", "group nacked", onReceive(func(ctx context.Context, limit int, receive next) ([]*consumer.Message, error) {
			msgs, err := receive(ctx, limit)
			slices.Reverse(msgs)
			return msgs, err
		}), nil},
		{"the third and fourth of a batch change places", "group order|group crash|group nacked", onReceive(func(ctx context.Context, limit int, receive next) ([]*consumer.Message, error) {
			msgs, err := receive(ctx, limit)
			if len(msgs) > 3 {
				msgs[2], msgs[3] = msgs[3], msgs[2]
			}
			return msgs, err
		}), nil},
		{"what comes back changes places in its batch", "group crash", onReceive(func(ctx context.Context, limit int, receive next) ([]*consumer.Message, error) {
			msgs, err := receive(ctx, limit)
			if len(msgs) > 3 && msgs[3].Receives > 1 {
				msgs[2], msgs[3] = msgs[3], msgs[2]
			}
			return msgs, err
		}), nil},
		{"a long batch ends in disorder", "group order", onReceive(func(ctx context.Context, limit int, receive next) ([]*consumer.Message, error) {
			msgs, err := receive(ctx, limit)
			if len(msgs) > 9 {
				msgs[8], msgs[9] = msgs[9], msgs[8]
			}
			return msgs, err
		}), nil},
		{"groups are forgotten", "group waits|group nacked|group next|group crash", nil, func(b *bed) { b.group = func(string) string { return "" } }},
		{"one group for all", "groups apart", nil, func(b *bed) {
			b.group = func(g string) string {
				if g == "" {
					return ""
				}
				return "one"
			}
		}},
	}
}

// deliversAgain hands out each message twice, at the next receive.
func deliversAgain(s *bent) {
	var mu sync.Mutex
	var again []*consumer.Message
	onReceive(func(ctx context.Context, limit int, receive next) ([]*consumer.Message, error) {
		mu.Lock()
		msgs := again
		again = nil
		mu.Unlock()
		if len(msgs) > 0 && ctx.Err() == nil {
			return msgs[:min(max(limit, 1), len(msgs))], nil
		}
		msgs, err := receive(ctx, limit)
		mu.Lock()
		again = msgs
		mu.Unlock()
		return msgs, err
	})(s)
}

// losesAnswers goes on asking when its caller is gone or the source is closed, and lets go of what comes.
func losesAnswers(s *bent) {
	closed, shut := context.WithCancel(s.bed.end)
	s.shut = func(context.Context) error {
		shut()
		return nil
	}
	onReceive(func(ctx context.Context, limit int, _ next) ([]*consumer.Message, error) {
		if err := errors.Join(ctx.Err(), closed.Err()); err != nil {
			return nil, err
		}
		type answer struct {
			msgs []*consumer.Message
			err  error
		}
		got := make(chan answer, 1)
		go func() {
			msgs, err := s.fromMemory(s.bed.end, limit)
			got <- answer{msgs, err}
		}()
		select {
		case a := <-got:
			return a.msgs, a.err
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-closed.Done():
			return nil, errors.New("closed")
		}
	})(s)
}

func acksAtReceipt(s *bent) {
	onReceive(func(ctx context.Context, limit int, receive next) ([]*consumer.Message, error) {
		msgs, err := receive(ctx, limit)
		for _, m := range msgs {
			if err := s.src.Ack(ctx, m); err != nil {
				return nil, err
			}
		}
		return msgs, err
	})(s)
	s.nack = func(context.Context, *consumer.Message, time.Duration) error { return nil }
	s.extend = func(context.Context, *consumer.Message) error { return nil }
}
