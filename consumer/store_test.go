package consumer_test

import (
	"context"
	"sync"
	"time"

	"github.com/claimonce/claimonce/dedupe"
)

// register is a store whose calls can be made to fail by script: before they do anything, or after, so that the answer is lost.
type register struct {
	journal *journal

	asking sync.Mutex // held while a script is asked
	mu     sync.Mutex
	recs   map[string]dedupe.Record
	calls  map[string]int // of a key's id
	total  int
	before func(call, id string, next dedupe.Record) error
	after  func(call, id string, next dedupe.Record) error
	takes  time.Duration
	check  error
}

func newRegister() *register {
	return &register{journal: &journal{}, recs: map[string]dedupe.Record{}, calls: map[string]int{}}
}

func (s *register) Check(context.Context) error { return s.check }

// fail makes every call fail while it is not nil.
func (s *register) fail(err error) {
	s.script(func(string, string, dedupe.Record) error { return err }, nil)
}

func (s *register) script(before, after func(call, id string, next dedupe.Record) error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.before, s.after = before, after
}

func (s *register) Load(ctx context.Context, key dedupe.Key) (dedupe.Record, error) {
	if err := s.ask(ctx, "load", key, dedupe.Record{}); err != nil {
		return dedupe.Record{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.recs[key.StoreID()].Clone(), nil
}

func (s *register) Swap(ctx context.Context, key dedupe.Key, expect dedupe.Expect, next dedupe.Record) (dedupe.Record, error) {
	call := "swap " + next.State.String()
	if err := s.ask(ctx, call, key, next); err != nil {
		return dedupe.Record{}, err
	}
	s.mu.Lock()
	stored, after := s.recs[key.StoreID()], s.after
	ok := expect.Met(stored)
	if ok {
		s.recs[key.StoreID()] = next.Clone()
		s.journal.add("store %s %s", next.State, key.ID)
	}
	s.mu.Unlock()
	if after != nil {
		s.asking.Lock()
		err := after(call, key.ID, next)
		s.asking.Unlock()
		if err != nil {
			return dedupe.Record{}, err
		}
	}
	if !ok {
		return stored.Clone(), dedupe.ErrConflict
	}
	return next, nil
}

func (s *register) ask(ctx context.Context, call string, key dedupe.Key, next dedupe.Record) error {
	s.mu.Lock()
	s.calls[key.ID]++
	s.total++
	before, takes := s.before, s.takes
	s.mu.Unlock()
	if takes > 0 {
		select {
		case <-time.After(takes):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if before != nil {
		s.asking.Lock()
		err := before(call, key.ID, next)
		s.asking.Unlock()
		if err != nil {
			return err
		}
	}
	return ctx.Err()
}

func (s *register) put(rec dedupe.Record) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.recs[rec.Key.StoreID()] = rec
}

func (s *register) record(key dedupe.Key) dedupe.Record {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.recs[key.StoreID()].Clone()
}

func (s *register) callsFor(id string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.calls[id]
}

// asked is how many calls were made, counted while workers go on.
func (s *register) asked() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.total
}
