package dedupe_test

import (
	"reflect"
	"slices"
	"time"

	"github.com/claimonce/claimonce/dedupe"
)

// violations lists what is wrong with one step.
func violations(rules dedupe.Rules, rec dedupe.Record, ev dedupe.Event, d dedupe.Decision, now time.Time) []string {
	var wrong []string
	must := func(ok bool, what string) {
		if !ok {
			wrong = append(wrong, what)
		}
	}
	next := d.Next
	expired := !rec.ExpiresAt.IsZero() && !rec.ExpiresAt.After(now.Add(-rules.SkewMargin))
	_, override := ev.(dedupe.Override)
	must(d.Write || reflect.DeepEqual(rec, next), "nothing is written, but Next differs")
	must(next.Fence >= rec.Fence, "the fence falls")
	must(next.Generation >= rec.Generation, "the generation falls")
	must(next.Key == rec.Key, "the key changes")
	must(!d.Write || next.Schema == dedupe.SchemaVersion, "written without the schema version")
	must(rec.State != dedupe.StateCompleted || next.State == dedupe.StateCompleted || expired || override, "completed is left")
	must(rec.State != dedupe.StateUnknown || next.State != dedupe.StateInProgress, "unknown runs again")
	must(d.Outcome != dedupe.OutcomeMismatch || !d.Write, "a mismatch writes")
	must(d.Outcome != dedupe.OutcomeLost || !d.Write, "what is lost is written")
	must(d.Outcome != dedupe.OutcomeRefused || !d.Write, "what is refused is written")
	must(next.ExpiresAt.IsZero() || mayExpire(next), "it carries expires_at, but must never expire")
	must(!next.ExpiresAt.IsZero() || !mayExpire(next) || next.Generation > 0, "it never expires, but should")
	must(next.ExpiresAt.Nanosecond() == 0, "expires_at is not in whole seconds")
	must(!d.Write || next.ExpiresAt.IsZero() || next.ExpiresAt.Equal(rec.ExpiresAt) || !next.ExpiresAt.Before(now.Add(rules.Window)), "the window is cut short")
	must(next.State != dedupe.StateInProgress || next.Attempt >= 1 && next.Attempt <= rules.AttemptBound, "it runs without or beyond the count of attempts")
	must(next.State != dedupe.StateUnknown || next.Troubled&dedupe.TroubleUnknown != 0 && !next.AttentionAt.IsZero(), "unknown, and on no list")
	must(next.State != dedupe.StateReleased || !next.AttentionAt.IsZero() || isDismiss(ev) || !d.Write || isGivenUp(ev), "released, and on no list for ever")
	must(!isStranger(rec, ev) || !d.Write, "a stranger writes")
	for _, at := range []time.Time{
		next.LockedUntil, next.OwnerWroteAt, next.TakenUntil, next.AttentionAt, next.FirstAttemptAt, next.CreatedAt, next.ClaimedAt,
	} {
		must(at.Equal(at.Truncate(time.Millisecond)) && at.Location() == time.UTC, "a time is not in UTC to the millisecond")
	}
	if c, ok := ev.(dedupe.Claim); ok {
		outcome, state := naiveClaim(rules, rec, c, now)
		must(d.Outcome == outcome && next.State == state, "a naive reading of the claim rules says "+outcome.String()+", "+state.String())
	}
	return wrong
}

func mayExpire(r dedupe.Record) bool {
	switch r.State {
	case dedupe.StateCompleted, dedupe.StateFailed:
		return r.Generation == 0
	case dedupe.StateReleased:
		return r.Generation == 0 && r.Troubled&dedupe.TroubleUnknown == 0
	}
	return false
}

func isDismiss(ev dedupe.Event) bool {
	o, ok := ev.(dedupe.Override)
	return ok && o.Action == dedupe.ActionDismiss
}

