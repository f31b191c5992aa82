package ddbd

import (
	"time"

	"github.com/claimonce/claimonce/awstest/internal/ddbd/attr"
)

// change remembers what a write replaced, so that a stale read can undo it.
type change struct {
	at  time.Time
	key rowKey
	old attr.Item
}

// record notes a write for stale reads and forgets what is too old for any.
func (t *table) record(k rowKey, old attr.Item, lag time.Duration) {
	if lag <= 0 {
		t.journal = nil
		return
	}
	now := time.Now()
	keep := 0
	for keep < len(t.journal) && now.Sub(t.journal[keep].at) > lag {
		keep++
	}
	t.journal = append(t.journal[keep:], change{now, k, old})
}

// staleItem is the item as it was when the lag began.
func (t *table) staleItem(k rowKey, lag time.Duration) attr.Item {
	since := time.Now().Add(-lag)
	for _, c := range t.journal {
		if c.at.After(since) && c.key == k {
			return c.old
		}
	}
	return t.rows.get(k)
}

// staleCopy is the whole table as it was when the lag began; the table itself while
// nothing was written since.
func (t *table) staleCopy(lag time.Duration) *table {
	since := time.Now().Add(-lag)
	first := len(t.journal)
	for first > 0 && t.journal[first-1].at.After(since) {
		first--
	}
	if lag <= 0 || first == len(t.journal) {
		return t
	}
	past := *t
	for i, bucket := range t.rows.buckets {
		past.rows.buckets[i] = append([]row(nil), bucket...)
	}
	for i := len(t.journal) - 1; i >= first; i-- {
		past.rows.put(t.journal[i].key, t.journal[i].old)
	}
	past.indexes = make([]*index, len(t.indexes))
	for i, x := range t.indexes {
		copied := &index{name: x.name, keys: x.keys, projection: x.projection}
		copied.fill(&past)
		past.indexes[i] = copied
	}
	return &past
}

// fill builds the index from the table's items.
func (x *index) fill(t *table) {
	for r := range t.rows.from(rowKey{}) {
		x.replace(t, nil, r.item)
	}
}
