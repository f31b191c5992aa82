package consumer

import (
	"sync"
	"sync/atomic"

	"github.com/claimonce/claimonce/dedupe"
)

// Counts say what became of a consumer's deliveries since it was built. All fields count deliveries: a message that comes back is
// counted each time. They are read one after the other, so that a snapshot of a running worker may be off by what is just ending.
type Counts struct {
	// Received are the deliveries taken over; what is not yet in Acked, Nacked, Left or DeadLettered is still held.
	Received int64
	// What really became of them. DeadLettered is by reason.
	Acked, Nacked, Left int64
	DeadLettered        map[string]int64

	// Ran are the handlers that were started, and Panicked those of them that panicked.
	Ran, Panicked int64
	// HandedBack went back unseen, without a claim: what was ahead of them in their group, or a copy, had gone back, or the group's
	// handler ran for long. They are among Nacked.
	HandedBack int64
	// What the claims answered. Replayed were answered from the stored result, Busy includes copies of what runs in this
	// process. In observe-only mode the handler ran all the same.
	Claimed, Replayed, Failed, Busy, Pending, Exhausted, Mismatched int64
	// MissingKeys had no key.
	MissingKeys int64
	// Refused are what can never run, by reason, whether or not it could be dead-lettered; MissingKeys among them.
	Refused map[string]int64
	// TooOld were older than the window, and accepted by AcceptOlderThanWindow; without that they are among Refused.
	TooOld int64
	// PathChecks were messages of a [PathCheck].
	PathChecks int64

	// WouldHave is what the usual mode would have done; all zero unless in observe-only mode.
	WouldHave WouldHave
}

// WouldHave counts the verdicts of observe-only mode: see [Verdict].
type WouldHave struct {
	Acked, Nacked, Left int64
	DeadLettered        map[string]int64 // by reason
	Waited              int64            // the store did not answer in time: it would have waited for it
	Ran                 int64            // the handler would have been run
	Withheld            map[string]int64 // it would not, by reason
}

// MissingKeyRatio is the share of deliveries without a key, 0 to 1; 0 if there were none.
func (c Counts) MissingKeyRatio() float64 { return ratio(c.MissingKeys, c.Received-c.PathChecks) }

// ReplayRatio is the share of replays in the claims that were answered, 0 to 1.
func (c Counts) ReplayRatio() float64 { return ratio(c.Replayed, c.claims()) }

// BusyRatio is the share of answers that another run is in progress, 0 to 1.
func (c Counts) BusyRatio() float64 { return ratio(c.Busy, c.claims()) }

// MismatchRatio is the share of answers that the key was used for another request, 0 to 1.
func (c Counts) MismatchRatio() float64 { return ratio(c.Mismatched, c.claims()) }

func (c Counts) claims() int64 {
	return c.Claimed + c.Replayed + c.Failed + c.Busy + c.Pending + c.Exhausted + c.Mismatched
}

func ratio(part, of int64) float64 {
	if of <= 0 {
		return 0
	}
	return float64(part) / float64(of)
}

// Counts may be called at any time, from any goroutine.
func (c *Consumer) Counts() Counts {
	n := &c.counts
	return Counts{
		Received: n.received.Load(),
		Acked:    n.became.acked.Load(), Nacked: n.became.nacked.Load(), Left: n.became.left.Load(), DeadLettered: n.became.dead.all(),
		Ran: n.ran.Load(), Panicked: n.panicked.Load(), HandedBack: n.handedBack.Load(),
		Claimed: n.answered(dedupe.OutcomeClaimed), Replayed: n.answered(dedupe.OutcomeReplay), Failed: n.answered(dedupe.OutcomeFailed),
		Busy: n.answered(dedupe.OutcomeBusy), Pending: n.answered(dedupe.OutcomePending),
		Exhausted: n.answered(dedupe.OutcomeExhausted), Mismatched: n.answered(dedupe.OutcomeMismatch),
		MissingKeys: n.refused.of(ReasonMissingKey), Refused: n.refused.all(), PathChecks: n.checks.Load(),
		TooOld: n.tooOld.Load(),
		WouldHave: WouldHave{
			Acked: n.would.acked.Load(), Nacked: n.would.nacked.Load(), Left: n.would.left.Load(), DeadLettered: n.would.dead.all(),
			Waited: n.would.neither.Load(), Ran: n.wouldRun.Load(), Withheld: n.withheld.all(),
		},
	}
}

// counts are what Counts reads.
type counts struct {
	received, ran, panicked, handedBack, checks, wouldRun, tooOld atomic.Int64

	outcomes          [32]atomic.Int64 // by dedupe.Outcome
	became, would     dispositions
	refused, withheld reasons
}

func (n *counts) answered(o dedupe.Outcome) int64 { return n.outcomes[int(o)%len(n.outcomes)].Load() }

func (n *counts) accepted(h *held) {
	n.received.Add(1)
	switch {
	case h.check != nil:
		n.checks.Add(1)
	case h.refusal != nil:
		n.refused.add(h.refusal.reason)
	case h.tooOld:
		n.tooOld.Add(1)
	}
}

// decided counts a delivery's end. What became of it may differ from what was decided.
func (n *counts) decided(d decision) {
	n.became.add(d.disposition, d.letter.Reason)
	if d.ran {
		n.ran.Add(1)
	}
	if d.panicked {
		n.panicked.Add(1)
	}
	if d.behind {
		n.handedBack.Add(1)
	}
	if d.outcome != 0 {
		n.outcomes[int(d.outcome)%len(n.outcomes)].Add(1)
	}
	if d.unreadable {
		n.refused.add(ReasonMalformedBody)
	}
	switch v := d.would; {
	case v == nil:
	case v.Runs:
		n.wouldRun.Add(1)
		n.would.add(v.Disposition, v.Reason)
	default:
		n.withheld.add(v.Reason)
		n.would.add(v.Disposition, v.Reason)
	}
}

type dispositions struct {
	acked, nacked, left, neither atomic.Int64
	dead                         reasons
}

func (n *dispositions) add(d Disposition, reason string) {
	switch d {
	case Acked:
		n.acked.Add(1)
	case Nacked:
		n.nacked.Add(1)
	case Left:
		n.left.Add(1)
	case DeadLettered:
		n.dead.add(reason)
	default:
		n.neither.Add(1)
	}
}

// reasons counts by reason, in *atomic.Int64; there are few, so that it is read far more often than it grows.
type reasons struct{ m sync.Map }

func (r *reasons) add(reason string) {
	n, ok := r.m.Load(reason)
	if !ok {
		n, _ = r.m.LoadOrStore(reason, new(atomic.Int64))
	}
	n.(*atomic.Int64).Add(1)
}

func (r *reasons) of(reason string) int64 {
	if n, ok := r.m.Load(reason); ok {
		return n.(*atomic.Int64).Load()
	}
	return 0
}

func (r *reasons) all() map[string]int64 {
	out := map[string]int64{}
	r.m.Range(func(reason, n any) bool {
		out[reason.(string)] = n.(*atomic.Int64).Load()
		return true
	})
	return out
}
