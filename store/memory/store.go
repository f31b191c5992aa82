package memory

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"sync"

	"github.com/claimonce/claimonce/dedupe"
)

// Store holds records in memory. It is safe for concurrent use.
type Store struct {
	mu      sync.Mutex
	records map[string]dedupe.Record
}

// New makes an empty store.
func New() *Store { return &Store{records: map[string]dedupe.Record{}} }

// Load implements [dedupe.Store].
func (s *Store) Load(ctx context.Context, key dedupe.Key) (dedupe.Record, error) {
	if err := ctx.Err(); err != nil {
		return dedupe.Record{}, fmt.Errorf("memory: load: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	stored := s.records[key.StoreID()]
	if stored.Schema > dedupe.SchemaVersion {
		return dedupe.Record{}, fmt.Errorf("memory: load: %w", dedupe.ErrNewerSchema)
	}
	return stored.Clone(), nil
}

// Swap implements [dedupe.Store].
func (s *Store) Swap(ctx context.Context, key dedupe.Key, expect dedupe.Expect, next dedupe.Record) (dedupe.Record, error) {
	if err := ctx.Err(); err != nil {
		return dedupe.Record{}, fmt.Errorf("memory: swap: %w", err)
	}
	if next.Key != key {
		return dedupe.Record{}, errors.New("memory: swap: the record has another key than the one to be written")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	stored := s.records[key.StoreID()]
	switch {
	case stored.Schema > dedupe.SchemaVersion:
		// Even where it has expired: what a newer release means by that is not known here.
		return dedupe.Record{}, fmt.Errorf("memory: swap: %w", dedupe.ErrNewerSchema)
	case !expect.Met(stored):
		return stored.Clone(), fmt.Errorf("memory: swap: %w", dedupe.ErrConflict)
	}
	s.records[key.StoreID()] = next.Clone()
	return next, nil
}

// All gives copies of every record, expired ones too, in the order of their ids, as they are when it is called.
func (s *Store) All() iter.Seq[dedupe.Record] {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make([]dedupe.Record, 0, len(s.records))
	for _, id := range slices.Sorted(maps.Keys(s.records)) {
		all = append(all, s.records[id].Clone())
	}
	return slices.Values(all)
}

// Delete removes a record, as the TTL of a database does.
func (s *Store) Delete(key dedupe.Key) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.records, key.StoreID())
}
