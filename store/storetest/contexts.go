package storetest

import (
	"context"
	"errors"
	"time"

	"github.com/claimonce/claimonce/dedupe"
)

func contextRules() []Rule {
	return []Rule{
		{"ended context", "All methods end promptly with an error wrapping the context's when it ends.", endedContext},
		{"context ends during a call", "All methods end promptly when the context ends, and what was written was written whole.", endingContext},
	}
}

func endedContext(p *probe) {
	h := p.open()
	canceled, cancel := context.WithCancel(p.ctx)
	cancel()
	late, stop := context.WithDeadline(p.ctx, time.Now().Add(-time.Second))
	defer stop()
	for what, c := range map[string]struct {
		ctx  context.Context //nolint:containedctx // a case of a table
		want error
	}{"a canceled context": {canceled, context.Canceled}, "a deadline that has passed": {late, context.DeadlineExceeded}} {
		rec := completed(newKey(), noon())
		p.promptly(what, func() {
			_, err := h.Swap(c.ctx, rec.Key, dedupe.AbsentAt(noon()), rec)
			p.wantEnded(what+": Swap", err, c.want)
			_, err = h.Load(c.ctx, rec.Key)
			p.wantEnded(what+": Load", err, c.want)
		})
		h.stored("a swap with "+what, rec.Key, dedupe.Record{})
		h.swap(dedupe.AbsentAt(noon()), rec)
		p.promptly(what, func() {
			_, err := h.Swap(c.ctx, rec.Key, dedupe.AtRevision(newRevision()), next(rec))
			p.wantEnded(what+": Swap that would be refused", err, c.want)
		})
	}
}

// wantEnded: an end that is a conflict too would be taken for an answer, by a caller who looks for a rival first.
func (p *probe) wantEnded(what string, err, want error) {
	if !errors.Is(err, want) || errors.Is(err, dedupe.ErrConflict) {
		p.errorf("%s: got error %v, want one that wraps %q and is no conflict", what, err, want)
	}
}

// promptly ends the rule where f takes longer than any store may: a call that hangs would say nothing.
func (p *probe) promptly(what string, f func()) {
	const patience = 15 * time.Second
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	select {
	case <-done:
	case <-time.After(patience):
		p.fatalf("%s: a call has not returned for %v", what, patience)
	}
}

// endingContext ends contexts at random while calls are under way. Whether a swap landed is unknown then, but not what may be there.
func endingContext(p *probe) {
	hs := p.handles(2)
	const tries = 30
	for i := range tries {
		before := claimed(newKey())
		hs[0].swap(dedupe.AbsentAt(noon()), before)
		after := completed(before.Key, noon())
		after.Result.Body = noise(5000)
		ctx, cancel := context.WithCancel(p.ctx)
		timer := time.AfterFunc(time.Duration(in(100*(i+1)))*time.Microsecond, cancel)
		var shown dedupe.Record
		var err error
		p.promptly("a context that ends during Swap", func() { shown, err = hs[0].Swap(ctx, after.Key, dedupe.AtRevision(before.Revision), after) })
		timer.Stop()
		cancel()
		if errors.Is(err, dedupe.ErrConflict) && shown.Revision == after.Revision {
			err = nil // the store repeated it by itself
		}
		if err != nil {
			p.wantEnded("a context that ends during Swap", err, context.Canceled)
		}
		got := hs[1].load(before.Key)
		switch d := diff(got, after); {
		case err == nil && d != "":
			p.errorf("Swap succeeded although its context ended, and Load differs: %s", d)
		case d != "" && diff(got, before) != "":
			p.errorf("a context that ended during Swap left neither the record before nor the one after: %s", d)
		}
	}
}
