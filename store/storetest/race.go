package storetest

import (
	"errors"
	"sync"
	"time"

	"github.com/claimonce/claimonce/dedupe"
)

// A contest is one key that several workers swap at a time.
type contest struct {
	key         dedupe.Key
	expect      dedupe.Expect
	tries, seen []dedupe.Record
	errs        []error
}

// race has many workers swap one key, as on a server. Then a few workers swap a few keys, over and over: in a store that tests and writes
// in one process, the moment between is shorter than a microsecond. Where it holds no lock for long, two processors hit it once in a hundred
// rounds; where it does, a storm makes the moment long.
func (p *probe) race(before func(handle, dedupe.Key) dedupe.Expect) {
	const rounds, workers = 6, 16
	hs := p.handles(4)
	for range rounds {
		p.round(hs, workers, 1, before)
	}
	const keys = 4
	p.repeat(1, 100, func() { p.round(hs, len(hs), keys, before) })
	defer p.storm(hs)()
	p.repeat(6, 6, func() { p.round(hs, 2*len(hs), keys, before) })
}

// repeat runs rounds for a while, and so many at least. In a bubble the time may stand still: it is another number of rounds then.
func (p *probe) repeat(least, still int, round func()) {
	const patience, most = 40 * time.Millisecond, 5000
	begun := time.Now()
	for n := 1; n <= most && len(p.problems()) == 0; n++ {
		round()
		if passed := time.Since(begun); passed >= patience && n >= least || passed == 0 && n >= still {
			return
		}
	}
}

// round has each worker swap each key, beginning with another one.
func (p *probe) round(hs []handle, workers, keys int, before func(handle, dedupe.Key) dedupe.Expect) {
	contests := make([]contest, keys)
	for i := range contests {
		c := contest{key: newKey(), tries: make([]dedupe.Record, workers), seen: make([]dedupe.Record, workers), errs: make([]error, workers)}
		c.expect = before(hs[0], c.key)
		for worker := range workers {
			c.tries[worker] = claimed(c.key)
		}
		contests[i] = c
	}
	start := newBarrier(workers)
	var wg sync.WaitGroup
	for worker := range workers {
		wg.Go(func() {
			start.wait()
			for i := range contests {
				c := contests[(i+worker)%keys]
				c.seen[worker], c.errs[worker] = hs[worker%len(hs)].Swap(p.ctx, c.key, c.expect, c.tries[worker])
			}
		})
	}
	wg.Wait()
	for _, c := range contests {
		p.judge(hs[0].load(c.key), c)
	}
}

// judge takes a conflict that shows the worker's own revision for success, as callers do.
func (p *probe) judge(stored dedupe.Record, c contest) {
	var winners []dedupe.Record
	for i, err := range c.errs {
		switch {
		case err == nil, errors.Is(err, dedupe.ErrConflict) && c.seen[i].Revision == c.tries[i].Revision:
			winners = append(winners, c.tries[i])
		case !errors.Is(err, dedupe.ErrConflict):
			p.errorf("one of many swaps at a time: got error %v, want success or ErrConflict", err)
		}
	}
	if len(winners) != 1 {
		p.errorf("%d of %d swaps at a time succeeded, want 1", len(winners), len(c.tries))
		return
	}
	if d := diff(stored, winners[0]); d != "" {
		p.errorf("stored is not what the winner wrote: %s", d)
	}
	for i, err := range c.errs {
		if errors.Is(err, dedupe.ErrConflict) {
			if d := diff(c.seen[i], winners[0]); d != "" {
				p.errorf("a loser is not shown the winner: %s", d)
			}
		}
	}
}
