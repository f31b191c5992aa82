package storetest_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/claimonce/claimonce/dedupe"
	"github.com/claimonce/claimonce/store/memory"
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

func copyMutants() map[string]breakage {
	keepBody := func(rec dedupe.Record) dedupe.Record {
		c := rec.Clone()
		if rec.Result != nil {
			c.Result.Body = rec.Result.Body
		}
		return c
	}
	keepHeaders := func(rec dedupe.Record) dedupe.Record {
		c := rec.Clone()
		if rec.Result != nil {
			c.Result.Headers = rec.Result.Headers
		}
		return c
	}
	keepMarks := func(rec dedupe.Record) dedupe.Record {
		c := rec.Clone()
		c.Marks = rec.Marks
		return c
	}
	keepResult := func(rec dedupe.Record) dedupe.Record {
		c := rec.Clone()
		c.Result = rec.Result
		return c
	}
	list := map[string]breakage{}
	for what, keep := range map[string]func(dedupe.Record) dedupe.Record{
		"body": keepBody, "headers": keepHeaders, "marks": keepMarks, "result": keepResult,
	} {
		list["keeps the "+what+" that it is given"] = bareOf("copies what it is given", func(b *bare) { b.in = keep })
		list["keeps the "+what+" that it returns"] = bareOf("copies what it returns", func(b *bare) { b.out = keep })
	}
	return list
}

func idMutants() map[string]breakage {
	idOf := func(rule string, id func(k dedupe.Key) string) breakage {
		return bareOf(rule, func(b *bare) { b.id = id })
	}
	join := func(sep string) func(dedupe.Key) string {
		return func(k dedupe.Key) string { return k.Tenant + sep + k.Operation + sep + k.ID }
	}
	changed := func(change func(string) string) breakage {
		return idOf("ids", func(k dedupe.Key) string { return change(k.StoreID()) })
	}
	escape := strings.NewReplacer("/", "%2F") // and leaves % as it is
	short := func(s string, n int) string { return s[:min(len(s), n)] }
	list := map[string]breakage{
		"ids without a separator":   idOf("ids at random", join("")),
		"ids without the tenant":    idOf("ids", func(k dedupe.Key) string { return k.Operation + "\x00\x00" + k.ID }),
		"ids without the operation": idOf("ids", func(k dedupe.Key) string { return k.Tenant + "\x00\x00" + k.ID }),
		"ids of the operation's length": idOf("ids at random", func(k dedupe.Key) string {
			return strings.Repeat("x", len(k.Operation)) + k.Tenant + k.Operation + k.ID
		}),
		"ids with / escaped by half": idOf("ids", func(k dedupe.Key) string {
			return escape.Replace(k.Tenant) + "/" + escape.Replace(k.Operation) + "/" + escape.Replace(k.ID)
		}),
		"ids without case":        changed(strings.ToLower),
		"ids with blanks trimmed": changed(strings.TrimSpace),
		"ids that end at NUL":     changed(func(s string) string { s, _, _ = strings.Cut(s, "\x00"); return s }),
		"ids composed":            changed(func(s string) string { return strings.NewReplacer("e\u0301", "é", "a\u0301", "á").Replace(s) }),
		"ids of 255 bytes":        changed(func(s string) string { return short(s, 255) }),
		"tenants of 64 bytes":     idOf("ids", func(k dedupe.Key) string { k.Tenant = short(k.Tenant, 64); return k.StoreID() }),
		"no tenant is the default one": idOf("ids", func(k dedupe.Key) string {
			if k.Tenant == "" {
				k.Tenant = "default"
			}
			return k.StoreID()
		}),
		"ids made UTF-8": idOf("keys that are no UTF-8", func(k dedupe.Key) string { return strings.ToValidUTF8(k.StoreID(), "\ufffd") }),
		"no UTF-8 is another error": broken("keys that are no UTF-8", func(m *mutant) {
			m.swap = func(ctx context.Context, key dedupe.Key, expect dedupe.Expect, next dedupe.Record) (dedupe.Record, error) {
				if strings.ToValidUTF8(key.StoreID(), "") != key.StoreID() {
					return dedupe.Record{}, errors.New("invalid byte sequence")
				}
				return m.Store.Swap(ctx, key, expect, next)
			}
		}),
		"a record under any key": bareOf("key of another", func(*bare) {}),
	}
	for _, sep := range []string{"/", ":", "#", "|", ",", "\x00", "\x1f", "_", "-", "."} {
		list["ids joined by "+strings.ToValidUTF8(sep, "")] = idOf("ids", join(sep))
	}
	return list
}

func schemaMutants() map[string]breakage {
	return map[string]breakage{
		"a newer schema is read":        bareOf("newer schema is not read", func(*bare) {}),
		"a newer schema is overwritten": bareOf("newer schema is not overwritten", func(*bare) {}),
		"a newer schema is a conflict": answering("newer schema is not read", func(current dedupe.Record, err error, _ dedupe.Record) (dedupe.Record, error) {
			if errors.Is(err, dedupe.ErrNewerSchema) {
				err = errors.Join(err, dedupe.ErrConflict)
			}
			return current, err
		}),
		"a newer schema is absent": broken("newer schema is not read", func(m *mutant) {
			m.load = func(ctx context.Context, key dedupe.Key) (dedupe.Record, error) {
				rec, err := m.Store.Load(ctx, key)
				if errors.Is(err, dedupe.ErrNewerSchema) {
					err = nil
				}
				return rec, err
			}
		}),
		"an expired newer schema is replaced": broken("newer schema is not overwritten", func(m *mutant) {
			m.swap = func(ctx context.Context, key dedupe.Key, expect dedupe.Expect, next dedupe.Record) (dedupe.Record, error) {
				_, err := m.Store.Load(ctx, key)
				if _, ok := expect.Revision(); errors.Is(err, dedupe.ErrNewerSchema) && !ok && expect.ExpiredBy() > time.Now().Unix() {
					m.Delete(key)
				}
				return m.Store.Swap(ctx, key, expect, next)
			}
		}),
	}
}

