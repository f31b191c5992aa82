package dedupe

import (
	"fmt"
	"time"
)

// refusal says why an event of a reconciler or an operator was refused, and what to do.
func (r Rules) refusal(rec Record, ev Event, now time.Time) error {
	m := machine{Rules: r, rec: rec, now: now}
	if m.absent() {
		return fmt.Errorf("%w: nothing is stored under this key (any more), so there is nothing to decide", ErrRefused)
	}
	why := ""
	switch e := ev.(type) {
	case Take:
		why = m.whyNotTaken()
	case Resolve:
		why = m.whyNotResolved(e)
	case Override:
		why = m.whyNotOverridden(e)
	case Claim, Renew, Begin, Complete, Fail, Release, Suspect: // never refused: see Outcome
	}
	return fmt.Errorf("%w %s: %s", ErrRefused, rec.State, why)
}

// alive is for an owner that may still run.
func (m *machine) alive() string {
	return "its owner is presumed alive until " + timeText(m.rec.LockedUntil.Add(m.SkewMargin)) + "; come back then"
}

func timeText(t time.Time) string { return t.UTC().Format(time.RFC3339) }

func (m *machine) whyNotTaken() string {
	switch {
	case m.rec.State == StateUnknown:
		return "another reconciler has it until " + timeText(m.rec.TakenUntil.Add(m.SkewMargin)) + "; come back then"
	case m.rec.State == StateReleased:
		return "it may run again, so send its message again; a person may settle it with ResolveBy or Override"
	case m.rec.State != StateInProgress:
		return "it is settled"
	case !m.leaseOver():
		return m.alive()
	}
	return "its lease is over and it may run again by itself: the next delivery of its message does that"
}

func (m *machine) whyNotResolved(e Resolve) string {
	switch {
	case e.To != StateCompleted && e.To != StateFailed && e.To != StateReleased:
		return "an answer is completed, failed or released, not " + e.To.String()
	case m.rec.State == StateInProgress && !m.leaseOver():
		return m.alive()
	case m.rec.State == StateCompleted || m.rec.State == StateFailed:
		return "it is settled; a person may decide against that with Override"
	case m.rec.State == StateReleased && e.Operator != "":
		return "it is released already"
	case m.rec.State == StateUnknown && e.To == StateFailed && e.Operator == "" && e.Token == m.rec.TakenBy:
		return "a request on its way may still take effect, so that only a person or a reconciler that voids may answer failed; answer released"
	}
	return "it is not taken by this reconciler; take it first"
}

func (m *machine) whyNotOverridden(e Override) string {
	switch {
	case m.rec.State == StateInProgress && !m.leaseOver():
		return m.alive()
	case e.Action == ActionForget:
		return "what may have happened comes first: settle it with ResolveBy, then forget it"
	case e.Action == ActionDismiss:
		return "only a released record is dismissed; settle it with ResolveBy"
	}
	return "there is no such action"
}
