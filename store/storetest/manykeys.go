package storetest

import (
	"sync"

	"github.com/claimonce/claimonce/dedupe"
)

// manyKeys has workers write keys of their own, all of them at a time, and then again at the revisions. Stores that write what they read
// of a page, a file or a cache together with the key's neighbours lose some of them.
func manyKeys(p *probe) {
	const workers, each = 16, 12
	hs := p.handles(4)
	recs := make([]dedupe.Record, workers*each)
	expect := make([]dedupe.Expect, len(recs))
	for i := range recs {
		recs[i], expect[i] = claimed(newKey()), dedupe.AbsentAt(noon())
	}
	p.atOnce(hs, workers, recs, expect)
	for i, rec := range recs {
		recs[i], expect[i] = completed(rec.Key, noon()), dedupe.AtRevision(rec.Revision)
	}
	p.atOnce(hs, workers, recs, expect)
}

// atOnce writes the records, each worker its share of them, and then looks for each.
func (p *probe) atOnce(hs []handle, workers int, recs []dedupe.Record, expect []dedupe.Expect) {
	start := newBarrier(workers)
	var wg sync.WaitGroup
	for worker := range workers {
		wg.Go(func() {
			start.wait()
			for i := worker; i < len(recs); i += workers {
				if _, err := hs[worker%len(hs)].Swap(p.ctx, recs[i].Key, expect[i], recs[i]); err != nil {
					p.errorf("Swap expecting %s, one of many keys at a time: got error %q, want success", expectation(expect[i]), err)
				}
			}
		})
	}
	wg.Wait()
	for i, rec := range recs {
		hs[i%len(hs)].stored("one of many keys that were written at a time", rec.Key, rec)
	}
}
