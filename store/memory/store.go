// Package memory is the reference [dedupe.Store]: the smallest that keeps the contract. It is for tests, for users' tests and for
// trying things out; what it holds is gone when the process ends.
package memory

import (
	"context"
	"fmt"
	"iter"
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
	rec := s.records[key.StoreID()]
	if rec.Schema > dedupe.SchemaVersion {
		return dedupe.Record{}, fmt.Errorf("memory: load: %w", dedupe.ErrNewerSchema)
	}
	return rec.Clone(), nil
}

// Swap implements [dedupe.Store].
func (s *Store) Swap(ctx context.Context, key dedupe.Key, expect dedupe.Expect, next dedupe.Record) (dedupe.Record, error) {
	if err := ctx.Err(); err != nil {
		return dedupe.Record{}, fmt.Errorf("memory: swap: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	id := key.StoreID()
	stored := s.records[id]
	switch {
	case expect.Met(stored):
		s.records[id] = next.Clone()
		return next.Clone(), nil
	case stored.Schema > dedupe.SchemaVersion:
		return dedupe.Record{}, fmt.Errorf("memory: swap: %w", dedupe.ErrNewerSchema)
	}
	return stored.Clone(), fmt.Errorf("memory: swap: %w", dedupe.ErrConflict)
}

// All gives every record, expired ones too, in the order of their ids, as they are when it is called.
func (s *Store) All() iter.Seq[dedupe.Record] {
	s.mu.Lock()
	defer s.mu.Unlock()
	ids := make([]string, 0, len(s.records))
	for id := range s.records {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	all := make([]dedupe.Record, 0, len(ids))
	for _, id := range ids {
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
