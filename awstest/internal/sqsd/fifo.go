package sqsd

import (
	"cmp"
	"slices"
	"time"
)

// group is the messages of one MessageGroupId of a FIFO queue.
type group struct {
	list []*message // in the order of arrival
}

func (q *queue) join(m *message) {
	g := q.groups[m.group]
	if g == nil {
		g = &group{}
		q.groups[m.group] = g
	}
	g.list = append(g.list, m)
}

func (q *queue) leave(m *message) {
	g := q.groups[m.group]
	if i := slices.Index(g.list, m); i >= 0 {
		g.list = slices.Delete(g.list, i, i+1)
	}
	if len(g.list) == 0 {
		delete(q.groups, m.group)
	}
}

// open lists the groups of which a message can be handed out, the one whose first message is oldest first: nothing of a group is
// handed out past a message of it that is hidden.
// https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/using-messagegroupid-property.html
//
// The page can be read as if a first message that was handed back had to wait for those behind it that are still in flight. Answers
// recorded of SQS hand it out at once, which is also the harder case for a consumer.
func (q *queue) open(now time.Time) []*group {
	var out []*group
	for _, g := range q.groups {
		if !g.list[0].visible.After(now) {
			out = append(out, g)
		}
	}
	slices.SortFunc(out, func(a, b *group) int { return cmp.Compare(a.list[0].seq, b.list[0].seq) })
	return out
}

// dedupInterval is for how long a send is recognised, whatever became of its message.
// https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/using-messagededuplicationid-property.html
const dedupInterval = 5 * time.Minute

// recent remembers the sends of the last five minutes.
type recent struct {
	byKey map[string]sendRecord
	order []sendRecord // by time
}

type sendRecord struct {
	key string
	m   *message // id and sequence are read; it may be gone from the queue
	at  time.Time
}

func (r *recent) find(key string, now time.Time) *message {
	r.forget(now)
	return r.byKey[key].m
}

func (r *recent) add(key string, m *message, now time.Time) {
	if r.byKey == nil {
		r.byKey = map[string]sendRecord{}
	}
	rec := sendRecord{key, m, now}
	r.byKey[key] = rec
	r.order = append(r.order, rec)
}

func (r *recent) forget(now time.Time) {
	n := 0
	for n < len(r.order) && now.Sub(r.order[n].at) >= dedupInterval {
		delete(r.byKey, r.order[n].key)
		n++
	}
	r.order = slices.Delete(r.order, 0, n)
}

// dedupKey is what a send is recognised by: in the whole queue, or in its group if the queue says so.
func (q *queue) dedupKey(m *message) string {
	if q.attributes["DeduplicationScope"] == "messageGroup" {
		return m.group + " " + m.dedup // neither can contain a space
	}
	return m.dedup
}
