package adaptertest_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/claimonce/claimonce/consumer"
)

func onAck(f func(s *bent, ctx context.Context, m *consumer.Message) error) func(*bent) {
	return func(s *bent) {
		s.ack = func(ctx context.Context, m *consumer.Message) error { return f(s, ctx, m) }
	}
}

func ackMutants() []mutant {
	return []mutant{
		{"an ack does nothing", "acked is gone|crash|many acks", onAck(func(*bent, context.Context, *consumer.Message) error { return nil }), nil},
		{"an ack of another message", "crash|many acks", acksAnother, nil},
		{"an ack of all up to it", "crash", onAck(func(s *bent, ctx context.Context, m *consumer.Message) error {
			for _, h := range s.bed.handedOut() {
				if h.by == s {
					_ = s.src.Ack(ctx, h.m)
				}
				if h.m == m {
					break
				}
			}
			return s.src.Ack(ctx, m)
		}), nil},
		{"an ack of all that is held", "crash|ack twice|many acks", onAck(func(s *bent, ctx context.Context, m *consumer.Message) error {
			for _, h := range s.bed.handedOut() {
				_ = s.src.Ack(ctx, h.m)
			}
			return s.src.Ack(ctx, m)
		}), nil},
		{"a second ack is an error", "ack twice", func(s *bent) {
			var acked sync.Map
			s.ack = func(ctx context.Context, m *consumer.Message) error {
				if _, again := acked.LoadOrStore(m, true); again {
					return errors.New("it was acked before")
				}
				return s.src.Ack(ctx, m)
			}
		}, nil},
		{"one in ten acks is forgotten", "many acks", func(s *bent) {
			var n atomic.Int64
			s.ack = func(ctx context.Context, m *consumer.Message) error {
				if n.Add(1)%10 == 0 {
					return nil
				}
				return s.src.Ack(ctx, m)
			}
		}, nil},
		{"an ack that is given up takes another with it", "one gives up", func(s *bent) {
			var given atomic.Bool
			s.ack = func(ctx context.Context, m *consumer.Message) error {
				if ctx.Err() != nil {
					given.Store(true)
					return ctx.Err()
				}
				elapse(time.Second)
				if given.CompareAndSwap(true, false) {
					return context.Canceled
				}
				return s.src.Ack(ctx, m)
			}
		}, nil},
		{"an ack works later", "group next", onAck(func(s *bent, _ context.Context, m *consumer.Message) error {
			time.AfterFunc(time.Second, func() { _ = s.src.Ack(s.bed.end, m) })
			return nil
		}), nil},
		{"acks gather until close", "crash with acks", func(s *bent) { gathers(s, true) }, nil},
		{"gathered acks are lost at close", "close loses nothing|crash with acks", func(s *bent) { gathers(s, false) }, nil},
		{"anything can be acked", "foreign", func(s *bent) {
			s.ack = func(ctx context.Context, m *consumer.Message) error {
				_ = s.src.Ack(ctx, m)
				return nil
			}
		}, nil},
		{"anything can be nacked", "foreign", func(s *bent) {
			s.nack = func(ctx context.Context, m *consumer.Message, delay time.Duration) error {
				if m.Receipt == nil {
					return nil
				}
				return s.src.Nack(ctx, m, delay)
			}
		}, nil},
	}
}

func elapse(d time.Duration) { <-time.After(d) }

func (b *bed) handedOut() []handedOut {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]handedOut(nil), b.held...)
}

// acksAnother acks the first message that this source got and that is not acked, whichever is meant.
func acksAnother(s *bent) {
	var mu sync.Mutex
	acked := map[*consumer.Message]bool{}
	s.ack = func(ctx context.Context, m *consumer.Message) error {
		mu.Lock()
		defer mu.Unlock()
		for _, h := range s.bed.handedOut() {
			if h.by == s && !acked[h.m] {
				m = h.m
				break
			}
		}
		acked[m] = true
		return s.src.Ack(ctx, m)
	}
}

// gathers keeps up to three acks back.
func gathers(s *bent, flush bool) {
	var mu sync.Mutex
	var kept []*consumer.Message
	send := func(ctx context.Context) error {
		var all []error
		for _, m := range kept {
			all = append(all, s.src.Ack(ctx, m))
		}
		kept = nil
		return errors.Join(all...)
	}
	s.ack = func(ctx context.Context, m *consumer.Message) error {
		mu.Lock()
		defer mu.Unlock()
		if kept = append(kept, m); len(kept) > 3 {
			return send(ctx)
		}
		return nil
	}
	s.shut = func(ctx context.Context) error {
		mu.Lock()
		defer mu.Unlock()
		if flush {
			if err := send(ctx); err != nil {
				return err
			}
		}
		return s.src.Close(ctx)
	}
}
