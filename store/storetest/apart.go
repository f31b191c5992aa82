package storetest

import (
	"errors"

	"github.com/claimonce/claimonce/dedupe"
)

const ruleUnavailable = "unavailable results"

func apartRules() []Rule {
	return []Rule{
		{ruleUnavailable, "If the part is missing that holds a large Result.Body, the store sets Result.Unavailable; it never answers with an empty body.", unavailable},
	}
}

// unavailable is about what the rig alone can bring about.
func unavailable(p *probe) {
	hs := p.handles(2)
	rec := completed(newKey(), noon())
	rec.Result.Body = noise(32 << 10)
	hs[0].swap(dedupe.AbsentAt(noon().Add(-1)), rec)
	hs[1].stored("before its body is removed", rec.Key, rec)
	if p.rig.DropResult == nil {
		return
	}
	if err := p.rig.DropResult(p.ctx, rec.Key); err != nil {
		p.fatalf("DropResult of a body of %d bytes: got error %q, want it removed", len(rec.Result.Body), err)
	}
	for _, h := range hs {
		h.withoutResult("Load", h.load(rec.Key), rec)
		current, err := h.Swap(p.ctx, rec.Key, dedupe.AtRevision(newRevision()), next(rec))
		if !errors.Is(err, dedupe.ErrConflict) {
			p.errorf("Swap at another revision: got error %v, want one that wraps ErrConflict", err)
			continue
		}
		h.withoutResult("a conflict", current, rec)
	}
	replaced := next(rec)
	hs[0].swap(dedupe.AtRevision(rec.Revision), replaced)
	hs[1].stored("what replaced it", rec.Key, replaced)
}

// withoutResult leaves open what else of the result was kept apart with its body.
func (h handle) withoutResult(what string, got, want dedupe.Record) {
	if got.Result == nil || !got.Result.Unavailable || got.Result.Body != nil {
		h.p.errorf("%s shows the result %+v, want none of its body and Unavailable", what, got.Result)
	}
	got.Result = want.Result
	if d := diff(got, want); d != "" {
		h.p.errorf("%s differs from what was written: %s", what, d)
	}
}