func isGivenUp(ev dedupe.Event) bool {
	r, ok := ev.(dedupe.Release)
	return ok && r.Cause == dedupe.CauseGivenUp
}

// isStranger: an owner's event under a token that is not the record's.
func isStranger(rec dedupe.Record, ev dedupe.Event) bool {
	switch e := ev.(type) {
	case dedupe.Renew:
		return e.Owner != rec.Owner || e.Owner == ""
	case dedupe.Begin:
		return e.Owner != rec.Owner || e.Owner == ""
	case dedupe.Complete:
		return e.Owner != rec.Owner || e.Owner == ""
	case dedupe.Fail:
		return e.Owner != rec.Owner || e.Owner == ""
	case dedupe.Suspect:
		return e.Owner != rec.Owner || e.Owner == ""
	case dedupe.Release:
		return e.Cause != dedupe.CauseGivenUp && (e.Owner != rec.Owner || e.Owner == "")
	case dedupe.Resolve:
		return e.Operator == "" && (e.Token != rec.TakenBy || e.Token == "")
	}
	return false
}

// naiveClaim reads the rules of a claim from the design's tables, top to bottom, without looking at how Step is made.
func naiveClaim(rules dedupe.Rules, rec dedupe.Record, c dedupe.Claim, now time.Time) (dedupe.Outcome, dedupe.State) {
	now = now.Truncate(time.Millisecond)
	late := func(t time.Time, by time.Duration) bool { return now.Sub(t) > by }
	tooLate := rules.DownstreamMemory != 0 && !rec.FirstAttemptAt.IsZero() && late(rec.FirstAttemptAt, rules.DownstreamMemory)
	fits := rec.Fingerprint == c.Fingerprint || slices.Contains(c.Equivalent, rec.Fingerprint) ||
		rec.State == dedupe.StateReleased && rec.Fingerprint == ""
	begun := slices.ContainsFunc(rec.Marks, func(m dedupe.Mark) bool { return !m.Undone })
	switch {
	case rec.State == dedupe.StateAbsent:
		return dedupe.OutcomeClaimed, dedupe.StateInProgress
	case !rec.ExpiresAt.IsZero() && rec.ExpiresAt.Unix() <= now.Add(-rules.SkewMargin).Unix():
		return dedupe.OutcomeClaimed, dedupe.StateInProgress
	case !fits:
		return dedupe.OutcomeMismatch, rec.State
	case rec.State == dedupe.StateCompleted:
		return dedupe.OutcomeReplay, rec.State
	case rec.State == dedupe.StateFailed:
		return dedupe.OutcomeFailed, rec.State
	case rec.State == dedupe.StateUnknown:
		return dedupe.OutcomePending, rec.State
	case rec.State == dedupe.StateReleased && rec.Doubtful && tooLate:
		return dedupe.OutcomePending, dedupe.StateUnknown
	case rec.State == dedupe.StateReleased && rec.Attempt >= rules.AttemptBound:
		return dedupe.OutcomeExhausted, dedupe.StateReleased
	case rec.State == dedupe.StateReleased:
		return dedupe.OutcomeClaimed, dedupe.StateInProgress
	case c.Owner == rec.Owner:
		return dedupe.OutcomeClaimed, dedupe.StateInProgress
	case !late(rec.LockedUntil, rules.SkewMargin):
		return dedupe.OutcomeBusy, dedupe.StateInProgress
	case rec.Mode == dedupe.Reconcile, rec.Mode == dedupe.RerunUnlessBegun && begun:
		return dedupe.OutcomePending, dedupe.StateUnknown
	case tooLate && (rec.Doubtful || rec.Mode == dedupe.Rerun && !rec.Transactional):
		return dedupe.OutcomePending, dedupe.StateUnknown
	case rec.Attempt >= rules.AttemptBound:
		return dedupe.OutcomeExhausted, dedupe.StateReleased
	}
	return dedupe.OutcomeClaimed, dedupe.StateInProgress
}
