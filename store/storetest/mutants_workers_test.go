package storetest_test

import (
	"context"
	"errors"

	"github.com/claimonce/claimonce/dedupe"
	"github.com/claimonce/claimonce/store/memory"
)

func workerMutants() map[string]breakage {
	nonAtomic := breakage{
		rules: []string{"one winner of a claim", "one winner at a revision", "one winner of an expired key", "linearizable"},
		make: func() func() (dedupe.Store, error) {
			b := newBare()
			b.yield = meeting()
			return shared(b)
		},
	}
	return map[string]breakage{
		"test, then write": nonAtomic,
		"reads are eventually consistent": {rules: []string{"strong read", "linearizable"}, make: func() func() (dedupe.Store, error) {
			s := memory.New()
			return func() (dedupe.Store, error) { return &lagging{Store: s, old: map[dedupe.Key]dedupe.Record{}}, nil }
		}},
		"conflicts are eventually consistent": {rules: []string{"strong read"}, make: func() func() (dedupe.Store, error) {
			s := memory.New()
			return func() (dedupe.Store, error) {
				return &lagging{Store: s, old: map[dedupe.Key]dedupe.Record{}, conflicts: true}, nil
			}
		}},
		"writes fail": broken("linearizable", func(m *mutant) {
			m.swap = func(ctx context.Context, key dedupe.Key, expect dedupe.Expect, next dedupe.Record) (dedupe.Record, error) {
				if revision, ok := expect.Revision(); ok {
					return dedupe.Record{}, errors.New("cannot compare " + revision)
				}
				return m.Store.Swap(ctx, key, expect, next)
			}
		}),
		"writes that were given up land whatever is there": {rules: []string{"linearizable"}, make: func() func() (dedupe.Store, error) {
			return shared(&lossy{Store: memory.New(), forced: true})
		}},
		"losers are shown nothing of the winner's": answering("one winner of a claim", func(current dedupe.Record, err error, _ dedupe.Record) (dedupe.Record, error) {
			if err != nil {
				current.Owner = ""
			}
			return current, err
		}),
		"nobody wins": broken("one winner of a claim", func(m *mutant) {
			m.swap = func(ctx context.Context, key dedupe.Key, expect dedupe.Expect, next dedupe.Record) (dedupe.Record, error) {
				current, err := m.Store.Swap(ctx, key, expect, next)
				if err == nil {
					return dedupe.Record{}, errors.New("transaction conflict")
				}
				return current, err
			}
		}),
	}
}
