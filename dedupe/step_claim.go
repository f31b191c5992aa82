package dedupe

import "time"

func (m *machine) claim(e Claim) Decision {
	if m.absent() {
		return m.write(m.fresh(e), OutcomeClaimed)
	}
	if !m.sameRequest(e) {
		return m.stay(OutcomeMismatch)
	}
	switch m.rec.State {
	case StateCompleted:
		return m.stay(OutcomeReplay)
	case StateFailed:
		return m.stay(OutcomeFailed)
	case StateUnknown:
		return m.stay(OutcomePending)
	case StateReleased:
		return m.claimReleased(e)
	case StateAbsent, StateInProgress:
	}
	return m.claimInProgress(e)
}

// fresh replaces whatever is stored. Its fence is the time, so that it rises over expiry and deletion although one write
// cannot know the fence before.
func (m *machine) fresh(e Claim) Record {
	return Record{
		Key: m.rec.Key, Fingerprint: e.Fingerprint, State: StateInProgress,
		Mode: e.Mode, Transactional: e.Transactional,
		Owner: e.Owner, Fence: m.now.UnixMilli(), Attempt: 1,
		LockedUntil: m.after(m.Lease), OwnerWroteAt: m.now,
		FirstAttemptAt: m.now, CreatedAt: m.now, ClaimedAt: m.now,
	}
}

func (m *machine) claimReleased(e Claim) Decision {
	switch {
	case m.forgotten(m.rec.Doubtful):
		return m.write(m.toUnknown(m.rec.Clone(), reasonForgotten), OutcomePending)
	case m.rec.Attempt >= m.AttemptBound:
		// A settlement gives no attempt back: without this, poison in a mode that reconciles would crash for ever.
		return m.write(m.exhausted(m.rec.Clone(), m.rec.Reason), OutcomeExhausted)
	}
	return m.write(m.again(e), OutcomeClaimed)
}

func (m *machine) claimInProgress(e Claim) Decision {
	if m.owns(e.Owner) {
		// Its own claim, whose answer was lost or which it has renewed since: never taken for a rival's.
		return m.stay(OutcomeClaimed)
	}
	if !m.leaseOver() {
		d := m.stay(OutcomeBusy)
		d.RetryAfter = m.rec.LockedUntil.Add(m.SkewMargin).Sub(m.now)
		return d
	}
	d := m.claimAbandoned(e)
	d.Note |= NoteAbandoned
	return d
}

func (m *machine) claimAbandoned(e Claim) Decision {
	if !rerunAllowed(m.rec) {
		return m.write(m.toUnknown(m.rec.Clone(), reasonAbandoned), OutcomePending)
	}
	left := m.rec.Clone()
	left.Doubtful = left.Doubtful || doubts(left)
	switch {
	case m.forgotten(left.Doubtful):
		return m.write(m.toUnknown(left, reasonForgotten), OutcomePending)
	case left.Attempt >= m.AttemptBound:
		return m.write(m.exhausted(left, reasonAbandoned), OutcomeExhausted)
	}
	next := m.again(e)
	next.Doubtful = left.Doubtful
	return m.write(next, OutcomeClaimed)
}

// again is a further attempt: counted here and not when it ends, so that a handler that kills its process is counted too.
// It takes the claimer's mode; the stored fingerprint stays, since downstream keys contain it.
func (m *machine) again(e Claim) Record {
	next := settled(m.rec.Clone())
	if next.Fingerprint == "" {
		next.Fingerprint = e.Fingerprint
	}
	next.State, next.Mode, next.Transactional = StateInProgress, e.Mode, e.Transactional
	next.Owner, next.Fence = e.Owner, max(next.Fence+1, m.now.UnixMilli())
	next.Attempt++
	next.Marks, next.Result, next.Reason = nil, nil, ""
	next.LockedUntil, next.OwnerWroteAt, next.ClaimedAt = m.after(m.Lease), m.now, m.now
	if next.FirstAttemptAt.IsZero() {
		next.FirstAttemptAt = m.now
	}
	next.ExpiresAt = time.Time{}
	if next.Troubled == 0 {
		next.AttentionAt = time.Time{}
	}
	return next
}

// Reasons that the rules themselves write into a record.
const (
	reasonAbandoned = "lease passed without an outcome"
	reasonForgotten = "the provider may have forgotten an earlier attempt"
)
