package dedupe

import "time"

// What reconcilers and operators decide. All risk that no record can close enters with the answer "not committed", so
// these rules are tied to a lease taken before the question was asked.

func (m *machine) take(e Take) Decision {
	if m.absent() {
		return m.stay(OutcomeRefused)
	}
	switch m.rec.State {
	case StateUnknown:
		if m.rec.TakenBy != "" && m.rec.TakenBy != e.Token && !m.now.After(m.rec.TakenUntil.Add(m.SkewMargin)) {
			return m.stay(OutcomeRefused)
		}
		return m.write(m.taken(m.rec.Clone(), e), OutcomeApplied)
	case StateInProgress:
		return m.takeAbandoned(e)
	case StateAbsent, StateReleased, StateCompleted, StateFailed:
	}
	return m.stay(OutcomeRefused)
}

func (m *machine) takeAbandoned(e Take) Decision {
	if !m.leaseOver() {
		return m.stay(OutcomeRefused)
	}
	next := m.rec.Clone()
	var d Decision
	switch {
	case !rerunAllowed(next):
		// The write that turns it unknown also refuses a late Begin, before the provider is asked.
		d = m.write(m.taken(m.toUnknown(next, reasonAbandoned), e), OutcomeApplied)
	case m.now.After(next.LockedUntil.Add(m.SkewMargin + m.AttentionAfter)):
		// It may run again, but no redelivery came: its message is gone. People are to look.
		next.Doubtful = next.Doubtful || doubts(next)
		d = m.write(m.exhausted(next, reasonAbandoned), OutcomeApplied)
	default:
		return m.stay(OutcomeRefused)
	}
	d.Note = NoteAbandoned
	return d
}

// taken raises the generation in the lease write itself: raised by the answer it would come too late, since the owner's
// late release in between would leave a record whose next attempt uses a dead key.
func (m *machine) taken(next Record, e Take) Record {
	if e.Voids && next.TakenBy != e.Token {
		next.Generation++
	}
	next.TakenBy, next.TakenUntil = e.Token, m.after(e.For)
	return next
}

func (m *machine) resolve(e Resolve) Decision {
	if m.absent() {
		return m.stay(OutcomeRefused)
	}
	byOperator := e.Operator != ""
	switch m.rec.State {
	case StateUnknown:
		if byOperator || e.Token != "" && e.Token == m.rec.TakenBy {
			return m.resolved(e)
		}
	case StateInProgress:
		if byOperator && m.leaseOver() {
			return m.resolved(e)
		}
	case StateReleased:
		if byOperator && e.To != StateReleased {
			d := m.resolved(e)
			if d.Write {
				d.Next.Owner = e.NewOwner
			}
			return d
		}
	case StateAbsent, StateCompleted, StateFailed:
	}
	return m.stay(OutcomeRefused)
}

func (m *machine) resolved(e Resolve) Decision {
	next := m.rec.Clone()
	switch e.To {
	case StateCompleted:
		return m.write(m.toCompleted(next, e.Result), OutcomeApplied)
	case StateFailed:
		// Only a void makes sure that no request on its way can still take effect.
		if !e.Voided && e.Operator == "" {
			return m.stay(OutcomeRefused)
		}
		return m.write(m.toFailed(next, e.Reason), OutcomeApplied)
	case StateReleased:
		next.Doubtful = !e.Voided || e.Operator != ""
		next.Troubled |= TroubleUnknown
		next.FirstAttemptAt = time.Time{}
		return m.write(m.toReleased(next, e.Reason, 0), OutcomeApplied)
	case StateAbsent, StateInProgress, StateUnknown:
	}
	return m.stay(OutcomeRefused)
}

func (m *machine) override(e Override) Decision {
	if m.absent() || m.rec.State == StateInProgress && !m.leaseOver() {
		return m.stay(OutcomeRefused) // never against a live owner
	}
	next := m.rec.Clone()
	switch e.Action {
	case ActionRelease:
		next.Doubtful = true
		return m.overridden(next, e)
	case ActionForget:
		if m.rec.State == StateUnknown || m.rec.State == StateInProgress {
			return m.stay(OutcomeRefused) // what may have happened is settled first
		}
		next.Doubtful = m.rec.State != StateFailed
		next.Fingerprint = ""
		return m.overridden(next, e)
	case ActionDismiss:
		if m.rec.State != StateReleased {
			return m.stay(OutcomeRefused)
		}
		next.Troubled, next.AttentionAt, next.ExpiresAt = 0, time.Time{}, m.expiry(next)
		return m.write(next, OutcomeApplied)
	}
	return m.stay(OutcomeRefused)
}

// overridden may run again as a new series: the old owner's report is refused, outgoing messages get new ids.
func (m *machine) overridden(next Record, e Override) Decision {
	if m.rec.State == StateUnknown || m.rec.State == StateInProgress {
		next.Troubled |= TroubleUnknown
	}
	next.Owner, next.Attempt, next.FirstAttemptAt = e.NewOwner, 0, time.Time{}
	next.Marks = nil
	next.ReplyEpoch++
	return m.write(m.toReleased(next, e.Reason, 0), OutcomeApplied)
}
