package storetest

import (
	"context"
	"crypto/rand"
	"runtime/pprof"
	"strconv"
	"strings"
	"time"

	"github.com/claimonce/claimonce/dedupe"
)

func goroutineRules() []Rule {
	return []Rule{
		{"goroutines", "A store starts no goroutine: none is left behind by call after call.", goroutines},
	}
}

// goroutines cannot tell one of the store from one that keeps a connection of the client below it. But a client keeps few for calls that
// are made one after the other, and a store that leaves one behind at each call has as many as calls.
func goroutines(p *probe) {
	const calls, patience, step = 24, 2 * time.Second, 20 * time.Millisecond
	h, label := p.open(), rand.Text()
	rec := completed(newKey(), noon())
	h.swap(dedupe.AbsentAt(noon()), rec)
	pprof.Do(p.ctx, pprof.Labels("storetest", label), func(context.Context) { // those that are started here inherit the label
		for range calls {
			changed := completed(rec.Key, noon())
			h.swap(dedupe.AtRevision(rec.Revision), changed)
			h.conflict("between", dedupe.AtRevision(rec.Revision), next(rec), changed)
			h.stored("between", rec.Key, changed)
			rec = changed
		}
	})
	n, stack := left(label)
	for waited := time.Duration(0); n >= calls && waited < patience; waited += step { // those that are about to end may need a moment
		select {
		case <-p.ctx.Done():
		case <-time.After(step):
		}
		n, stack = left(label)
	}
	if n >= calls {
		p.errorf("%d goroutines are left %v after %d swaps, as many refusals and loads; one kind of them:\n%s", n, patience, calls, stack)
	}
}

// left counts the goroutines with a label, and shows the most frequent stack.
func left(label string) (n int, stack string) {
	var all strings.Builder
	if err := pprof.Lookup("goroutine").WriteTo(&all, 1); err != nil {
		return 0, "" // never fails: a builder takes everything
	}
	_, kinds, _ := strings.Cut(all.String(), "\n") // after "goroutine profile: total 7"
	most := 0
	for s := range strings.SplitSeq(kinds, "\n\n") {
		if !strings.Contains(s, label) {
			continue
		}
		first, _, _ := strings.Cut(s, " @ ") // "24 @ 0x47a0f2 …": equal stacks are listed once
		same, err := strconv.Atoi(first)
		if err != nil {
			same = 1
		}
		if n += same; same > most {
			most, stack = same, s
		}
	}
	return n, stack
}
