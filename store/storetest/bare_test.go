package storetest_test

import (
	"bytes"
	"context"
	"sync"

	"github.com/claimonce/claimonce/dedupe"
)

// parts are bodies that are kept apart.
type parts struct {
	mu     sync.Mutex
	bodies map[string][]byte
}

func newParts() *parts { return &parts{bodies: map[string][]byte{}} }

func (p *parts) set(name string, body []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.bodies[name] = bytes.Clone(body)
}

func (p *parts) join(rec dedupe.Record) dedupe.Record {
	p.mu.Lock()
	defer p.mu.Unlock()
	if body, ok := p.bodies[rec.Owner]; ok && rec.Result != nil {
		rec = rec.Clone()
		rec.Result.Body = bytes.Clone(body)
	}
	return rec
}

// bare is a store of references: it copies nothing but what it is told to.
type bare struct {
	mu      sync.Mutex
	records map[string]dedupe.Record
	id      func(dedupe.Key) string
	in, out func(dedupe.Record) dedupe.Record // how records are copied
	yield   func()                            // between test and write, where it is not nil
}

func newBare() *bare {
	return &bare{records: map[string]dedupe.Record{}, id: dedupe.Key.StoreID, in: dedupe.Record.Clone, out: dedupe.Record.Clone}
}

func (b *bare) Load(ctx context.Context, key dedupe.Key) (dedupe.Record, error) {
	if err := ctx.Err(); err != nil {
		return dedupe.Record{}, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.out(b.records[b.id(key)]), nil
}

func (b *bare) Swap(ctx context.Context, key dedupe.Key, expect dedupe.Expect, next dedupe.Record) (dedupe.Record, error) {
	if err := ctx.Err(); err != nil {
		return dedupe.Record{}, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	stored := b.records[b.id(key)]
	if !expect.Met(stored) {
		return b.out(stored), dedupe.ErrConflict
	}
	if b.yield != nil {
		b.mu.Unlock()
		b.yield()
		b.mu.Lock()
	}
	kept := b.in(next)
	b.records[b.id(key)] = kept
	return b.out(kept), nil
}

// bareOf breaks a bare store.
func bareOf(rule string, change func(*bare)) breakage {
	return breakage{rules: []string{rule}, make: func() func() (dedupe.Store, error) {
		b := newBare()
		change(b)
		return shared(b)
	}}
}
