package consumer

import (
	"fmt"
	"sync"
	"time"
)

// PendingGroups says what a group does whose head's outcome is unknown.
type PendingGroups uint8

const (
	// PendingBlock hands the head back until its outcome is settled, at most for PendingBound: what is behind it waits, and the
	// group keeps its order. The default.
	PendingBlock PendingGroups = iota
	// PendingSkip dead-letters the head at once with the reason outcome_pending, so that its group goes on. Its record is on the list of
	// those that need attention, so nothing is lost, but what was behind it in its group runs before it is settled, and so
	// perhaps before it has taken effect.
	PendingSkip
)

// String gives the choice's name as documented.
func (p PendingGroups) String() string {
	switch p {
	case PendingBlock:
		return "block"
	case PendingSkip:
		return "skip"
	}
	return fmt.Sprintf("PendingGroups(%d)", uint8(p))
}

// groups remembers the groups whose head was handed back and is not done yet, as this worker knows it.
type groups struct {
	mu  sync.Mutex
	all map[string]waiting
}

type waiting struct {
	head  string    // the message's id
	since time.Time // when a head of this group was first handed back
	at    time.Time // when this one was
	due   time.Time // when it comes again
}

const (
	// groupMemory: a head that has not come for so long since it was due is another worker's by now, or gone.
	groupMemory = 10 * time.Minute
	// maxGroups bounds the memory: a queue can have as many groups as messages.
	maxGroups = 10_000
)

// handedBack is called before the group's lane is left: see early.
func (g *groups) handedBack(m *Message, delay time.Duration, now time.Time) {
	if m.Group == "" {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	w, known := g.all[m.Group]
	if !known || w.head != m.ID {
		w.since = now
	}
	w.head, w.at, w.due = m.ID, now, now.Add(delay)
	if g.all == nil {
		g.all = map[string]waiting{}
	}
	if !known && len(g.all) >= maxGroups {
		g.makeRoomLocked(now)
	}
	g.all[m.Group] = w
}

// makeRoomLocked forgets what is old, else any: the newest must be known, since they are what can be overtaken.
func (g *groups) makeRoomLocked(now time.Time) {
	g.forgetLocked(now)
	for name := range g.all {
		if len(g.all) < maxGroups {
			return
		}
		delete(g.all, name)
	}
}

func (g *groups) forgetLocked(now time.Time) {
	for name, w := range g.all {
		if now.Sub(w.due) > groupMemory {
			delete(g.all, name)
		}
	}
}

// started: if another message is the group's head now, the one before it was done elsewhere.
func (g *groups) started(m *Message) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if w, ok := g.all[m.Group]; ok && w.head != m.ID {
		delete(g.all, m.Group)
	}
}

func (g *groups) done(group string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.all, group)
}

// early says that a message came although the head of its group was handed back after this receive had begun: the source may have
// given it out while that head was still held. It then goes back too, for as long as the head stays away. A source that was asked after
// the hand-back is trusted to keep the order, and another worker may have done the head by then.
func (g *groups) early(m *Message, asked, now time.Time) (wait time.Duration, early bool) {
	if m.Group == "" || m.ID == "" {
		return 0, false
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	w, ok := g.all[m.Group]
	if !ok || w.head == m.ID || w.at.Before(asked) {
		return 0, false
	}
	return max(w.due.Sub(now), 0), true
}

// blocked counts them, and says since when the oldest waits.
func (g *groups) blocked(now time.Time) (n int, since time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.forgetLocked(now)
	for _, w := range g.all {
		if since.IsZero() || w.since.Before(since) {
			since = w.since
		}
	}
	return len(g.all), since
}

// handBacks are messages that go back together, in order.
type handBacks struct {
	all  []*held
	wait time.Duration
}

// add: of several groups the longest wait counts.
func (b *handBacks) add(h *held, wait time.Duration) {
	b.all, b.wait = append(b.all, h), max(b.wait, wait)
}
