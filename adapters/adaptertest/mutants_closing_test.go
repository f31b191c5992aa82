package adaptertest_test

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/claimonce/claimonce/adapters/memory"
	"github.com/claimonce/claimonce/consumer"
)

func onClose(f func(s *bent, ctx context.Context) error) func(*bent) {
	return func(s *bent) { s.shut = func(ctx context.Context) error { return f(s, ctx) } }
}

func memoryOf(m *consumer.Message) memory.Message {
	return memory.Message{Group: m.Group, Body: m.Body}
}

func closeMutants() []mutant {
	return []mutant{
		{"close acks what is held", "close loses nothing", onClose(func(s *bent, ctx context.Context) error {
			for _, h := range s.bed.handedOut() {
				if h.by == s {
					_ = s.src.Ack(ctx, h.m)
				}
			}
			return s.src.Close(ctx)
		}), nil},
		{"close gives nothing back", "close loses nothing|close and arrivals", onClose(func(*bent, context.Context) error { return nil }), nil},
		{"close gives back what others hold", "close leaves others", onClose(func(s *bent, ctx context.Context) error {
			for _, h := range s.bed.handedOut() {
				_ = s.src.Nack(ctx, h.m, 0)
			}
			return s.src.Close(ctx)
		}), nil},
		{"a second close is an error", "close twice", func(s *bent) {
			var closed atomic.Bool
			s.shut = func(ctx context.Context) error {
				if closed.Swap(true) {
					return errors.New("it was closed before")
				}
				return s.src.Close(ctx)
			}
		}, nil},
		{"receives after close", "closed", func(s *bent) {
			s.shut = func(ctx context.Context) error {
				err := s.src.Close(ctx)
				s.src = s.bed.q.Source()
				return err
			}
		}, nil},
		{"waits after close", "closed", func(s *bent) {
			var closed atomic.Bool
			s.shut = func(ctx context.Context) error {
				closed.Store(true)
				return s.src.Close(ctx)
			}
			onReceive(func(ctx context.Context, limit int, receive next) ([]*consumer.Message, error) {
				if closed.Load() {
					<-ctx.Done()
				}
				return receive(ctx, limit)
			})(s)
		}, nil},
		{"close waits for a receive that waits", "close in receive", hangs, nil},
		{"close takes its time", "close in a hurry", onClose(func(s *bent, ctx context.Context) error {
			elapse(2 * soon)
			return s.src.Close(ctx)
		}), nil},
		{"a hurried close acks", "close in a hurry", onClose(func(s *bent, ctx context.Context) error {
			if ctx.Err() != nil {
				for _, h := range s.bed.handedOut() {
					_ = s.src.Ack(ctx, h.m)
				}
			}
			return s.src.Close(ctx)
		}), nil},
		{"one call at a time", "beside receive|close in receive", oneAtATime, nil},
		{"receive goes on after close", "close in receive", func(s *bent) {
			var closed atomic.Bool
			s.shut = func(ctx context.Context) error {
				closed.Store(true)
				return s.src.Close(ctx)
			}
			onReceive(func(ctx context.Context, limit int, receive next) ([]*consumer.Message, error) {
				msgs, err := receive(ctx, limit)
				if err != nil && closed.Load() {
					<-ctx.Done()
				}
				return msgs, err
			})(s)
		}, nil},
	}
}

// soon is longer than the suite waits for a call that has nothing to wait for.
const soon = 6 * time.Second

func oneAtATime(s *bent) {
	hangs(s)
	free := make(chan struct{}, 1)
	ack, receive := s.ack, s.receive
	s.receive = func(ctx context.Context, limit int) ([]*consumer.Message, error) {
		free <- struct{}{}
		defer func() { <-free }()
		return receive(ctx, limit)
	}
	s.ack = func(ctx context.Context, m *consumer.Message) error {
		free <- struct{}{}
		defer func() { <-free }()
		return ack(ctx, m)
	}
}

// hangs lets one call at a time into the source. A channel, since a bubble cannot tell that a mutex will not be free.
func hangs(s *bent) {
	free := make(chan struct{}, 1)
	onReceive(func(ctx context.Context, limit int, receive next) ([]*consumer.Message, error) {
		free <- struct{}{}
		defer func() { <-free }()
		return receive(ctx, limit)
	})(s)
	s.shut = func(ctx context.Context) error {
		free <- struct{}{}
		defer func() { <-free }()
		return s.src.Close(ctx)
	}
}
