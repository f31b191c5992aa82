package storetest

import (
	"errors"
	"sync"

	"github.com/claimonce/claimonce/dedupe"
)

func workerRules() []Rule {
	return []Rule{
		{"strong read", "Load is strongly consistent: what another handle has written is seen.", strongRead},
		{"one winner of a claim", "Per key, Swap is linearizable: of many claims at a time one wins, and all others are shown the winner.", claimRace},
		{"one winner at a revision", "Per key, Swap is linearizable: of many writes at one revision one wins, and all others are shown the winner.", revisionRace},
		{"one winner of an expired key", "Per key, Swap is linearizable: of many claims of an expired key one wins, and all others are shown the winner.", expiredRace},
	}
}

func strongRead(p *probe) {
	const rounds = 30
	hs := p.handles(3)
	rec := completed(newKey(), noon())
	for i := range rounds {
		writer, reader, third := hs[i%3], hs[(i+1)%3], hs[(i+2)%3]
		if i%10 == 0 {
			rec = completed(newKey(), noon())
			writer.swap(dedupe.AbsentAt(noon()), rec)
		} else {
			changed := completed(rec.Key, noon())
			writer.swap(dedupe.AtRevision(rec.Revision), changed)
			rec = changed
		}
		reader.stored("as the reader sees it", rec.Key, rec)
		third.conflict("as a loser sees it", dedupe.AtRevision(newRevision()), next(rec), rec)
		reader.stored("as the reader sees it again", rec.Key, rec)
	}
}

func claimRace(p *probe) {
	p.race(func(handle, dedupe.Key) dedupe.Expect { return dedupe.AbsentAt(noon()) })
}

func revisionRace(p *probe) {
	p.race(func(h handle, key dedupe.Key) dedupe.Expect {
		rec := claimed(key)
		h.swap(dedupe.AbsentAt(noon()), rec)
		return dedupe.AtRevision(rec.Revision)
	})
}

func expiredRace(p *probe) {
	p.race(func(h handle, key dedupe.Key) dedupe.Expect {
		h.swap(dedupe.AbsentAt(longAgo()), completed(key, noon()))
		return dedupe.AbsentAt(noon())
	})
}

// race has several workers swap one key at a time, some rounds long.
func (p *probe) race(before func(handle, dedupe.Key) dedupe.Expect) {
	const rounds, workers = 6, 16
	hs := p.handles(4)
	for range rounds {
		key := newKey()
		expect := before(hs[0], key)
		tries, errs, shown := make([]dedupe.Record, workers), make([]error, workers), make([]dedupe.Record, workers)
		start := make(chan struct{})
		var wg sync.WaitGroup
		for i := range workers {
			tries[i] = claimed(key)
			wg.Go(func() {
				<-start
				shown[i], errs[i] = hs[i%len(hs)].Swap(p.ctx, key, expect, tries[i])
			})
		}
		close(start)
		wg.Wait()
		p.judge(hs[0].load(key), tries, shown, errs)
	}
}

// judge takes a conflict that shows the worker's own revision for success, as callers do.
func (p *probe) judge(stored dedupe.Record, tries, shown []dedupe.Record, errs []error) {
	var winners []dedupe.Record
	for i, err := range errs {
		switch {
		case err == nil, errors.Is(err, dedupe.ErrConflict) && shown[i].Revision == tries[i].Revision:
			winners = append(winners, tries[i])
		case !errors.Is(err, dedupe.ErrConflict):
			p.errorf("one of many swaps at a time: got error %v, want success or ErrConflict", err)
		}
	}
	if len(winners) != 1 {
		p.errorf("%d of %d swaps at a time succeeded, want 1", len(winners), len(tries))
		return
	}
	if d := diff(stored, winners[0]); d != "" {
		p.errorf("stored is not what the winner wrote: %s", d)
	}
	for i, err := range errs {
		if errors.Is(err, dedupe.ErrConflict) {
			if d := diff(shown[i], winners[0]); d != "" {
				p.errorf("a loser is not shown the winner: %s", d)
			}
		}
	}
}
