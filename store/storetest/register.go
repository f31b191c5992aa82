package storetest

import (
	"strings"
	"time"

	"github.com/claimonce/claimonce/dedupe"
)

// registerRules are those of a compare-and-swap register.
func registerRules() []Rule {
	return []Rule{
		{"absent", "Load returns the record, or the zero Record and nil if nothing is stored.", absent},
		{"write", "Swap writes next whole, atomically and durably, if what is stored is what expect says, and returns nil.", write},
		{"refusal writes nothing", "Else it writes nothing and returns what is stored with an error wrapping ErrConflict.", refusalWrites},
		{"refusal shows what is stored", "A refused Swap returns what is stored, whole (the zero Record if nothing is).", refusalShows},
		{"revision", "AtRevision expects the stored record to have this revision: this very one.", revision},
		{"own write", "The conflict of a second try against its first must be returned like any other: it shows its own revision.", ownWrite},
		{"former revision", "AtRevision of a record that is there no more is refused, even where its successor is equal otherwise.", formerRevision},
	}
}

func absent(p *probe) {
	for _, h := range p.handles(2) {
		key := newKey()
		h.stored("nothing was written", key, dedupe.Record{})
		h.stored("nothing was written, second look", key, dedupe.Record{})
	}
}

func write(p *probe) {
	h := p.open()
	first := completed(newKey(), noon())
	h.swap(dedupe.AbsentAt(noon()), first)
	h.stored("swap on absent", first.Key, first)
	second := next(first)
	h.swap(dedupe.AtRevision(first.Revision), second)
	h.stored("swap at a revision", first.Key, second)
	p.open().stored("as a handle sees it that was opened later", first.Key, second)
}

// refusals are all ways in which a swap of next is refused where stored is.
func refusals(stored dedupe.Record) map[string]dedupe.Expect {
	all := map[string]dedupe.Expect{"another revision": dedupe.AtRevision(newRevision())}
	switch {
	case stored.State == dedupe.StateAbsent:
	case stored.ExpiresAt.IsZero():
		all["absence, where a record never expires"] = dedupe.AbsentAt(noon().AddDate(100, 0, 0))
	default:
		all["absence, where a record has not expired"] = dedupe.AbsentAt(stored.ExpiresAt.Add(-time.Second))
	}
	return all
}

func refusalWrites(p *probe) {
	eachRefusal(p, func(h handle, what string, expect dedupe.Expect, rec, stored dedupe.Record) {
		_, _ = h.Swap(p.ctx, rec.Key, expect, rec) // what it says is for the next rule
		h.stored(what, rec.Key, stored)
	})
}

func refusalShows(p *probe) {
	eachRefusal(p, handle.conflict)
}

// eachRefusal brings every kind of refusal about, against each kind of stored record.
func eachRefusal(p *probe, check func(h handle, what string, expect dedupe.Expect, rec, stored dedupe.Record)) {
	hs := p.handles(2)
	for _, key := range []dedupe.Key{newKey(), newKey(), newKey()} {
		check(hs[0], "nothing is stored, a revision is expected", dedupe.AtRevision(newRevision()), claimed(key), dedupe.Record{})
	}
	large := completed(newKey(), noon())
	large.Result.Body = noise(5000)
	for name, stored := range map[string]dedupe.Record{
		"a claimed record":                   claimed(newKey()),
		"a completed record":                 completed(newKey(), noon()),
		"a record with a larger result":      large,
		"a record of an operation long over": completed(newKey(), noon().AddDate(-90, 0, 0)),
	} {
		hs[0].swap(dedupe.AbsentAt(noon().AddDate(-200, 0, 0)), stored)
		for what, expect := range refusals(stored) {
			what = name + " is stored; expected is " + what
			check(hs[0], what, expect, next(stored), stored)
			check(hs[1], what+", of another handle", expect, next(stored), stored)
		}
	}
}

func revision(p *probe) {
	h := p.open()
	stored := claimed(newKey())
	stored.Revision = "Revision-" + newRevision() + "-aBc"
	h.swap(dedupe.AbsentAt(noon()), stored)
	r := stored.Revision
	for what, other := range map[string]string{
		"in lower case": strings.ToLower(r), "in upper case": strings.ToUpper(r), "without its end": r[:len(r)-1], "its end": r[1:], "longer": r + "c",
		"with a blank": r + " ", "with a blank before": " " + r, "a pattern": "Revision-%", "another pattern": "Revision-*", "the owner's token": stored.Owner,
		"its fingerprint": stored.Fingerprint,
	} {
		h.conflict("the revision "+what, dedupe.AtRevision(other), next(stored), stored)
	}
	h.stored("after all of these", stored.Key, stored)
	h.swap(dedupe.AtRevision(r), next(stored))
}

func ownWrite(p *probe) {
	hs := p.handles(2)
	for _, size := range []int{10, 5000} {
		first := completed(newKey(), noon())
		first.Result.Body = noise(size)
		hs[0].swap(dedupe.AbsentAt(noon().Add(-time.Hour)), first)
		hs[0].conflict("a claim is repeated", dedupe.AbsentAt(noon().Add(-time.Hour)), first, first)
		hs[1].conflict("a claim is repeated by another handle", dedupe.AbsentAt(noon().Add(-time.Hour)), first, first)

		second := completed(first.Key, noon())
		second.Result.Body = noise(size)
		hs[0].swap(dedupe.AtRevision(first.Revision), second)
		hs[0].conflict("a write at a revision is repeated", dedupe.AtRevision(first.Revision), second, second)
		hs[1].conflict("a write at a revision is repeated by another handle", dedupe.AtRevision(first.Revision), second, second)
		hs[1].stored("after the repeats", first.Key, second)
	}
}

func formerRevision(p *probe) {
	hs := p.handles(2)
	first := completed(newKey(), noon())
	hs[0].swap(dedupe.AbsentAt(noon()), first)
	second := first.Clone()
	second.Revision = newRevision()
	hs[1].swap(dedupe.AtRevision(first.Revision), second)
	hs[0].conflict("its successor differs by the revision alone", dedupe.AtRevision(first.Revision), next(first), second)
	third := first.Clone()
	third.Revision = newRevision()
	hs[1].swap(dedupe.AbsentAt(noon()), third) // the second one has expired
	hs[0].conflict("replaced as expired", dedupe.AtRevision(first.Revision), next(first), third)
	hs[0].conflict("replaced as expired, the one between", dedupe.AtRevision(second.Revision), next(first), third)
	hs[0].stored("at the end", first.Key, third)
}
