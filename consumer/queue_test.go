package consumer_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/claimonce/claimonce/consumer"
)

// queue is a broker in memory with visibility timeouts, groups, delays and dead letters, whose calls can be made to fail by
// script. Its clock is the bubble's.
type queue struct {
	visibility time.Duration
	eager      bool // hands out what is behind a held message of its group, as a log does
	journal    *journal
	faults     queueFaults

	mu      sync.Mutex
	entries []*entry
	changed chan struct{} // closed and replaced when something may have become visible
	dead    []deadLetter
	calls   map[string]int
	held    int
	maxHeld int
	closed  bool
}

// queueFaults are asked before a call does anything; nil: no fault.
type queueFaults struct {
	receive               func(call int) error
	ack, nack, extend     func(m *consumer.Message) error
	deadLetter            func(m *consumer.Message) error
	closing               func() error
	late                  func() []*consumer.Message // what Receive still answers with after its context has ended
	extendHangs           func() bool
	extendTime, nackTakes time.Duration // before it does something, and after
}

type entry struct {
	m         consumer.Message
	visibleAt time.Time
	receives  []time.Time
	handle    int
	inFlight  bool
	gone      bool
	delays    []time.Duration // of its nacks
}

type deadLetter struct {
	id   string
	body string
	consumer.DeadLetter
}

type receipt struct {
	e      *entry
	handle int
}

var (
	_ consumer.Source       = (*queue)(nil)
	_ consumer.Extender     = (*queue)(nil)
	_ consumer.DeadLetterer = (*queue)(nil)
)

func newQueue(visibility time.Duration) *queue {
	return &queue{visibility: visibility, journal: &journal{}, changed: make(chan struct{}), calls: map[string]int{}}
}

// message makes one with a key; body is JSON.
func message(key, body string) consumer.Message {
	return consumer.Message{ID: "m-" + key, Attributes: []consumer.Attribute{attr(consumer.DefaultKeyAttribute, key)}, Body: []byte(body)}
}

func attr(name, value string) consumer.Attribute {
	return consumer.Attribute{Name: name, Value: []byte(value)}
}

func inGroup(group string, m consumer.Message) consumer.Message {
	m.Group = group
	return m
}

func (q *queue) send(msgs ...consumer.Message) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, m := range msgs {
		q.entries = append(q.entries, &entry{m: m, visibleAt: time.Now()})
	}
	q.wake()
}

func (q *queue) wake() {
	close(q.changed)
	q.changed = make(chan struct{})
}

func (q *queue) Receive(ctx context.Context, limit int) ([]*consumer.Message, error) {
	q.mu.Lock()
	q.calls["receive"]++
	call, fault := q.calls["receive"], q.faults.receive
	q.mu.Unlock()
	if fault != nil {
		if err := fault(call); err != nil {
			return nil, err
		}
	}
	for {
		msgs, changed, next := q.take(limit)
		if len(msgs) > 0 {
			return msgs, nil
		}
		timer := time.NewTimer(next)
		select {
		case <-changed:
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			if late := q.faults.late; late != nil {
				return late(), ctx.Err()
			}
			return nil, ctx.Err()
		}
		timer.Stop()
	}
}

// take hands out what is visible. A message of a group whose predecessor is in flight or delayed is not.
func (q *queue) take(limit int) (msgs []*consumer.Message, changed <-chan struct{}, next time.Duration) {
	q.mu.Lock()
	defer q.mu.Unlock()
	now, blocked := time.Now(), map[string]bool{}
	next = time.Hour
	for _, e := range q.entries {
		switch wait := e.visibleAt.Sub(now); {
		case e.gone || e.m.Group != "" && blocked[e.m.Group]:
		case wait > 0:
			next = min(next, wait)
			blocked[e.m.Group] = !q.eager
		case len(msgs) < limit:
			msgs = append(msgs, q.handOut(e, now))
		}
	}
	return msgs, q.changed, next
}

func (q *queue) handOut(e *entry, now time.Time) *consumer.Message {
	if !e.inFlight {
		q.held++
	}
	q.maxHeld = max(q.maxHeld, q.held)
	e.handle++
	e.inFlight, e.visibleAt, e.receives = true, now.Add(q.visibility), append(e.receives, now)
	m := e.m
	m.Receives, m.Receipt = len(e.receives), receipt{e, e.handle}
	return &m
}

