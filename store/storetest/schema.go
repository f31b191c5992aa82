package storetest

import (
	"errors"

	"github.com/claimonce/claimonce/dedupe"
)

func schemaRules() []Rule {
	return []Rule{
		{"newer schema is not read", "A record of a newer SchemaVersion is returned as an error wrapping ErrNewerSchema.", newerIsNotRead},
		{"newer schema is not overwritten", "A record of a newer SchemaVersion is never overwritten, expired or not.", newerStays},
	}
}

// newer writes a record of a later release through the store itself: next is written whole, whatever its schema is.
func (h handle) newer() dedupe.Record {
	rec := completed(newKey(), noon())
	rec.Schema = dedupe.SchemaVersion + 1
	h.swap(dedupe.AbsentAt(noon()), rec)
	return rec
}

func wantNewer(p *probe, what string, rec dedupe.Record, err error) {
	if !errors.Is(err, dedupe.ErrNewerSchema) || errors.Is(err, dedupe.ErrConflict) {
		p.errorf("%s: got error %v, want one that wraps ErrNewerSchema and is no conflict", what, err)
	}
	if d := diff(rec, dedupe.Record{}); d != "" {
		p.errorf("%s: %s: what a newer release wrote cannot be judged", what, d)
	}
}

// attempts are swaps that would replace the record if its schema were not newer, and one that would not.
func attempts(newer dedupe.Record) map[string]dedupe.Expect {
	return map[string]dedupe.Expect{
		"its revision":                   dedupe.AtRevision(newer.Revision),
		"absence, where it has expired":  dedupe.AbsentAt(newer.ExpiresAt.AddDate(1, 0, 0)),
		"another revision":               dedupe.AtRevision(newRevision()),
		"absence, where it still counts": dedupe.AbsentAt(longAgo()),
	}
}

// readsThisSchema: a store that can read nothing would keep both rules.
func (h handle) readsThisSchema() {
	rec := completed(newKey(), noon())
	h.swap(dedupe.AbsentAt(noon()), rec)
	h.stored("a record of this schema", rec.Key, rec)
}

func newerIsNotRead(p *probe) {
	h := p.open()
	h.readsThisSchema()
	newer := h.newer()
	rec, err := h.Load(p.ctx, newer.Key)
	wantNewer(p, "Load", rec, err)
	for what, expect := range attempts(newer) {
		newer = h.newer()
		rec, err := h.Swap(p.ctx, newer.Key, expect, next(newer))
		if errors.Is(err, dedupe.ErrConflict) || err == nil {
			wantNewer(p, "Swap expecting "+what, rec, err)
			continue
		}
		wantNewer(p, "Swap expecting "+what, dedupe.Record{}, err)
	}
}

func newerStays(p *probe) {
	h := p.open()
	h.readsThisSchema()
	seen, failure := false, error(nil)
	for what := range attempts(dedupe.Record{}) {
		newer := h.newer()
		expect := attempts(newer)[what]
		_, _ = h.Swap(p.ctx, newer.Key, expect, next(newer))
		// What cannot be read cannot be compared; but a record of this schema could be read.
		rec, err := h.Load(p.ctx, newer.Key)
		if seen = seen || err == nil || errors.Is(err, dedupe.ErrNewerSchema); !seen {
			failure = err
		}
		if err == nil && rec.Schema <= dedupe.SchemaVersion {
			p.errorf("Swap expecting %s: the newer record is gone; stored is revision %q of schema %d", what, rec.Revision, rec.Schema)
		}
	}
	if !seen {
		p.errorf("no Load tells whether the newer record is still there: got error %v, want one that wraps ErrNewerSchema", failure)
	}
}