func contextMutants() map[string]breakage {
	return map[string]breakage{
		"contexts are ignored": broken("ended context", func(m *mutant) {
			m.load = func(ctx context.Context, key dedupe.Key) (dedupe.Record, error) {
				return m.Store.Load(context.WithoutCancel(ctx), key)
			}
			m.swap = func(ctx context.Context, key dedupe.Key, expect dedupe.Expect, next dedupe.Record) (dedupe.Record, error) {
				return m.Store.Swap(context.WithoutCancel(ctx), key, expect, next)
			}
		}),
		"an ended context has no cause": answering("ended context", func(current dedupe.Record, err error, _ dedupe.Record) (dedupe.Record, error) {
			if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
				err = errors.New("request failed")
			}
			return current, err
		}),
		"an ended context writes all the same": broken("ended context", func(m *mutant) {
			m.swap = func(ctx context.Context, key dedupe.Key, expect dedupe.Expect, next dedupe.Record) (dedupe.Record, error) {
				current, err := m.Store.Swap(context.WithoutCancel(ctx), key, expect, next)
				if ctx.Err() != nil {
					return dedupe.Record{}, ctx.Err()
				}
				return current, err
			}
		}),
		"a context that ends leaves half": broken("context ends during a call", func(m *mutant) {
			m.swap = func(ctx context.Context, key dedupe.Key, expect dedupe.Expect, next dedupe.Record) (dedupe.Record, error) {
				if ctx.Done() == nil || next.Result == nil || len(next.Result.Body) != 5000 {
					return m.Store.Swap(ctx, key, expect, next)
				}
				half := next.Clone()
				half.Result = nil
				if current, err := m.Store.Swap(ctx, key, expect, half); err != nil {
					return current, err
				}
				if ended(ctx) {
					return dedupe.Record{}, ctx.Err()
				}
				return m.Store.Swap(ctx, key, dedupe.AtRevision(half.Revision), next)
			}
		}),
		"a context that ends is another error": broken("context ends during a call", func(m *mutant) {
			m.swap = func(ctx context.Context, key dedupe.Key, expect dedupe.Expect, next dedupe.Record) (dedupe.Record, error) {
				current, err := m.Store.Swap(ctx, key, expect, next)
				if err == nil && next.Result != nil && len(next.Result.Body) == 5000 && ended(ctx) {
					err = errors.New("connection closed")
				}
				return current, err
			}
		}),
	}
}

// ended waits for the end of a context that ends soon.
func ended(ctx context.Context) bool {
	select {
	case <-ctx.Done():
		return true
	case <-time.After(10 * time.Millisecond):
		return false
	}
}

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

// meeting lets those who wait for the same write go on together: two at a time, or one after a while.
func meeting() func() {
	turn := make(chan struct{})
	return func() {
		select {
		case turn <- struct{}{}:
		case <-turn:
		case <-time.After(200 * time.Microsecond):
		}
	}
}

// lossy loses answers, before a swap lands, after, or while it is still on its way. That is allowed, but for the forced ones.
type lossy struct {
	*memory.Store

	forced bool // what is on its way lands against its condition

	calls   atomic.Int64
	mu      sync.Mutex
	delayed func()
}

func (l *lossy) Swap(ctx context.Context, key dedupe.Key, expect dedupe.Expect, next dedupe.Record) (dedupe.Record, error) {
	l.mu.Lock()
	land := l.delayed
	l.delayed = nil
	l.mu.Unlock()
	if land != nil {
		land()
	}
	lost := errors.New("connection reset")
	switch l.calls.Add(1) % 9 {
	case 1:
		return dedupe.Record{}, lost
	case 2:
		_, _ = l.Store.Swap(ctx, key, expect, next)
		return dedupe.Record{}, lost
	case 3:
		next := next.Clone()
		l.mu.Lock()
		defer l.mu.Unlock()
		l.delayed = func() {
			late := context.WithoutCancel(ctx)
			if current, err := l.Store.Swap(late, key, expect, next); l.forced && err != nil {
				_ = overwrite(late, l.Store, current, next)
			}
		}
		return dedupe.Record{}, lost
	}
	return l.Store.Swap(ctx, key, expect, next)
}

// lagging shows what it has shown before, once, when another handle has written since.
type lagging struct {
	*memory.Store

	conflicts bool // shows it in conflicts, not in loads

	mu  sync.Mutex
	old map[dedupe.Key]dedupe.Record
}

func (l *lagging) late(key dedupe.Key, now dedupe.Record) dedupe.Record {
	l.mu.Lock()
	defer l.mu.Unlock()
	was, ok := l.old[key]
	l.old[key] = now.Clone()
	if ok && was.Revision != now.Revision {
		return was.Clone()
	}
	return now
}

func (l *lagging) Load(ctx context.Context, key dedupe.Key) (dedupe.Record, error) {
	rec, err := l.Store.Load(ctx, key)
	if err != nil || l.conflicts {
		return rec, err
	}
	return l.late(key, rec), nil
}

func (l *lagging) Swap(ctx context.Context, key dedupe.Key, expect dedupe.Expect, next dedupe.Record) (dedupe.Record, error) {
	current, err := l.Store.Swap(ctx, key, expect, next)
	if l.conflicts && errors.Is(err, dedupe.ErrConflict) {
		current = l.late(key, current)
	}
	return current, err
}
