package storetest

import (
	"github.com/claimonce/claimonce/dedupe"
)

func workerRules() []Rule {
	return []Rule{
		{"strong read", "Load is strongly consistent: what another handle has written is seen.", strongRead},
		{"many keys at a time", "Per key, Swap is linearizable: what is written of one key undoes nothing of another, however many are written at a time.", manyKeys},
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
