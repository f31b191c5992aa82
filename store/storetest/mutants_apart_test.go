package storetest_test

import (
	"bytes"
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/claimonce/claimonce/dedupe"
	"github.com/claimonce/claimonce/store/memory"
	"github.com/claimonce/claimonce/store/storetest"
)

// divided keeps large bodies apart, by the id of the record alone: several rules would notice.
type divided struct {
	*memory.Store

	missing func(res *dedupe.Result) // what is made of a result whose body is gone

	mu     sync.Mutex
	bodies map[string][]byte
}

func newDivided(missing func(res *dedupe.Result)) *divided {
	return &divided{Store: memory.New(), missing: missing, bodies: map[string][]byte{}}
}

func (d *divided) whole(rec dedupe.Record) dedupe.Record {
	d.mu.Lock()
	defer d.mu.Unlock()
	if rec.Result == nil || rec.Result.Omitted != "apart" {
		return rec
	}
	rec.Result.Omitted = ""
	if body, ok := d.bodies[rec.Key.StoreID()]; ok {
		rec.Result.Body = bytes.Clone(body)
	} else {
		d.missing(rec.Result)
	}
	return rec
}

func (d *divided) Load(ctx context.Context, key dedupe.Key) (dedupe.Record, error) {
	rec, err := d.Store.Load(ctx, key)
	return d.whole(rec), err
}

func (d *divided) Swap(ctx context.Context, key dedupe.Key, expect dedupe.Expect, next dedupe.Record) (dedupe.Record, error) {
	next = next.Clone()
	var body []byte
	if next.Result != nil && len(next.Result.Body) > 1024 {
		body, next.Result.Body, next.Result.Omitted = next.Result.Body, nil, "apart"
	}
	current, err := d.Store.Swap(ctx, key, expect, next)
	if err == nil && body != nil {
		d.mu.Lock()
		d.bodies[key.StoreID()] = body
		d.mu.Unlock()
	}
	return d.whole(current), err
}

func (d *divided) drop(_ context.Context, key dedupe.Key) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, ok := d.bodies[key.StoreID()]; !ok {
		return errors.New("no body is kept apart")
	}
	delete(d.bodies, key.StoreID())
	return nil
}

func TestUnavailableResults(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		missing func(res *dedupe.Result)
		kept    bool
	}{
		"marked":                   {func(res *dedupe.Result) { res.Unavailable = true }, true},
		"an empty body":            {func(res *dedupe.Result) { res.Body = []byte{} }, false},
		"an empty body, marked":    {func(res *dedupe.Result) { res.Body, res.Unavailable = []byte{}, true }, false},
		"no body":                  {func(*dedupe.Result) {}, false},
		"said to be too large":     {func(res *dedupe.Result) { res.Omitted = dedupe.OmittedTooLarge }, false},
		"marked, and nothing else": {func(res *dedupe.Result) { *res = dedupe.Result{Unavailable: true} }, true},
	} {
		d := newDivided(c.missing)
		err := ruleNamed(t, "unavailable results").Check(t.Context(), storetest.Rig{Open: shared(d), DropResult: d.drop})
		if (err == nil) != c.kept {
			t.Errorf("%s: got %v, want the rule kept: %v", name, err, c.kept)
		}
	}
	s := memory.New()
	drop := newDivided(nil).drop
	if err := ruleNamed(t, "unavailable results").Check(t.Context(), storetest.Rig{Open: shared(s), DropResult: drop}); err == nil {
		t.Error("the rule is kept where nothing could be removed, want it broken")
	}
}

func goroutineMutants() map[string]breakage {
	return map[string]breakage{
		"a goroutine for each swap": broken("goroutines", func(m *mutant) {
			m.swap = func(ctx context.Context, key dedupe.Key, expect dedupe.Expect, next dedupe.Record) (dedupe.Record, error) {
				go func() { <-make(chan int) }() // for good
				return m.Store.Swap(ctx, key, expect, next)
			}
		}),
		"a goroutine for each load": broken("goroutines", func(m *mutant) {
			m.load = func(ctx context.Context, key dedupe.Key) (dedupe.Record, error) {
				go func() { <-make(chan int) }()
				return m.Store.Load(ctx, key)
			}
		}),
	}
}
