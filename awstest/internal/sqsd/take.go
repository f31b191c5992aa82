package sqsd

import (
	"container/heap"
	"slices"
	"time"
)

// take hands out up to limit messages; called with mu held, after settle.
func (s *Server) take(q *queue, limit int, visibility time.Duration, now time.Time) []*message {
	var got []*message
	if q.fifo {
		got = s.takeGroups(q, limit, visibility, now)
	} else {
		for len(got) < limit && q.ready.Len() > 0 {
			m := heap.Pop(&q.ready).(*message) //nolint:forcetypeassert // a pile holds nothing else
			if s.handOut(q, m, visibility, now) {
				got = append(got, m)
			}
		}
	}
	for _, m := range got { // only now: with a visibility of 0 a message would be taken again and again
		q.place(m, now)
	}
	return got
}

// takeGroups takes as many messages of one group as it can before the next group's.
func (s *Server) takeGroups(q *queue, limit int, visibility time.Duration, now time.Time) []*message {
	var got []*message
	for _, g := range q.open(now) {
		for _, m := range slices.Clone(g.list) {
			if len(got) == limit {
				return got
			}
			if m.visible.After(now) {
				break // delayed; what was sent later must not overtake it
			}
			if s.handOut(q, m, visibility, now) {
				got = append(got, m)
			}
		}
	}
	return got
}

// handOut marks a message as received, unless it is too old or has to go to the dead-letter queue instead.
func (s *Server) handOut(q *queue, m *message, visibility time.Duration, now time.Time) bool {
	if q.expired(m, now) {
		q.remove(m)
		return false
	}
	if s.bury(q, m, now) {
		return false
	}
	if m.receives == 0 {
		m.firstSeen = now
	}
	m.receives++
	m.received, m.visible = now, now.Add(visibility)
	m.handle = s.newHandle(q, m)
	q.launch(m)
	return true
}
