package dedupe

import (
	"slices"
	"time"
)

// Rules are the numbers that [Rules.Step] decides by. The zero value of each field means its default where
// [Config] fills it; Step itself takes them as they are.
type Rules struct {
	Window           time.Duration // how long an outcome is remembered
	Lease            time.Duration // how long an owner is presumed alive after its last write
	SkewMargin       time.Duration // how far two clocks may differ
	AttemptBound     int           // attempts before an operation is exhausted
	AttentionAfter   time.Duration // how long a released record waits before it is on the operators' list
	DownstreamMemory time.Duration // how long the provider recognises a downstream key; 0: rule off
}

// A Decision is what an event comes to.
type Decision struct {
	Next       Record        // what the record becomes; equal to the present one if Write is false
	Outcome    Outcome       // what the caller is told
	Write      bool          // Next is to be written, under the present revision or absence
	RetryAfter time.Duration // Busy: what is left of the other's lease, the margin included
	Note       Note
}

// Step is the state machine: it says what an event does to a record at a time. It knows every rule, does no I/O, owns no
// clock and starts no goroutine. The caller gives Next a new revision before writing it.
//
// rec is what is stored, with its Key set even if nothing is. Its maps and slices are not changed.
func (r Rules) Step(rec Record, ev Event, now time.Time) Decision {
	m := machine{Rules: r, rec: rec, now: now.UTC().Truncate(time.Millisecond)}
	switch e := ev.(type) {
	case Claim:
		return m.claim(e)
	case Renew:
		return m.renew(e)
	case Begin:
		return m.begin(e)
	case Complete:
		return m.complete(e)
	case Fail:
		return m.fail(e)
	case Release:
		return m.release(e)
	case Suspect:
		return m.suspect(e)
	case Take:
		return m.take(e)
	case Resolve:
		return m.resolve(e)
	case Override:
		return m.override(e)
	}
	return m.stay(OutcomeRefused)
}

// ExpiredAt reports whether a record no longer counts at a time: the test of [AbsentAt] with the time that
// [Rules.AbsenceTime] gives.
func (r Rules) ExpiredAt(rec Record, now time.Time) bool {
	return rec.State != StateAbsent && AbsentAt(r.AbsenceTime(now)).Met(rec)
}

// AbsenceTime is the time that a claim at now gives to [AbsentAt]: the skew margin is added when ExpiresAt is written
// and subtracted when it is read, so that neither a fast nor a slow clock ends a window early.
func (r Rules) AbsenceTime(now time.Time) time.Time { return now.Add(-r.SkewMargin) }

// machine is one call of Step.
type machine struct {
	Rules

	rec Record
	now time.Time
}

func (m *machine) stay(o Outcome) Decision { return Decision{Next: m.rec, Outcome: o} }

func (m *machine) write(next Record, o Outcome) Decision {
	next.Schema = SchemaVersion
	return Decision{Next: next, Outcome: o, Write: true}
}

// absent: nothing is stored, or what is stored no longer counts.
func (m *machine) absent() bool {
	return m.rec.State == StateAbsent || m.ExpiredAt(m.rec, m.now)
}

func (m *machine) owns(owner string) bool { return owner != "" && owner == m.rec.Owner }

// leaseOver adds the skew margin before it believes that another's lease is over: the other's clock may be slow.
func (m *machine) leaseOver() bool {
	return m.rec.State == StateInProgress && m.now.After(m.rec.LockedUntil.Add(m.SkewMargin))
}

// rerunAllowed: the record's own mode, not the asker's, says whether what it left behind may run again, so that a rolling
// deploy to a looser mode reruns nothing.
func rerunAllowed(rec Record) bool {
	return rec.Mode == Rerun || rec.Mode == RerunUnlessBegun && len(rec.OpenMarks()) == 0
}

// doubts: in this mode an ended attempt may have had an effect that nothing shows.
func doubts(rec Record) bool { return rec.Mode == Rerun && !rec.Transactional }

// after cuts to the millisecond, since a store keeps no more. The durations are added one by one: their sum may overflow.
func (m *machine) after(ds ...time.Duration) time.Time {
	t := m.now
	for _, d := range ds {
		t = t.Add(d)
	}
	return t.Truncate(time.Millisecond)
}

