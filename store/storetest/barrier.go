package storetest

import (
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/claimonce/claimonce/dedupe"
)

// A barrier lets workers go on at one moment. A channel that is closed wakes them one after the other, further apart than a store's test
// and its write are. Workers must do nothing that blocks before they wait.
type barrier struct {
	workers, spins int
	arrived        atomic.Int64
}

func newBarrier(workers int) *barrier {
	b := &barrier{workers: workers}
	if workers <= runtime.GOMAXPROCS(0) {
		b.spins = 1000 // each has a processor of its own, unless other programs have it
	}
	return b
}

func (b *barrier) wait() {
	b.arrived.Add(1)
	for spins := 0; int(b.arrived.Load()) < b.workers; spins++ {
		if spins >= b.spins {
			runtime.Gosched()
		}
	}
}

// storm loads a large record all the time, from all handles. A store in this process that locks for its test, and again for its write, is
// kept from the second lock by those that wait for it: on one processor too, where nothing else would come between. The storm ends with
// stop.
func (p *probe) storm(hs []handle) (stop func()) {
	rec := completed(newKey(), noon())
	rec.Result.Body = noise(64 << 10) // copied under the lock: those that wait must be more than a few, or wait for long
	hs[0].swap(dedupe.AbsentAt(noon()), rec)
	var over atomic.Bool
	var wg sync.WaitGroup
	for _, h := range hs {
		wg.Go(func() {
			for !over.Load() {
				if _, err := h.Load(p.ctx, rec.Key); err != nil {
					return // what is judged is elsewhere
				}
			}
		})
	}
	return func() {
		over.Store(true)
		wg.Wait()
	}
}
