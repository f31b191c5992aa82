package sqsd

import (
	"cmp"
	"container/heap"
	"maps"
	"slices"
	"strconv"
	"time"
)

// queue is one queue; all is guarded by the server's mu. Each message is in byID. A hidden one lies in the pile hidden as well; a
// visible one in ready if the queue is standard, and in the list of its group if it is FIFO, hidden or not.
type queue struct {
	name              string
	fifo              bool
	attributes        map[string]string // as set or by default, in canonical form
	redrive           redrive
	tags              map[string]string
	created, modified time.Time

	byID   map[string]*message
	ready  pile
	hidden pile
	flying int // messages in flight
	groups map[string]*group
	sends  recent // of a FIFO queue

	attempts map[string]attempt // receives of a FIFO queue, by their ReceiveRequestAttemptId

	changed chan struct{} // nil while no poll waits
}

func newQueue(name string, fifo bool, now time.Time) *queue {
	return &queue{
		name: name, fifo: fifo, attributes: defaults(fifo), created: now, modified: now,
		byID: map[string]*message{}, ready: pile{less: bySeq}, hidden: pile{less: byTime}, groups: map[string]*group{},
	}
}

func (q *queue) number(attribute string) int {
	n, _ := strconv.Atoi(q.attributes[attribute]) // checked when it was set
	return n
}

func (q *queue) seconds(attribute string) time.Duration {
	return time.Duration(q.number(attribute)) * time.Second
}

// wait gives a channel that the next wake closes.
func (q *queue) wait() <-chan struct{} {
	if q.changed == nil {
		q.changed = make(chan struct{})
	}
	return q.changed
}

// wake lets long polls look again: a message may have become visible, or will do so earlier than they know.
func (q *queue) wake() {
	if q.changed != nil {
		close(q.changed)
		q.changed = nil
	}
}

func (q *queue) insert(m *message, now time.Time) {
	q.byID[m.id] = m
	if q.fifo {
		q.join(m)
	}
	q.place(m, now)
	q.wake()
}

func (q *queue) remove(m *message) {
	q.lift(m)
	q.land(m)
	delete(q.byID, m.id)
	if q.fifo {
		q.leave(m)
	}
	q.wake() // what it held back may come now: its group, or what is beyond the limit in flight
}

// place puts a message where its visibility says.
func (q *queue) place(m *message, now time.Time) {
	q.lift(m)
	if m.visible.After(now) {
		heap.Push(&q.hidden, m)
		return
	}
	q.land(m)
	if !q.fifo {
		heap.Push(&q.ready, m)
	}
}

func (q *queue) lift(m *message) {
	if m.in != nil {
		heap.Remove(m.in, m.index)
	}
}

func (q *queue) launch(m *message) {
	m.flying = true
	q.flying++
}

func (q *queue) land(m *message) {
	if !m.flying {
		return
	}
	m.flying = false
	q.flying--
}

// settle does what time has done since the last look.
func (q *queue) settle(now time.Time) {
	for q.hidden.Len() > 0 && !q.hidden.list[0].visible.After(now) {
		q.place(q.hidden.list[0], now)
	}
}

// next is when a hidden message becomes visible; zero: none is hidden.
func (q *queue) next() time.Time {
	if q.hidden.Len() == 0 {
		return time.Time{}
	}
	return q.hidden.list[0].visible
}

func (q *queue) expired(m *message, now time.Time) bool {
	return !m.sent.Add(q.seconds("MessageRetentionPeriod")).After(now)
}

// all lists what is left at a time, in the order of arrival; what is too old is dropped.
func (q *queue) all(now time.Time) []*message {
	q.settle(now)
	list := slices.SortedFunc(maps.Values(q.byID), func(a, b *message) int { return cmp.Compare(a.seq, b.seq) })
	return slices.DeleteFunc(list, func(m *message) bool {
		old := q.expired(m, now)
		if old {
			q.remove(m)
		}
		return old
	})
}

// counts are exact, which AWS's are not.
func (q *queue) counts(now time.Time) (visible, inFlight, delayed int) {
	n := len(q.all(now))
	return n - q.hidden.Len(), q.flying, q.hidden.Len() - q.flying
}
