package storetest_test

import (
	"context"
	"errors"
	"hash/crc32"
	"maps"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/claimonce/claimonce/dedupe"
	"github.com/claimonce/claimonce/store/storetest"
)

// hasty tests what it has read and writes afterwards, with nothing that blocks between.
type hasty struct {
	read  func(id string) dedupe.Record
	write func(id string, rec dedupe.Record)
}

func (h hasty) Load(ctx context.Context, key dedupe.Key) (dedupe.Record, error) {
	if err := ctx.Err(); err != nil {
		return dedupe.Record{}, err
	}
	return h.read(key.StoreID()), nil
}

func (h hasty) Swap(ctx context.Context, key dedupe.Key, expect dedupe.Expect, next dedupe.Record) (dedupe.Record, error) {
	stored, err := h.Load(ctx, key)
	switch {
	case err != nil:
		return stored, err
	case key != next.Key:
		return dedupe.Record{}, errors.New("record of another key")
	case !expect.Met(stored):
		return stored, dedupe.ErrConflict
	}
	h.write(key.StoreID(), next.Clone())
	return next, nil
}

// lockedTwice is right in its reads and in its writes.
func lockedTwice() dedupe.Store {
	var mu sync.Mutex
	records := map[string]dedupe.Record{}
	return hasty{
		read: func(id string) dedupe.Record {
			mu.Lock()
			defer mu.Unlock()
			return records[id].Clone()
		},
		write: func(id string, rec dedupe.Record) {
			mu.Lock()
			defer mu.Unlock()
			records[id] = rec
		},
	}
}

// paged keeps the records of some keys in one page. It is right for each key, but of one page the last one to write wins.
type paged struct {
	locks [64]sync.Mutex // of keys
	mu    sync.Mutex
	pages [4]map[string]dedupe.Record
}

func (p *paged) read(id string) map[string]dedupe.Record {
	p.mu.Lock()
	defer p.mu.Unlock()
	return maps.Clone(p.pages[sum(id)%4])
}

func (p *paged) Load(ctx context.Context, key dedupe.Key) (dedupe.Record, error) {
	if err := ctx.Err(); err != nil {
		return dedupe.Record{}, err
	}
	return p.read(key.StoreID())[key.StoreID()].Clone(), nil
}

func (p *paged) Swap(ctx context.Context, key dedupe.Key, expect dedupe.Expect, next dedupe.Record) (dedupe.Record, error) {
	id := key.StoreID()
	lock := &p.locks[sum(id)%64]
	lock.Lock()
	defer lock.Unlock()
	page := p.read(id)
	if stored := page[id].Clone(); !expect.Met(stored) {
		return stored, dedupe.ErrConflict
	}
	if page == nil {
		page = map[string]dedupe.Record{}
	}
	page[id] = next.Clone()
	runtime.Gosched() // as it waits for its disk
	p.mu.Lock()
	defer p.mu.Unlock()
	p.pages[sum(id)%4] = page
	return next, nil
}

func sum(id string) uint32 { return crc32.ChecksumIEEE([]byte(id)) }

func raceMutants() map[string]breakage {
	return map[string]breakage{
		"keys of one page lose each other's writes": {rules: []string{"many keys at a time"}, make: func() func() (dedupe.Store, error) {
			return shared(&paged{})
		}},
		"tests under one lock, writes under the next": {rules: races(), make: func() func() (dedupe.Store, error) {
			return shared(lockedTwice())
		}},
	}
}

func races() []string {
	return []string{"one winner of a claim", "one winner at a revision", "one winner of an expired key"}
}

// In a bubble no clock says how long to go on.
func TestRacesAreSeenInABubble(t *testing.T) {
	t.Parallel()
	for _, name := range races() {
		synctest.Test(t, func(t *testing.T) {
			if err := ruleNamed(t, name).Check(t.Context(), storetest.Rig{Open: raceMutants()["tests under one lock, writes under the next"].make()}); err == nil {
				t.Errorf("%s: the rule is kept, want it broken", name)
			}
		})
	}
}
