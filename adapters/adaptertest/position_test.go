package adaptertest_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/claimonce/claimonce/adapters/adaptertest"
	"github.com/claimonce/claimonce/consumer"
)

// A topic keeps messages for good and one position up to which they are done, as the partition of a log does: one reader has it at a
// time, nothing is hidden by the broker, and what was acked behind the position is forgotten with its reader.
type topic struct {
	mu       sync.Mutex
	records  []consumer.Message
	position int
	owner    *reader
	changed  chan struct{}
}

func (p *topic) wake() {
	close(p.changed)
	p.changed = make(chan struct{})
}

type reader struct {
	p      *topic
	closed bool
	states map[int]*state // by offset, of what was handed out
}

type state struct {
	done, held bool
	delivery   int
	due        time.Time
}

type place struct {
	r                *reader
	offset, delivery int
}

var errNotOpen = errors.New("the reader is closed")

func (r *reader) Receive(ctx context.Context, limit int) ([]*consumer.Message, error) {
	for ctx.Err() == nil {
		msgs, changed, next, err := r.fetch(max(limit, 1))
		if err != nil || len(msgs) > 0 {
			return msgs, err
		}
		timer := time.NewTimer(next)
		select {
		case <-changed:
		case <-timer.C:
		case <-ctx.Done():
		}
		timer.Stop()
	}
	return nil, ctx.Err()
}

func (r *reader) fetch(limit int) (msgs []*consumer.Message, changed <-chan struct{}, next time.Duration, err error) {
	r.p.mu.Lock()
	defer r.p.mu.Unlock()
	next = time.Hour
	if r.closed {
		return nil, nil, 0, errNotOpen
	}
	if r.p.owner == nil {
		r.p.owner = r
	}
	if r.p.owner != r {
		return nil, r.p.changed, next, nil
	}
	waiting := map[string]bool{}
	for offset := r.p.position; offset < len(r.p.records) && len(msgs) < limit; offset++ {
		m := r.p.records[offset]
		st := r.states[offset]
		if st == nil {
			st = &state{}
			r.states[offset] = st
		}
		wait := time.Until(st.due)
		switch {
		case st.done:
			continue
		case st.held || waiting[m.Group]:
		case wait > 0:
			next = min(next, wait)
		default:
			st.held = true
			st.delivery++
			m.Body, m.Receipt = slices.Clone(m.Body), place{r, offset, st.delivery}
			m.Attributes = cloned(m.Attributes)
			msgs = append(msgs, &m)
		}
		waiting[m.Group] = m.Group != ""
	}
	return msgs, r.p.changed, next, nil
}

func cloned(attrs []consumer.Attribute) []consumer.Attribute {
	out := slices.Clone(attrs)
	for i := range out {
		out[i].Value = slices.Clone(out[i].Value)
	}
	return out
}

func (r *reader) settle(m *consumer.Message, f func(offset int, st *state)) error {
	at, ok := m.Receipt.(place)
	r.p.mu.Lock()
	defer r.p.mu.Unlock()
	if !ok || at.r != r || r.p.owner != r {
		return consumer.ErrNotHeld
	}
	st := r.states[at.offset]
	if st.done {
		return nil
	}
	if !st.held || st.delivery != at.delivery {
		return consumer.ErrNotHeld
	}
	f(at.offset, st)
	r.p.wake()
	return nil
}

func (r *reader) Ack(_ context.Context, m *consumer.Message) error {
	return r.settle(m, func(_ int, st *state) {
		st.done = true
		for r.states[r.p.position] != nil && r.states[r.p.position].done {
			r.p.position++
		}
	})
}

func (r *reader) Nack(_ context.Context, m *consumer.Message, delay time.Duration) error {
	return r.settle(m, func(_ int, st *state) { st.held, st.due = false, time.Now().Add(max(delay, 0)) })
}

func (r *reader) Close(context.Context) error {
	r.p.mu.Lock()
	defer r.p.mu.Unlock()
	r.closed = true
	if r.p.owner == r {
		r.p.owner = nil
	}
	r.p.wake()
	return nil
}

// The suite does not ask of a log what only a queue can do, and finds what it must do.
func TestASourceThatKeepsAPosition(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		err := adaptertest.Check(t.Context(), adaptertest.Rig{
			New:        func(context.Context) (*adaptertest.Queue, error) { return newTopic(), nil },
			Visibility: visibility, Grain: time.Millisecond, FakeTime: true,
			Groups: true, AnyBytes: true, EmptyValues: true, Attributes: 20, ByPosition: true,
		})
		if err != nil {
			t.Error(err)
		}
	})
}

func newTopic() *adaptertest.Queue {
	p := &topic{changed: make(chan struct{})}
	return &adaptertest.Queue{
		Open: func(context.Context) (consumer.Source, error) { return &reader{p: p, states: map[int]*state{}}, nil },
		Send: func(_ context.Context, m consumer.Message) (string, error) {
			p.mu.Lock()
			defer p.mu.Unlock()
			m.ID, m.Body, m.Attributes = fmt.Sprint("0-", len(p.records)), slices.Clone(m.Body), cloned(m.Attributes)
			p.records = append(p.records, m)
			p.wake()
			return m.ID, nil
		},
		Crash: func(ctx context.Context, s consumer.Source) error { return s.Close(ctx) }, // its session ends
	}
}
