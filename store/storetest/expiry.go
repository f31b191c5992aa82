package storetest

import (
	"time"

	"github.com/claimonce/claimonce/dedupe"
)

func expiryRules() []Rule {
	return []Rule{
		{"expiry", "AbsentAt expects that the record stored has an ExpiresAt that is set and is not after t. t is cut to the whole second.", expiry},
		{"no expiry", "A record without ExpiresAt is never replaced by AbsentAt, whatever its time is.", noExpiry},
		{"no clock", "A store reads no clock: expired is what expect says, whatever the time is.", noClock},
		{"expired is shown", "An expired record is still returned by Load and by a conflict until it is replaced or deleted.", expiredIsShown},
	}
}

func expiry(p *probe) {
	h := p.open()
	for what, c := range map[string]struct {
		at      time.Duration // from its expiry
		expired bool
	}{
		"a day before":             {-24 * time.Hour, false},
		"a second before":          {-time.Second, false},
		"a millisecond before":     {-time.Millisecond, false},
		"at the second":            {0, true},
		"a millisecond after":      {time.Millisecond, true},
		"at the end of its second": {time.Second - time.Millisecond, true},
		"a second after":           {time.Second, true},
		"ten years after":          {87600 * time.Hour, true},
	} {
		for _, expires := range []time.Time{noon(), time.Date(2001, 9, 9, 1, 46, 40, 0, time.UTC)} { // also where a number of seconds gets a digit
			stored := completed(newKey(), expires)
			h.swap(dedupe.AbsentAt(expires), stored)
			rec, expect := next(stored), dedupe.AbsentAt(expires.Add(c.at))
			if !c.expired {
				h.conflict(what, expect, rec, stored)
				h.stored(what, rec.Key, stored)
				continue
			}
			if current, err := h.Swap(p.ctx, rec.Key, expect, rec); err != nil {
				p.errorf("%s it expires (%s): Swap expecting %s: got error %v and revision %q, want it replaced",
					what, expires.Format(time.RFC3339), expectation(expect), err, current.Revision)
				continue
			}
			h.stored(what, rec.Key, rec)
		}
	}
}

func noExpiry(p *probe) {
	h := p.open()
	for state := dedupe.StateInProgress; state <= dedupe.StateUnknown; state++ {
		stored := claimed(newKey())
		stored.State = state
		h.swap(dedupe.AbsentAt(noon()), stored)
		for _, at := range []time.Time{time.Unix(1, 0), noon(), noon().AddDate(1000, 0, 0)} {
			h.conflict(state.String()+" without expiry", dedupe.AbsentAt(at), next(stored), stored)
		}
		h.stored(state.String()+" without expiry", stored.Key, stored)
	}
}

func noClock(p *probe) {
	h := p.open()
	past, future := completed(newKey(), longAgo()), completed(newKey(), noon())
	h.swap(dedupe.AbsentAt(longAgo()), past)
	h.conflict("long expired by any clock, but not at the time given", dedupe.AbsentAt(longAgo().Add(-time.Second)), next(past), past)
	h.swap(dedupe.AbsentAt(noon()), future)
	replaced := next(future)
	h.swap(dedupe.AbsentAt(noon()), replaced) // by no clock, but at the time given
	h.stored("expired at the time given", future.Key, replaced)
}

// longAgo is a time at which a TTL that works as DynamoDB's deletes nothing: those only more than five years old stay.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/time-to-live-ttl-before-you-start.html
func longAgo() time.Time { return time.Date(2011, 3, 4, 5, 6, 7, 0, time.UTC) }

// A store may delete what has expired, but hardly each time before the next call.
func expiredIsShown(p *probe) {
	h := p.open()
	const tries = 3
	for i := range tries {
		q := &probe{ctx: p.ctx, rig: p.rig}
		stored := completed(newKey(), longAgo())
		h.swap(dedupe.AbsentAt(longAgo()), stored)
		handle{h.Store, q}.conflict("of an expired record", dedupe.AtRevision(newRevision()), next(stored), stored)
		if d := diff(h.load(stored.Key), stored); d != "" {
			q.errorf("Load of an expired record: %s", d)
		}
		found := q.problems()
		if len(found) == 0 {
			return
		}
		if i == tries-1 {
			for _, problem := range found {
				p.errorf("%s", problem)
			}
		}
	}
}
