package dedupe

import "time"

// What the owner of a run reports. An owner is whoever holds the token of the last claim; a lease that passed does not end
// ownership, another claim does: a late report is better evidence than any guess.

func (m *machine) renew(e Renew) Decision {
	if m.absent() || m.rec.State != StateInProgress || !m.owns(e.Owner) {
		return m.stay(OutcomeLost)
	}
	next := m.owned(e.Undone)
	next.LockedUntil = m.after(m.Lease)
	return m.write(next, OutcomeApplied)
}

func (m *machine) begin(e Begin) Decision {
	if m.absent() || m.rec.State != StateInProgress || !m.owns(e.Owner) {
		return m.stay(OutcomeLost)
	}
	if m.rec.Mode == Rerun {
		return m.stay(OutcomeApplied) // no mark decides anything in this mode
	}
	next := m.owned(e.Undone)
	next.LockedUntil = m.after(m.Lease)
	if i := next.mark(e.Step); i >= 0 {
		next.Marks[i].Undone = false
		return m.write(next, OutcomeRepeated)
	}
	next.Marks = append(next.Marks, Mark{Step: e.Step, At: m.now})
	return m.write(next, OutcomeApplied)
}

func (m *machine) complete(e Complete) Decision {
	if m.rec.State == StateCompleted && m.owns(e.Owner) {
		return m.stay(OutcomeRepeated)
	}
	if m.absent() || m.rec.State == StateCompleted || !m.owns(e.Owner) {
		d := m.stay(OutcomeLost)
		d.Note = NoteEffectByLostOwner
		return d
	}
	next := m.owned(e.Undone)
	var note Note
	switch m.rec.State {
	case StateReleased, StateFailed:
		// It was settled otherwise, and nobody has claimed it since: its own word is better evidence.
		note = NoteContradicted
	case StateInProgress, StateUnknown:
		if next.Mode == RerunUnlessBegun && len(next.Marks) == 0 {
			note = NoteNothingBegun
		}
	case StateAbsent, StateCompleted:
	}
	d := m.write(m.toCompleted(next, e.Result), OutcomeApplied)
	d.Note = note
	return d
}

func (m *machine) fail(e Fail) Decision {
	if m.rec.State == StateFailed && m.owns(e.Owner) {
		return m.stay(OutcomeRepeated)
	}
	if !m.reportable(e.Owner) {
		return m.stay(OutcomeLost)
	}
	next := m.owned(e.Undone)
	switch {
	case len(next.OpenMarks()) > 1:
		// The failure speaks of the last step; the earlier ones may have had their effect.
		return m.suspected(next, e.Reason)
	case !next.Doubtful:
		return m.write(m.toFailed(next, e.Reason), OutcomeApplied)
	case next.Mode == Rerun:
		// Failed must mean that no attempt had an effect, and here an earlier one may have. In this mode no
		// reconciler need exist, so it is handed to people like an exhausted one.
		return m.write(m.exhausted(next, e.Reason), OutcomeExhausted)
	}
	return m.suspected(next, e.Reason)
}

// reportable: a run of this owner is open, or its outcome is unknown.
func (m *machine) reportable(owner string) bool {
	return !m.absent() && m.owns(owner) && (m.rec.State == StateInProgress || m.rec.State == StateUnknown)
}

// suspected makes it unknown; one that is unknown already stays as it is, without a write.
func (m *machine) suspected(next Record, reason string) Decision {
	if m.rec.State == StateUnknown {
		return m.stay(OutcomeRepeated)
	}
	return m.write(m.toUnknown(next, reason), OutcomeApplied)
}

func (m *machine) suspect(e Suspect) Decision {
	// Also after a settlement to released: its doubt came later and nobody has claimed since.
	late := !m.absent() && m.owns(e.Owner) && m.rec.State == StateReleased
	if !late && !m.reportable(e.Owner) {
		return m.stay(OutcomeLost)
	}
	d := m.suspected(m.owned(e.Undone), e.Reason)
	if late {
		d.Note = NoteContradicted
	}
	return d
}

func (m *machine) release(e Release) Decision {
	if !m.reportable(e.Owner) {
		if e.Cause == CauseGivenUp {
			return m.giveUp(e)
		}
		return m.stay(OutcomeLost)
	}
	next := m.owned(e.Undone)
	switch e.Cause {
	case CauseNeverStarted, CauseGivenUp:
		return m.uncounted(next, e)
	case CauseDrain:
		if !rerunAllowed(next) {
			return m.suspected(next, e.Reason)
		}
		next.Doubtful = next.Doubtful || doubts(next)
		return m.uncounted(next, e)
	case CauseNotCommitted:
		if len(next.OpenMarks()) > 1 {
			return m.suspected(next, e.Reason)
		}
		return m.countedRelease(next, e.Reason, e.Delay)
	case CausePlainError:
	}
	if !rerunAllowed(next) {
		return m.suspected(next, e.Reason)
	}
	next.Doubtful = next.Doubtful || doubts(next)
	return m.countedRelease(next, e.Reason, e.Delay)
}

// uncounted gives the attempt back that the claim's write counted.
func (m *machine) uncounted(next Record, e Release) Decision {
	next.Attempt = max(next.Attempt-1, 0)
	return m.write(m.toReleased(next, e.Reason, e.Delay), OutcomeApplied)
}

// giveUp invalidates what a claim that may still be on its way expects, so that it loses when it arrives: else the record
// would say in_progress with no handler ever started.
func (m *machine) giveUp(e Release) Decision {
	switch {
	case e.Expected != "" && m.rec.Revision == e.Expected:
		return m.write(m.rec.Clone(), OutcomeApplied) // unchanged but for its new revision
	case e.Expected == "" && e.Claim != nil && m.absent():
		return m.write(m.tombstone(*e.Claim, e.Reason), OutcomeApplied)
	}
	return m.stay(OutcomeLost)
}

// tombstone is a released record in place of a claim that never ran.
func (m *machine) tombstone(e Claim, reason string) Record {
	next := m.fresh(e)
	next.Attempt = 0
	next.FirstAttemptAt, next.LockedUntil = time.Time{}, time.Time{}
	return m.toReleased(next, reason, 0)
}
