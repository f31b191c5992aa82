package storetest

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/claimonce/claimonce/dedupe"
)

// A probe runs one rule and records what is wrong, so that one body serves a test and a program.
type probe struct {
	ctx context.Context //nolint:containedctx // of the rule, as a test has one
	rig Rig

	mu    sync.Mutex
	found []string
}

// stopped is what a rule panics with that cannot go on.
type stopped struct{}

// errorf may be called from any goroutine. Few problems say as much as many.
func (p *probe) errorf(format string, args ...any) {
	const enough = 10
	p.mu.Lock()
	defer p.mu.Unlock()
	switch len(p.found) {
	case enough:
		p.found = append(p.found, "… and more")
	case enough + 1:
	default:
		p.found = append(p.found, fmt.Sprintf(format, args...))
	}
}

// fatalf ends the rule; only from the rule's own goroutine.
func (p *probe) fatalf(format string, args ...any) {
	p.errorf(format, args...)
	panic(stopped{})
}

func (p *probe) problems() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.found
}

// A handle is a store with what rules do with it.
type handle struct {
	dedupe.Store

	p *probe
}

func (p *probe) open() handle {
	s, err := p.rig.Open()
	if err != nil || s == nil {
		p.fatalf("Open: got store %v and error %v, want a store", s, err)
	}
	return handle{s, p}
}

// handles are several workers' handles on the same data.
func (p *probe) handles(n int) []handle {
	all := make([]handle, n)
	for i := range all {
		all[i] = p.open()
	}
	return all
}

// swap ends the rule on any error.
func (h handle) swap(expect dedupe.Expect, next dedupe.Record) {
	if _, err := h.Swap(h.p.ctx, next.Key, expect, next); err != nil {
		h.p.fatalf("Swap %s, expecting %s: got error %q, want success", next.Key, expectation(expect), err)
	}
}

func (h handle) load(key dedupe.Key) dedupe.Record {
	rec, err := h.Load(h.p.ctx, key)
	if err != nil {
		h.p.fatalf("Load %s: got error %q, want a record", key, err)
	}
	return rec
}

// stored compares what is stored under want's key.
func (h handle) stored(what string, key dedupe.Key, want dedupe.Record) {
	if d := diff(h.load(key), want); d != "" {
		h.p.errorf("%s: Load differs from what was written: %s", what, d)
	}
}

// conflict swaps and wants a refusal that shows want.
func (h handle) conflict(what string, expect dedupe.Expect, next, want dedupe.Record) {
	current, err := h.Swap(h.p.ctx, next.Key, expect, next)
	if !errors.Is(err, dedupe.ErrConflict) {
		h.p.errorf("%s: Swap expecting %s: got error %v, want one that wraps ErrConflict", what, expectation(expect), err)
		return
	}
	if d := diff(current, want); d != "" {
		h.p.errorf("%s: the conflict does not show what is stored: %s", what, d)
	}
}

func expectation(e dedupe.Expect) string {
	if revision, ok := e.Revision(); ok {
		return fmt.Sprintf("revision %q", revision)
	}
	return "absence at " + time.Unix(e.ExpiredBy(), 0).UTC().Format(time.RFC3339)
}

// newKey is a key that no rule had before, on any run.
func newKey() dedupe.Key {
	return dedupe.Key{Tenant: "acme", Operation: "refund", ID: "storetest-" + rand.Text()}
}

func newRevision() string { return rand.Text() }

// in gives random numbers below n, for choices that nobody guards.
func in(n int) int {
	var b [4]byte
	_, _ = rand.Read(b[:])                                                                         // never fails: see its documentation
	return int((uint64(b[0])<<24 | uint64(b[1])<<16 | uint64(b[2])<<8 | uint64(b[3])) % uint64(n)) //nolint:gosec // n is a small positive number
}
