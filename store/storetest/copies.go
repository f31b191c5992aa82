package storetest

import (
	"errors"

	"github.com/claimonce/claimonce/dedupe"
)

func copyRules() []Rule {
	return []Rule{
		{"leaves what it is given", "Swap writes next whole, as it is, and leaves it so: a caller repeats the identical call.", leavesGiven},
		{"copies what it is given", "A store keeps no slice or map that it was given.", copiesIn},
		{"copies what it returns", "A store keeps no slice or map that it returned.", copiesOut},
	}
}

// spoil changes whatever can be reached from a record.
func spoil(rec dedupe.Record) {
	for i := range rec.Marks {
		rec.Marks[i] = dedupe.Mark{Step: "spoiled"}
	}
	if rec.Result == nil {
		return
	}
	rec.Result.Status = 999
	clear(rec.Result.Body)
	if rec.Result.Headers != nil {
		rec.Result.Headers["ETag"], rec.Result.Headers["Spoiled"] = "spoiled", "yes"
	}
}

// shapes are records whose bodies a store may treat in different ways.
func shapes() map[string]dedupe.Record {
	small, large := completed(newKey(), noon()), completed(newKey(), noon())
	large.Result.Body = noise(5000)
	return map[string]dedupe.Record{"a small result": small, "a large result": large}
}

func leavesGiven(p *probe) {
	h := p.open()
	for what, want := range shapes() {
		given := want.Clone()
		h.swap(dedupe.AbsentAt(noon()), given)
		if d := diff(given, want); d != "" {
			p.errorf("%s was changed by Swap: %s", what, d)
		}
		given = want.Clone()
		_, _ = h.Swap(p.ctx, given.Key, dedupe.AtRevision(newRevision()), given)
		if d := diff(given, want); d != "" {
			p.errorf("%s was changed by a Swap that was refused: %s", what, d)
		}
	}
}

func copiesIn(p *probe) {
	h := p.open()
	for what, want := range shapes() {
		given := want.Clone()
		h.swap(dedupe.AbsentAt(noon()), given)
		spoil(given)
		h.stored(what+" was changed by its caller after it was written", want.Key, want)

		given = next(want)
		given.Marks, given.Result = want.Clone().Marks, want.Clone().Result
		_, _ = h.Swap(p.ctx, given.Key, dedupe.AtRevision(newRevision()), given)
		spoil(given)
		h.stored(what+" was changed by its caller after another was refused", want.Key, want)
	}
}

func copiesOut(p *probe) {
	h := p.open()
	for what, want := range shapes() {
		given := want.Clone()
		returned, err := h.Swap(p.ctx, want.Key, dedupe.AbsentAt(noon()), given)
		if err != nil {
			p.fatalf("Swap on absent: got error %q, want success", err)
		}
		spoil(returned)
		h.stored(what+" was changed in what Swap returned", want.Key, want)
		spoil(h.load(want.Key))
		h.stored(what+" was changed in what Load returned", want.Key, want)
		current, err := h.Swap(p.ctx, want.Key, dedupe.AtRevision(newRevision()), next(want))
		if !errors.Is(err, dedupe.ErrConflict) {
			p.fatalf("Swap at another revision: got error %v, want one that wraps ErrConflict", err)
		}
		spoil(current)
		h.stored(what+" was changed in what a conflict returned", want.Key, want)
		current, _ = h.Swap(p.ctx, want.Key, dedupe.AbsentAt(longAgo()), given.Clone())
		spoil(current)
		h.stored(what+" was changed in the conflict of a repeat", want.Key, want)
	}
}
