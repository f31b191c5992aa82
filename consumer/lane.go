package consumer

import (
	"sync"
	"time"
)

// A lane holds messages that must not run beside each other: those of one group, in order, or copies of one key. Its head
// runs, the others wait; lanes run in parallel.
type lane struct {
	name  string
	queue []*held   // behind the head
	since time.Time // when the head started to be worked on
}

// lanes are the lanes of a run. Order lives here alone: neither sources nor stores know of it.
type lanes struct {
	mu  sync.Mutex
	all map[string]*lane
}

// laneWait is how long messages wait behind a head: longer ones would keep what the worker may hold from other lanes.
const laneWait = 10 * time.Second

// laneName: a group keeps its order. Without a group, copies of one key wait for each other, so that they meet in memory
// before they meet in the store.
func laneName(h *held) string {
	switch {
	case h.m.Group != "":
		return "group " + h.m.Group
	case h.refusal == nil:
		return "key " + h.key.StoreID()
	}
	return ""
}

// join puts a message into its lane. If it is the first, the caller works the returned lane; if the head has run for long, back
// is its time so far and the message is to be handed back.
func (ls *lanes) join(h *held, now time.Time) (work *lane, back time.Duration) {
	name := laneName(h)
	if name == "" {
		return &lane{since: now}, 0
	}
	ls.mu.Lock()
	defer ls.mu.Unlock()
	l := ls.all[name]
	if l == nil {
		l = &lane{name: name, since: now}
		ls.all[name] = l
		return l, 0
	}
	if ran := now.Sub(l.since); ran >= laneWait {
		return nil, ran
	}
	l.queue = append(l.queue, h)
	return nil, 0
}

// next gives the message that becomes the head, or nil: the lane is then gone.
func (ls *lanes) next(l *lane, now time.Time) *held {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	if len(l.queue) == 0 {
		if l.name != "" {
			delete(ls.all, l.name)
		}
		return nil
	}
	h := l.queue[0]
	l.queue = l.queue[1:]
	l.since = now
	return h
}

// rest takes all that waits behind the head, in order.
func (ls *lanes) rest(l *lane) []*held {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	rest := l.queue
	l.queue = nil
	return rest
}
