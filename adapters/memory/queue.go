package memory

import (
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/claimonce/claimonce/consumer"
)

// Config are the settings of a [Queue]; the zero value is ready for use.
type Config struct {
	Visibility time.Duration // how long a received message is hidden; default 30 s
	Retention  time.Duration // how long a message can come back, for the check of the window; default 4 days
}

// Message is a message to be sent.
type Message struct {
	Group      string // "" = no order
	Attributes map[string]string
	Binary     map[string][]byte // attributes that are declared as bytes
	Body       []byte
}

// clone keeps what a caller changes later out of the queue, and the other way round.
func (m Message) clone() Message {
	m.Attributes, m.Body = maps.Clone(m.Attributes), slices.Clone(m.Body)
	m.Binary = maps.Clone(m.Binary)
	for name, v := range m.Binary {
		m.Binary[name] = slices.Clone(v)
	}
	return m
}

// A Dead is a message that was dead-lettered, with the reason.
type Dead struct {
	Message

	ID     string
	Letter consumer.DeadLetter
}

// Queue is a queue that any number of sources share. It is safe for concurrent use.
type Queue struct {
	cfg Config

	mu       sync.Mutex
	messages []*message // in the order of sending
	dead     []Dead
	serial   int
	changed  chan struct{} // closed and replaced when a message may have become visible
}

type message struct {
	Message

	id       string
	sent     time.Time
	visible  time.Time // hidden before
	receives int
	delivery int // of the holder's delivery; 0: nobody holds it
	holder   *Source
	revoked  chan struct{} // of the delivery; closed when the queue takes it back
}

// New makes an empty queue.
func New(cfg Config) *Queue {
	if cfg.Visibility <= 0 {
		cfg.Visibility = 30 * time.Second
	}
	if cfg.Retention <= 0 {
		cfg.Retention = 4 * 24 * time.Hour
	}
	return &Queue{cfg: cfg, changed: make(chan struct{})}
}

// Send adds messages in order and returns their ids.
func (q *Queue) Send(messages ...Message) (ids []string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	now := time.Now()
	for _, m := range messages {
		q.serial++
		id := "m" + strconv.Itoa(q.serial)
		q.messages = append(q.messages, &message{Message: m.clone(), id: id, sent: now})
		ids = append(ids, id)
	}
	q.wake()
	return ids
}

// Len is how many messages are neither acked nor dead-lettered.
func (q *Queue) Len() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.messages)
}

// DeadLetters lists what was dead-lettered, in order.
func (q *Queue) DeadLetters() []Dead {
	q.mu.Lock()
	defer q.mu.Unlock()
	out := make([]Dead, 0, len(q.dead))
	for _, d := range q.dead {
		d.Message = d.clone()
		out = append(out, d)
	}
	return out
}

// Receives is how often a message was delivered so far; 0 if it is gone.
func (q *Queue) Receives(id string) int {
	q.mu.Lock()
	defer q.mu.Unlock()
	if i := q.find(id); i >= 0 {
		return q.messages[i].receives
	}
	return 0
}

// Revoke takes a message back from the worker that holds it, as a rebalance does: its [consumer.Message.Revoked] is closed, and the
// message is visible at once. It reports false if nobody holds it.
func (q *Queue) Revoke(id string) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	i := q.find(id)
	if i < 0 || q.messages[i].holder == nil || !q.messages[i].visible.After(time.Now()) {
		return false
	}
	m := q.messages[i]
	close(m.revoked)
	m.visible, m.holder, m.delivery = time.Now(), nil, 0
	q.wake()
	return true
}

// wake is called with mu held.
func (q *Queue) wake() {
	close(q.changed)
	q.changed = make(chan struct{})
}

// take hands out what is visible, else says what to wait for. Of a group nothing is handed out while an earlier message of it is
// hidden: its order would be lost.
func (q *Queue) take(s *Source, limit int) (got []*message, changed <-chan struct{}, next time.Time, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if s.closed {
		return nil, nil, next, errClosed
	}
	now := time.Now()
	blocked := map[string]bool{}
	for _, m := range q.messages {
		if len(got) == limit {
			break
		}
		if m.visible.After(now) {
			if m.Group != "" {
				blocked[m.Group] = true
			}
			if next.IsZero() || m.visible.Before(next) {
				next = m.visible
			}
			continue
		}
		if m.Group != "" && blocked[m.Group] {
			continue
		}
		q.serial++
		m.receives++
		m.visible, m.delivery, m.holder, m.revoked = now.Add(q.cfg.Visibility), q.serial, s, make(chan struct{})
		held := *m
		got = append(got, &held)
	}
	return got, q.changed, next, nil
}

// find is the place of a message, -1 if it is gone; called with mu held.
func (q *Queue) find(id string) int {
	return slices.IndexFunc(q.messages, func(m *message) bool { return m.id == id })
}
