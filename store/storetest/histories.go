package storetest

import (
	"context"
	"errors"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/claimonce/claimonce/dedupe"
)

func historyRules() []Rule {
	return []Rule{
		{"linearizable", "Per key, Swap and Load are linearizable: each takes effect at one moment between its call and its answer.", linearizable},
	}
}

const (
	histories   = 8
	historyKeys = 2
	workers     = 8
	callsEach   = 10
)

// A history is what workers saw of some keys.
type history struct {
	p    *probe
	keys []dedupe.Key
	// ticks put the beginnings and ends of calls into an order. A clock could give many of them one time, in a bubble all of them, and
	// each pair that may be in either order doubles what has to be searched.
	ticks atomic.Int64

	mu      sync.Mutex
	written map[string]dedupe.Record // by revision
	seen    map[string]int64         // when a revision was shown first
	calls   map[dedupe.Key][]porcupine.Operation
	unknown int
	failure error // of a call that nobody knows the end of
}

func linearizable(p *probe) {
	loads, failure := 0, error(nil)
	for range histories {
		h := &history{p: p, written: map[string]dedupe.Record{}, seen: map[string]int64{}, calls: map[dedupe.Key][]porcupine.Operation{}}
		for range historyKeys {
			h.keys = append(h.keys, newKey())
		}
		hs := p.handles(4)
		start := newBarrier(workers)
		var wg sync.WaitGroup
		for i := range workers {
			wg.Go(func() {
				start.wait()
				h.work(i, hs[i%len(hs)])
			})
		}
		wg.Wait()
		failure = h.failure
		for _, key := range h.keys {
			h.decide(key)
			for _, op := range h.calls[key] {
				if a, ok := op.Output.(answer); ok && a.kind == loaded {
					loads++
				}
			}
		}
		if len(p.problems()) > 0 {
			return // one picture is enough
		}
	}
	if loads == 0 { // a load that fails contradicts nothing
		p.errorf("no Load succeeded in %d histories, so that they say nothing of it; an error of a call is: %v", histories, failure)
	}
}

// work makes random calls and remembers what it saw, as a worker does.
func (h *history) work(worker int, store handle) {
	seen := map[dedupe.Key][]string{}
	for range callsEach {
		key := h.keys[in(len(h.keys))]
		c, rec := h.choose(key, seen[key])
		ctx, cancel := h.context()
		called := h.ticks.Add(1)
		a, shown, err := perform(ctx, store, key, c, rec)
		returned := h.ticks.Add(1)
		if a.kind != nobodyKnows {
			h.compare(shown, a)
			seen[key] = append(seen[key], a.revision)
		} else if ctx.Err() == nil {
			h.failed(err)
		}
		cancel()
		h.record(worker, key, c, a, called, returned)
	}
}

// context ends in the middle of some calls.
func (h *history) context() (context.Context, context.CancelFunc) {
	if in(20) > 0 {
		return h.p.ctx, func() {}
	}
	return context.WithTimeout(h.p.ctx, time.Duration(in(1000))*time.Microsecond)
}

// choose prefers what succeeds: a swap at the revision seen last.
func (h *history) choose(key dedupe.Key, seen []string) (call, dedupe.Record) {
	if in(10) < 3 {
		return call{}, dedupe.Record{}
	}
	rec := claimed(key)
	if in(2) == 0 {
		rec = completed(key, noon().Add(time.Duration(in(5)-2)*time.Hour))
	}
	c := call{swap: true, next: cell{revision: rec.Revision}, expect: dedupe.AbsentAt(noon().Add(time.Duration(in(5)-2) * time.Hour))}
	if !rec.ExpiresAt.IsZero() {
		c.next.expires = rec.ExpiresAt.Unix()
	}
	if n := len(seen); n > 0 && in(10) < 7 {
		if revision := seen[max(n-1-in(2)*in(3), 0)]; revision != "" {
			c.expect = dedupe.AtRevision(revision)
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.written[rec.Revision] = rec.Clone()
	return c, rec
}

func perform(ctx context.Context, store handle, key dedupe.Key, c call, rec dedupe.Record) (answer, dedupe.Record, error) {
	if !c.swap {
		shown, err := store.Load(ctx, key)
		if err != nil {
			return answer{kind: nobodyKnows}, dedupe.Record{}, err
		}
		return answer{kind: loaded, revision: shown.Revision}, shown, nil
	}
	shown, err := store.Swap(ctx, key, c.expect, rec)
	switch {
	case err == nil:
		return answer{kind: swapped, revision: rec.Revision}, rec, nil
	case errors.Is(err, dedupe.ErrConflict):
		return answer{kind: refused, revision: shown.Revision}, shown, err
	}
	return answer{kind: nobodyKnows}, dedupe.Record{}, err
}

func (h *history) failed(err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.failure = err
}

// compare: what is shown under a revision is what was written under it, and not a mixture.
func (h *history) compare(shown dedupe.Record, a answer) {
	h.mu.Lock()
	want, ok := h.written[a.revision]
	h.mu.Unlock()
	if !ok && a.revision != "" {
		h.p.errorf("revision %q is shown, which nobody wrote", a.revision)
	} else if d := diff(shown, want); d != "" {
		h.p.errorf("revision %q is shown otherwise than it was written: %s", a.revision, d)
	}
}

// record gives a call that nobody knows the end of no end: it may still land. Its worker goes on as another one.
func (h *history) record(worker int, key dedupe.Key, c call, a answer, called, returned int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	op := porcupine.Operation{ClientId: worker, Input: c, Call: called, Output: a, Return: returned}
	if a.kind == nobodyKnows {
		if !c.swap {
			return
		}
		op.ClientId, op.Return = workers+h.unknown, math.MaxInt64
		h.unknown++
	} else if first, ok := h.seen[a.revision]; !ok || returned < first {
		h.seen[a.revision] = returned
	}
	if a.kind == refused && h.p.rig.ReadsAfterRefusal && a.revision != c.next.revision {
		op.Output = answer{kind: refusedUnseen}
		read := porcupine.Operation{ClientId: worker, Input: call{}, Call: op.Call, Output: answer{loaded, a.revision}, Return: op.Return}
		h.calls[key] = append(h.calls[key], read)
	}
	h.calls[key] = append(h.calls[key], op)
}