func (m *machine) expiry(rec Record) time.Time {
	// A one-write claim of an expired record would start again at a generation whose keys are void for ever.
	if rec.Generation > 0 {
		return time.Time{}
	}
	t := m.now.Add(m.Window).Add(m.SkewMargin)
	if whole := t.Truncate(time.Second); whole.Before(t) {
		return whole.Add(time.Second)
	}
	return t
}

// owned copies the record for a write by its owner: undone steps are closed, times kept up.
func (m *machine) owned(undone []string) Record {
	next := m.rec.Clone()
	for _, step := range undone {
		if i := next.mark(step); i >= 0 {
			next.Marks[i].Undone = true
		}
	}
	next.OwnerWroteAt = m.now
	return next
}

// settled is what every outcome but unknown has in common: the reconciler's lease is over.
func settled(next Record) Record {
	next.TakenBy, next.TakenUntil = "", time.Time{}
	return next
}

func (m *machine) toCompleted(next Record, res *Result) Record {
	next = settled(next)
	next.State, next.Reason, next.Marks = StateCompleted, "", nil
	if res != nil {
		c := res.clone()
		next.Result = &c
	}
	next.Doubtful, next.Troubled, next.AttentionAt = false, 0, time.Time{}
	next.ExpiresAt = m.expiry(next)
	return next
}

func (m *machine) toFailed(next Record, reason string) Record {
	next = settled(next)
	next.State, next.Reason, next.Marks, next.Result = StateFailed, reason, nil, nil
	next.Doubtful, next.Troubled, next.AttentionAt = false, 0, time.Time{}
	next.ExpiresAt = m.expiry(next)
	return next
}

// toUnknown keeps LockedUntil, marks and owner: the settle time counts from the lease, and the owner may still report.
// Evidence that an effect may have happened must not vanish by a clock, so it never expires.
func (m *machine) toUnknown(next Record, reason string) Record {
	next = settled(next)
	next.State, next.Reason = StateUnknown, reason
	next.Troubled |= TroubleUnknown
	next.AttentionAt, next.ExpiresAt = m.now, time.Time{}
	return next
}

// toReleased lets it run again. One that was never unknown expires with the window: by then every message that existed
// now is refused for its age, so nothing that could run it is lost.
func (m *machine) toReleased(next Record, reason string, delay time.Duration) Record {
	next = settled(next)
	next.State, next.Reason, next.Result = StateReleased, reason, nil
	next.AttentionAt = m.after(max(delay, 0), m.AttentionAfter)
	if next.Troubled != 0 {
		next.AttentionAt = m.now
	}
	next.ExpiresAt = time.Time{}
	if next.Troubled&TroubleUnknown == 0 {
		next.ExpiresAt = m.expiry(next)
	}
	return next
}

// exhausted is listed at once and starts a new count: a redrive, by whatever tool, runs it again. The owner token stays,
// so that the owner's late report is welcome. Only after this write is the message dead-lettered: a crash in
// between costs one more round, never a loss.
func (m *machine) exhausted(next Record, reason string) Record {
	next.Attempt = 0
	next.Troubled |= TroubleExhausted
	return m.toReleased(next, reason, 0)
}

// countedRelease is a release after a run that counts as an attempt.
func (m *machine) countedRelease(next Record, reason string, delay time.Duration) Decision {
	if next.Attempt >= m.AttemptBound {
		return m.write(m.exhausted(next, reason), OutcomeExhausted)
	}
	return m.write(m.toReleased(next, reason, delay), OutcomeApplied)
}

// forgotten: a run now could come after the provider forgot the key of an attempt that may have had an effect.
func (m *machine) forgotten(doubtful bool) bool {
	return m.DownstreamMemory > 0 && doubtful && !m.rec.FirstAttemptAt.IsZero() &&
		m.now.After(m.rec.FirstAttemptAt.Add(m.DownstreamMemory))
}

func (m *machine) sameRequest(e Claim) bool {
	// Only an operator's forget leaves no fingerprint: any request may then use the key.
	return m.rec.Fingerprint == "" && m.rec.State == StateReleased ||
		m.rec.Fingerprint == e.Fingerprint || slices.Contains(e.Equivalent, m.rec.Fingerprint)
}
