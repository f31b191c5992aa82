package adaptertest_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/claimonce/claimonce/consumer"
)

func delays(f func(time.Duration) time.Duration) func(*bent) {
	return func(s *bent) {
		nack := s.nack
		s.nack = func(ctx context.Context, m *consumer.Message, delay time.Duration) error {
			return nack(ctx, m, f(delay))
		}
	}
}

func delayMutants() []mutant {
	return []mutant{
		{"a nack drops", "nack delay|nack none|many nacks|receives", func(s *bent) {
			s.nack = func(ctx context.Context, m *consumer.Message, _ time.Duration) error { return s.src.Ack(ctx, m) }
		}, nil},
		{"a nack does nothing", "nack none|nack negative|nack wakes|nacked not held", func(s *bent) {
			s.nack = func(context.Context, *consumer.Message, time.Duration) error { return nil }
		}, nil},
		{"delays are ignored", "nack delay|nack long|due first", delays(func(time.Duration) time.Duration { return 0 }), nil},
		{"delays are rounded down", "nack fraction", delays(func(d time.Duration) time.Duration { return d.Truncate(time.Second) }), nil},
		{"delays end with the visibility", "nack long", delays(func(d time.Duration) time.Duration { return min(d, visibility) }), nil},
		{"a second is added", "nack none|nack wakes", delays(func(d time.Duration) time.Duration { return d + time.Second }), nil},
		{"a negative delay is an error", "nack negative", func(s *bent) {
			s.nack = func(ctx context.Context, m *consumer.Message, delay time.Duration) error {
				if delay < 0 {
					return errors.New("delay is negative")
				}
				return s.src.Nack(ctx, m, delay)
			}
		}, nil},
		{"a delay counts for all", "due first", func(s *bent) {
			var longest atomic.Int64
			delays(func(d time.Duration) time.Duration {
				if int64(d) > longest.Load() {
					longest.Store(int64(d))
				}
				return time.Duration(longest.Load())
			})(s)
		}, nil},
		{"one in ten nacks is forgotten", "many nacks", func(s *bent) {
			var n atomic.Int64
			nack := s.nack
			s.nack = func(ctx context.Context, m *consumer.Message, delay time.Duration) error {
				if n.Add(1)%10 == 0 {
					return nil
				}
				return nack(ctx, m, delay)
			}
		}, nil},
		{"a second nack counts", "nacked not held", secondNackCounts, nil},
		{"an extension does nothing", "extend", func(s *bent) {
			s.extend = func(context.Context, *consumer.Message) error { return nil }
		}, nil},
		{"the fourth extension does nothing", "extend", func(s *bent) { extendsAtMost(s, 3) }, nil},
		{"the thirtieth extension does nothing", "extend", func(s *bent) { extendsAtMost(s, 29) }, nil},
		{"visibility is doubled in words", "visibility", func(s *bent) {
			s.hides = func() time.Duration { return 2 * visibility }
		}, nil},
	}
}

// extendsAtMost says yes to each later extension and does nothing.
func extendsAtMost(s *bent, times int64) {
	var mu sync.Mutex
	done := map[string]int64{}
	s.extend = func(ctx context.Context, m *consumer.Message) error {
		mu.Lock()
		done[m.ID]++
		n := done[m.ID]
		mu.Unlock()
		if n > times {
			return nil
		}
		return s.src.Extend(ctx, m)
	}
}

// secondNackCounts makes a message visible at once when it is nacked a second time: by acking it and sending it anew.
func secondNackCounts(s *bent) {
	var mu sync.Mutex
	nacked := map[*consumer.Message]*time.Timer{}
	s.nack = func(ctx context.Context, m *consumer.Message, delay time.Duration) error {
		mu.Lock()
		defer mu.Unlock()
		if timer := nacked[m]; timer != nil && timer.Stop() {
			delay = 0 // it is still held below
		} else if timer == nil && delay > 0 {
			nacked[m] = time.AfterFunc(delay, func() { _ = s.src.Nack(s.bed.end, m, 0) })
			return nil
		}
		return s.src.Nack(ctx, m, delay)
	}
}