// under runs f on the delivery's entry if it is still the current delivery.
func (q *queue) under(call string, m *consumer.Message, fault func(*consumer.Message) error, f func(*entry)) error {
	q.mu.Lock()
	q.calls[call]++
	q.mu.Unlock()
	if fault != nil {
		if err := fault(m); err != nil {
			return err
		}
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	r, ok := m.Receipt.(receipt)
	if !ok || r.handle != r.e.handle || r.e.gone || !time.Now().Before(r.e.visibleAt) {
		return fmt.Errorf("%s of %s: %w", call, m.ID, consumer.ErrNotHeld)
	}
	f(r.e)
	return nil
}

func (q *queue) Ack(_ context.Context, m *consumer.Message) error {
	return q.under("ack", m, q.faults.ack, func(e *entry) {
		q.journal.add("ack %s", m.ID)
		q.done(e)
	})
}

func (q *queue) done(e *entry) {
	e.gone, e.inFlight = true, false
	q.held--
	q.wake()
}

func (q *queue) Nack(_ context.Context, m *consumer.Message, delay time.Duration) error {
	defer func() { <-time.After(q.faults.nackTakes) }()
	return q.under("nack", m, q.faults.nack, func(e *entry) {
		q.journal.add("nack %s", m.ID)
		e.inFlight, e.visibleAt, e.delays = false, time.Now().Add(delay), append(e.delays, delay)
		q.held--
		q.wake()
	})
}

func (q *queue) Extend(ctx context.Context, m *consumer.Message) error {
	if q.faults.extendHangs != nil && q.faults.extendHangs() {
		<-ctx.Done()
		return ctx.Err()
	}
	if d := q.faults.extendTime; d > 0 {
		select {
		case <-time.After(d):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return q.under("extend", m, q.faults.extend, func(e *entry) { e.visibleAt = time.Now().Add(q.visibility) })
}

func (q *queue) Visibility() time.Duration { return q.visibility }

func (q *queue) DeadLetter(_ context.Context, m *consumer.Message, d consumer.DeadLetter) error {
	return q.under("dead-letter", m, q.faults.deadLetter, func(e *entry) {
		q.journal.add("dead %s %s", m.ID, d.Reason)
		q.dead = append(q.dead, deadLetter{m.ID, string(m.Body), d})
		q.done(e)
	})
}

func (q *queue) Close(context.Context) error {
	q.mu.Lock()
	q.closed = true
	q.mu.Unlock()
	q.journal.add("close")
	if q.faults.closing != nil {
		return q.faults.closing()
	}
	return nil
}

// redrive sends dead letters again.
func (q *queue) redrive() {
	q.mu.Lock()
	dead := q.dead
	q.dead = nil
	var again []consumer.Message
	for _, d := range dead {
		i := slices.IndexFunc(q.entries, func(e *entry) bool { return e.m.ID == d.id })
		again = append(again, q.entries[i].m)
	}
	q.mu.Unlock()
	q.send(again...)
}

func (q *queue) count(call string) int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.calls[call]
}

func (q *queue) letters() []deadLetter {
	q.mu.Lock()
	defer q.mu.Unlock()
	return slices.Clone(q.dead)
}

// left is how many messages are neither acked nor dead-lettered.
func (q *queue) left() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	n := 0
	for _, e := range q.entries {
		if !e.gone {
			n++
		}
	}
	return n
}

// entry finds a message by its id, the first one if there are several.
func (q *queue) entry(id string) entry {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, e := range q.entries {
		if e.m.ID == id {
			return *e
		}
	}
	return entry{}
}

// bare hides what a queue can do beside the four methods of a source.
type bare struct{ consumer.Source }

// journal is the order in which things happened.
type journal struct {
	mu    sync.Mutex
	lines []string
}

func (j *journal) add(format string, args ...any) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.lines = append(j.lines, fmt.Sprintf(format, args...))
}

func (j *journal) all() []string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.Clone(j.lines)
}

var errBroken = errors.New("broken by the test")
