package consumer

import (
	"errors"
	"sync"
	"time"

	"github.com/claimonce/claimonce/dedupe"
)

// A lane holds messages that must not run beside each other: those of one group, in order, or copies of one key. Its head
// runs, the others wait; lanes run in parallel.
type lane struct {
	name   string
	queue  []*held       // behind the head
	since  time.Time     // when the head started to be worked on
	joined chan struct{} // has a token if the queue grew
}

func newLane(name string, now time.Time) *lane {
	return &lane{name: name, since: now, joined: make(chan struct{}, 1)}
}

// lanes are the lanes of a run. Order lives here alone: neither sources nor stores know of it.
type lanes struct {
	mu     sync.Mutex
	all    map[string]*lane
	groups *groups
}

// laneWait is how long messages wait behind a head: longer ones would keep what the worker may hold from other lanes.
const laneWait = 10 * time.Second

// laneName: a group keeps its order. Without a group, copies of one key wait for each other, so that they meet in memory
// before they meet in the store.
func laneName(h *held) string {
	switch {
	case h.m.Group != "":
		return "group " + h.m.Group
	case h.refusal == nil && !h.alike:
		return "key " + h.key.StoreID()
	}
	return ""
}

// join puts a message into its lane. If it is the first, the caller is to work the lane that is returned. early: it did not join,
// and is to go back after wait.
func (ls *lanes) join(h *held, asked, now time.Time) (l *lane, wait time.Duration, early bool) {
	name := laneName(h)
	if name == "" {
		return newLane("", now), 0, false
	}
	ls.mu.Lock()
	defer ls.mu.Unlock()
	h.asked = asked
	l = ls.all[name]
	if l == nil {
		if wait, early = ls.groups.early(h.m, asked, now); early {
			return nil, wait, true
		}
		l = newLane(name, now)
		ls.all[name] = l
		return l, 0, false
	}
	l.queue = append(l.queue, h)
	select {
	case l.joined <- struct{}{}:
	default:
	}
	return nil, 0, false
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

// overdue takes all that waits behind a head that has run for long, in order, and says for how long. Time before the store answered
// (opened) is not the head's.
func (ls *lanes) overdue(l *lane, opened, now time.Time) (rest []*held, ran time.Duration) {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	since := l.since
	if opened.After(since) {
		since = opened
	}
	if ran = now.Sub(since); ran >= laneWait {
		rest, l.queue = l.queue, nil
	}
	return rest, ran
}

// rest takes all that waits behind the head, in order.
func (ls *lanes) rest(l *lane) []*held {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	rest := l.queue
	l.queue = nil
	return rest
}

// workLane works a lane until it is empty. When the head goes back, so does all behind it, in order and not before the
// head: a later message of a group must not overtake it, and a copy of a failed one must not run before its delay.
func (r *run) workLane(l *lane, h *held) {
	for ; h != nil; h = r.lanes.next(l, time.Now()) {
		if wait, early := r.lanes.groups.early(h.m, h.asked, time.Now()); early {
			r.handBack([]*held{h}, wait, 0) // it joined after the head had failed and before the lane was left
			continue
		}
		r.lanes.groups.started(h.m)
		d := r.dispose(h, r.workHead(l, h))
		if d.disposition != Nacked && d.disposition != Left {
			r.lanes.groups.done(h.m.Group)
			continue
		}
		wait := r.behind(h, d)
		if r.stop.Err() == nil { // a worker that stops hands back what it could run
			r.lanes.groups.handedBack(h.m, wait, time.Now())
		}
		r.handBack(r.lanes.rest(l), wait, 0)
	}
}

// behind is how long what waits behind a head stays away: no shorter than the head, whatever the source does with a group's order. One
// that was left alone, or could not be handed back, comes when its visibility ends.
func (r *run) behind(h *held, d decision) time.Duration {
	ext, ok := r.c.source.(Extender)
	switch {
	case !ok || h.m.Group == "", d.disposition == Nacked && d.refused == nil:
		return d.delay
	case h.isLost() || errors.Is(d.refused, ErrNotHeld): // its visibility has ended
		return d.delay
	}
	return max(d.delay, ext.Visibility())
}

// workHead works the head, and meanwhile hands back what waits behind it for long. Both are done by one goroutine for each
// lane, so that nothing of the lane starts or is handed back before what is ahead of it.
func (r *run) workHead(l *lane, h *held) decision {
	done := make(chan decision, 1)
	go func() { done <- r.turn(h) }()
	tick := time.NewTicker(laneWait)
	defer tick.Stop()
	for {
		select {
		case d := <-done:
			return d
		case <-tick.C:
		case <-l.joined:
		}
		// While the store is out nothing is handed back: it would burn receive counts.
		// Nor where claims are only observed: what waits is to run on this delivery.
		if !r.gate.isShut() && !r.c.observesOnly() {
			rest, ran := r.lanes.overdue(l, r.gate.openedAt(), time.Now())
			outcome := dedupe.Outcome(0)
			if h.m.Group == "" {
				outcome = dedupe.OutcomeBusy // a copy of what runs: what the claim would say too
			}
			r.handBack(rest, busyDelay(0, ran), outcome)
		}
	}
}

// handBack hands messages back in order. Behind one that could not be handed back the others stay away as long as it does. outcome: 0 where
// no claim was made, and nothing is known of what one would say.
func (r *run) handBack(rest []*held, delay time.Duration, outcome dedupe.Outcome) {
	for _, h := range rest {
		d := r.dispose(h, decision{disposition: Nacked, outcome: outcome, behind: outcome == 0, delay: delay})
		delay = max(delay, r.behind(h, d))
	}
}
