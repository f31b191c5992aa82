package memory

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/claimonce/claimonce/consumer"
)

// Source is one worker's access to a [Queue]. It implements [consumer.Source], [consumer.Extender], [consumer.DeadLetterer] and
// [consumer.Redeliverer].
type Source struct {
	q      *Queue
	closed bool // guarded by the queue's mutex
}

// Source makes an access for one worker.
func (q *Queue) Source() *Source { return &Source{q: q} }

var errClosed = errors.New("the source is closed")

// Receive implements [consumer.Source].
func (s *Source) Receive(ctx context.Context, limit int) ([]*consumer.Message, error) {
	for {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("memory: receive: %w", err)
		}
		got, changed, next, err := s.q.take(s, max(limit, 1))
		if err != nil {
			return nil, fmt.Errorf("memory: receive: %w", err)
		}
		if len(got) > 0 {
			return s.q.views(got), nil
		}
		if err := wait(ctx, changed, next); err != nil {
			return nil, fmt.Errorf("memory: receive: %w", err)
		}
	}
}

// wait returns when something changed or the next message becomes visible, if there is one.
func wait(ctx context.Context, changed <-chan struct{}, next time.Time) error {
	var due <-chan time.Time
	if !next.IsZero() {
		t := time.NewTimer(time.Until(next))
		defer t.Stop()
		due = t.C
	}
	select {
	case <-changed:
	case <-due:
	case <-ctx.Done():
	}
	return ctx.Err()
}

// receipt names one delivery of one message of one queue.
type receipt struct {
	q        *Queue
	id       string
	delivery int
}

// views are messages as the consumer sees them, with attributes in the order of their names: a map has none of its own.
func (q *Queue) views(messages []*message) []*consumer.Message {
	out := make([]*consumer.Message, 0, len(messages))
	for _, m := range messages {
		v := &consumer.Message{
			ID: m.id, Group: m.Group, Body: slices.Clone(m.Body), SentAt: m.sent, Receives: m.receives, Receipt: receipt{q, m.id, m.delivery},
		}
		v.SetRevoked(m.revoked)
		for name, value := range m.Attributes {
			v.Attributes = append(v.Attributes, consumer.Attribute{Name: name, Value: []byte(value)})
		}
		for name, value := range m.Binary {
			v.Attributes = append(v.Attributes, consumer.Attribute{Name: name, Value: slices.Clone(value), Binary: true})
		}
		slices.SortFunc(v.Attributes, func(a, b consumer.Attribute) int { return strings.Compare(a.Name, b.Name) })
		out = append(out, v)
	}
	return out
}

// change applies f to the message at its place. It is not held if it was never received from this queue, if it was
// handed back, or if its visibility ended, whoever has it now.
func (s *Source) change(m *consumer.Message, f func(i int)) error {
	r, _ := m.Receipt.(receipt)
	s.q.mu.Lock()
	defer s.q.mu.Unlock()
	i := s.q.find(r.id)
	if r.q != s.q || i < 0 || s.q.messages[i].delivery != r.delivery || !s.q.messages[i].visible.After(time.Now()) {
		return fmt.Errorf("memory: message %s: %w", m.ID, consumer.ErrNotHeld)
	}
	f(i)
	s.q.wake()
	return nil
}

// Ack implements [consumer.Source].
func (s *Source) Ack(_ context.Context, m *consumer.Message) error {
	if r, ok := m.Receipt.(receipt); ok && r.q == s.q && s.q.gone(r.id) {
		return nil // acked before
	}
	return s.change(m, s.q.removeLocked)
}

func (q *Queue) gone(id string) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.find(id) < 0
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
		s.q.dead = append(s.q.dead, Dead{Message: s.q.messages[i].Message, ID: s.q.messages[i].id, Letter: d})
		s.q.removeLocked(i)
	})
}

// MaxRedelivery implements [consumer.Redeliverer].
func (s *Source) MaxRedelivery(context.Context) (time.Duration, error) { return s.q.cfg.Retention, nil }

// Close implements [consumer.Source]: what this source still holds is given back, and it receives no more.
func (s *Source) Close(context.Context) error {
	s.q.mu.Lock()
	defer s.q.mu.Unlock()
	s.closed = true
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
