package memory

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/claimonce/claimonce/consumer"
)

// Source is one worker's access to a [Queue]. It implements [consumer.Source], [consumer.Extender], [consumer.DeadLetterer] and
// [consumer.Redeliverer].
type Source struct{ q *Queue }

// Source makes an access for one worker.
func (q *Queue) Source() *Source { return &Source{q} }

// Receive implements [consumer.Source].
func (s *Source) Receive(ctx context.Context, limit int) ([]*consumer.Message, error) {
	for {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("memory: receive: %w", err)
		}
		got, changed, next := s.q.take(s, limit)
		if len(got) > 0 {
			return views(got), nil
		}
		var timer <-chan time.Time
		if !next.IsZero() {
			t := time.NewTimer(time.Until(next))
			defer t.Stop()
			timer = t.C
		}
		select {
		case <-changed:
		case <-timer:
		case <-ctx.Done():
		}
	}
}

func views(messages []*message) []*consumer.Message {
	out := make([]*consumer.Message, 0, len(messages))
	for _, m := range messages {
		v := &consumer.Message{
			ID: m.id, Group: m.Group, Body: slices.Clone(m.Body), SentAt: m.sent, Receives: m.receives, Receipt: m.delivery,
		}
		for name, value := range m.Attributes {
			v.Attributes = append(v.Attributes, consumer.Attribute{Name: name, Value: []byte(value)})
		}
		out = append(out, v)
	}
	return out
}

// change applies f to the message that a delivery still holds. A delivery of another queue, or one that is over, is not held.
func (s *Source) change(m *consumer.Message, f func(i int)) error {
	delivery, _ := m.Receipt.(int)
	s.q.mu.Lock()
	defer s.q.mu.Unlock()
	i, ok := s.q.held(delivery)
	if !ok || delivery == 0 {
		return fmt.Errorf("memory: message %s: %w", m.ID, consumer.ErrNotHeld)
	}
	f(i)
	s.q.wake()
	return nil
}

// Ack implements [consumer.Source].
func (s *Source) Ack(_ context.Context, m *consumer.Message) error {
	s.q.mu.Lock()
	gone := !slices.ContainsFunc(s.q.messages, func(x *message) bool { return x.id == m.ID })
	s.q.mu.Unlock()
	if gone {
		return nil // acked before
	}
	return s.change(m, s.q.removeLocked)
}

func (q *Queue) removeLocked(i int) { q.messages = slices.Delete(q.messages, i, i+1) }

// Nack implements [consumer.Source].
func (s *Source) Nack(_ context.Context, m *consumer.Message, delay time.Duration) error {
	return s.change(m, func(i int) {
		x := s.q.messages[i]
		x.visible, x.holder, x.delivery = time.Now().Add(max(delay, 0)), nil, 0
	})
}

// Extend implements [consumer.Extender].
func (s *Source) Extend(_ context.Context, m *consumer.Message) error {
	return s.change(m, func(i int) { s.q.messages[i].visible = time.Now().Add(s.q.cfg.Visibility) })
}

// Visibility implements [consumer.Extender].
func (s *Source) Visibility() time.Duration { return s.q.cfg.Visibility }

// DeadLetter implements [consumer.DeadLetterer].
func (s *Source) DeadLetter(_ context.Context, m *consumer.Message, d consumer.DeadLetter) error {
	return s.change(m, func(i int) {
		s.q.dead = append(s.q.dead, Dead{Message: s.q.messages[i].Message, ID: m.ID, Letter: d})
		s.q.removeLocked(i)
	})
}

// MaxRedelivery implements [consumer.Redeliverer].
func (s *Source) MaxRedelivery(context.Context) (time.Duration, error) { return s.q.cfg.Retention, nil }

// Close implements [consumer.Source]: what this source still holds is given back.
func (s *Source) Close(context.Context) error {
	s.q.mu.Lock()
	defer s.q.mu.Unlock()
	now := time.Now()
	for _, m := range s.q.messages {
		if m.holder == s {
			m.holder, m.delivery = nil, 0
			if m.visible.After(now) {
				m.visible = now
			}
		}
	}
	s.q.wake()
	return nil
}
