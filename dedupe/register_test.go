package dedupe_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/claimonce/claimonce/dedupe"
)

// register is what a store must be and no more: a compare-and-swap map.
type register struct {
	mu      sync.Mutex
	records map[string]dedupe.Record
	swaps   int
	loads   int
}

func newRegister() *register { return &register{records: map[string]dedupe.Record{}} }

func (r *register) Load(_ context.Context, key dedupe.Key) (dedupe.Record, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.loads++
	return r.records[key.StoreID()].Clone(), nil
}

func (r *register) Swap(_ context.Context, key dedupe.Key, expect dedupe.Expect, next dedupe.Record) (dedupe.Record, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.swaps++
	stored := r.records[key.StoreID()]
	if !expect.Met(stored) {
		return stored.Clone(), dedupe.ErrConflict
	}
	r.records[key.StoreID()] = next.Clone()
	return next.Clone(), nil
}

func (r *register) get(key dedupe.Key) dedupe.Record {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.records[key.StoreID()].Clone()
}

func (r *register) put(rec dedupe.Record) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.records[rec.Key.StoreID()] = rec.Clone()
}

// calls gives the numbers of calls since the last question.
func (r *register) calls() (loads, swaps int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	loads, swaps = r.loads, r.swaps
	r.loads, r.swaps = 0, 0
	return loads, swaps
}

// errStore is what a failed call says: it may or may not have landed.
var errStore = errors.New("connection reset")

// A fault is what happens to one write on its way.
type fault uint8

const (
	noFault      fault = iota
	loseAnswer         // lands, but its answer is lost
	neverArrives       // is lost on its way
	delayed            // is given up by the caller, and lands later: see line.arrive
	tooLarge           // is refused for good
	repeatedSDK        // lands; the client repeats it by itself, and reports the conflict with its own first try
	hangs              // waits for the end of the caller's context, and never lands
)

// A line is one worker's way to a register. Writes meet the queued faults in order, then whatever the line is set to.
type line struct {
	*register

	mu     sync.Mutex
	queue  []fault
	always fault
	slow   time.Duration // the next answer comes that late
	late   []func() error
	skew   time.Duration            // what the line says of the clock; 0: nothing
	before func(next dedupe.Record) // each write
}

func (l *line) fail(faults ...fault) {
	l.mu.Lock()
	l.queue = append(l.queue, faults...)
	l.mu.Unlock()
}
func (l *line) set(f fault) { l.mu.Lock(); l.queue, l.always = nil, f; l.mu.Unlock() }

func (l *line) next() (fault, time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	slow := l.slow
	l.slow = 0
	if len(l.queue) == 0 {
		return l.always, slow
	}
	f := l.queue[0]
	l.queue = l.queue[1:]
	return f, slow
}

func (l *line) down() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.always == neverArrives || l.always == hangs
}

// ClockSkew implements [dedupe.SkewMeter].
func (l *line) ClockSkew() (time.Duration, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.skew, l.skew != 0
}

func (l *line) Load(ctx context.Context, key dedupe.Key) (dedupe.Record, error) {
	if l.down() {
		return dedupe.Record{}, errStore
	}
	return l.register.Load(ctx, key)
}

func (l *line) Swap(ctx context.Context, key dedupe.Key, expect dedupe.Expect, next dedupe.Record) (dedupe.Record, error) {
	if err := ctx.Err(); err != nil {
		return dedupe.Record{}, err
	}
	if l.before != nil {
		l.before(next)
	}
	f, slow := l.next()
	current, err := l.swap(ctx, f, key, expect, next)
	if slow > 0 {
		time.Sleep(slow) // a late answer
	}
	return current, err
}

func (l *line) swap(ctx context.Context, f fault, key dedupe.Key, expect dedupe.Expect, next dedupe.Record) (dedupe.Record, error) {
	switch f {
	case neverArrives:
		return dedupe.Record{}, errStore
	case tooLarge:
		return dedupe.Record{}, dedupe.ErrTooLarge
	case hangs:
		<-ctx.Done()
		return dedupe.Record{}, ctx.Err()
	case delayed:
		l.mu.Lock()
		l.late = append(l.late, func() error {
			_, err := l.register.Swap(context.WithoutCancel(ctx), key, expect, next)
			return err
		})
		l.mu.Unlock()
		return dedupe.Record{}, errStore
	}
	current, err := l.register.Swap(ctx, key, expect, next)
	switch {
	case f == loseAnswer:
		return dedupe.Record{}, errStore
	case f == repeatedSDK && err == nil:
		return l.register.Swap(ctx, key, expect, next)
	}
	return current, err
}

// arrive lets the delayed writes land, if they still can.
func (l *line) arrive() []error {
	l.mu.Lock()
	late := l.late
	l.late = nil
	l.mu.Unlock()
	var errs []error
	for _, write := range late {
		errs = append(errs, write())
	}
	return errs
}

func newLedger(t testing.TB, s dedupe.Store, cfg dedupe.Config) *dedupe.Ledger {
	t.Helper()
	l, err := dedupe.NewLedger(s, cfg)
	if err != nil {
		t.Fatal(err)
	}
	return l
}
