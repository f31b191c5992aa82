package storetest_test

import (
	"context"
	"errors"
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

func raceMutants() map[string]breakage {
	return map[string]breakage{
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
