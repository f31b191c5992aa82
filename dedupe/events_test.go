package dedupe_test

import (
	"time"

	"github.com/claimonce/claimonce/dedupe"
)

// A namedEvent is one column of the table.
type namedEvent struct {
	name  string
	about string // for the document
	event dedupe.Event
}

// tableEvents lists every event in every variant that the rules tell apart.
func tableEvents() []namedEvent {
	claim := dedupe.Claim{Owner: "new", Fingerprint: requestA, Mode: dedupe.Reconcile}
	other, own, older := claim, claim, claim
	other.Fingerprint = requestB
	own.Owner = "own"
	older.Fingerprint, older.Equivalent = "v2:a", []string{requestAOld, requestA}
	stranger := dedupe.Claim{Owner: "lost", Fingerprint: requestA, Mode: dedupe.Reconcile}
	res := &dedupe.Result{Status: 201, Body: []byte(`{"id":2}`)}
	release := func(owner string, c dedupe.Cause) dedupe.Release {
		return dedupe.Release{Owner: owner, Cause: c, Reason: "busy", Delay: time.Minute}
	}
	givenUp := func(expected string) dedupe.Release {
		return dedupe.Release{Owner: "lost", Cause: dedupe.CauseGivenUp, Reason: "given up", Claim: &stranger, Expected: expected}
	}
	reconciler := func(to dedupe.State, voided bool) dedupe.Resolve {
		return dedupe.Resolve{Token: "rec", To: to, Result: resultFor(to, res), Reason: "asked", Voided: voided}
	}
	operator := func(to dedupe.State) dedupe.Resolve {
		return dedupe.Resolve{To: to, Result: resultFor(to, res), Reason: "looked", Operator: "ann", NewOwner: "ops"}
	}
	override := func(a dedupe.Action) dedupe.Override {
		return dedupe.Override{Action: a, Operator: "ann", Reason: "looked", Resend: "ann", NewOwner: "ops"}
	}
	undone := []string{"charge", "mail"}
	return []namedEvent{
		{"claim", "a new claim for the same request, in mode reconcile", claim},
		{"claim other", "a new claim for another request", other},
		{"claim own", "the owner's claim again, since its answer was lost", own},
		{"claim older", "a new claim whose digest under an older scheme is the stored one", older},
		{"renew", "renewal by the owner", dedupe.Renew{Owner: "own"}},
		{"renew undone", "renewal by the owner, all its steps undone", dedupe.Renew{Owner: "own", Undone: undone}},
		{"renew stranger", "renewal by a former owner", dedupe.Renew{Owner: "old"}},
		{"begin", "Begin of a new step by the owner", dedupe.Begin{Owner: "own", Step: "ship"}},
		{"begin again", "Begin of the step charge by the owner", dedupe.Begin{Owner: "own", Step: "charge"}},
		{"begin stranger", "Begin by a former owner", dedupe.Begin{Owner: "old", Step: "charge"}},
		{"complete", "completion by the owner", dedupe.Complete{Owner: "own", Result: res}},
		{"complete stranger", "completion by a former owner", dedupe.Complete{Owner: "old", Result: res}},
		{"fail", "Permanent, by the owner", dedupe.Fail{Owner: "own", Reason: "refused"}},
		{"fail undone", "Permanent, by the owner, all its steps undone", dedupe.Fail{Owner: "own", Reason: "refused", Undone: undone}},
		{"fail stranger", "Permanent, by a former owner", dedupe.Fail{Owner: "old", Reason: "refused"}},
		{"release error", "a plain error or panic of the owner's handler, another try in a minute", release("own", dedupe.CausePlainError)},
		{"release undone", "the same, all its steps undone", func() dedupe.Release {
			r := release("own", dedupe.CausePlainError)
			r.Undone = undone
			return r
		}()},
		{"release not committed", "NotCommitted, by the owner", release("own", dedupe.CauseNotCommitted)},
		{"release drain", "the owner's worker stops", release("own", dedupe.CauseDrain)},
		{"release never started", "the owner's handler was never started", release("own", dedupe.CauseNeverStarted)},
		{"release given up", "the owner's claim is given up, its answer never came", release("own", dedupe.CauseGivenUp)},
		{"release stranger", "a plain error of a former owner", release("old", dedupe.CausePlainError)},
		{"given up, absence expected", "a claim is given up that expected no record", givenUp("")},
		{"given up, revision expected", "a claim is given up that expected the record as it is", givenUp("r1")},
		{"given up, other revision", "a claim is given up that expected the record as it was before", givenUp("r0")},
		{"suspect", "Unknown, by the owner", dedupe.Suspect{Owner: "own", Reason: "reset"}},
		{"suspect stranger", "Unknown, by a former owner", dedupe.Suspect{Owner: "old", Reason: "reset"}},
		{"take", "a reconciler that looks up takes it for a minute", dedupe.Take{Token: "new", For: time.Minute}},
		{"take voids", "a reconciler that voids takes it for a minute", dedupe.Take{Token: "new", For: time.Minute, Voids: true}},
		{"take again", "the reconciler that has it takes it again", dedupe.Take{Token: "rec", For: time.Minute, Voids: true}},
		{"resolve completed", "the reconciler that has it: committed", reconciler(dedupe.StateCompleted, false)},
		{"resolve released", "the same: not committed", reconciler(dedupe.StateReleased, false)},
		{"resolve failed", "the same: failed, without a void", reconciler(dedupe.StateFailed, false)},
		{"resolve voided", "the same, after a void: not committed", reconciler(dedupe.StateReleased, true)},
		{"resolve voided failed", "the same, after a void: failed", reconciler(dedupe.StateFailed, true)},
		{"resolve unknown", "the same: an answer that is none", reconciler(dedupe.StateUnknown, true)},
		{"resolve stranger", "a reconciler that does not have it: not committed", dedupe.Resolve{Token: "old", To: dedupe.StateReleased, Voided: true}},
		{"resolve nobody", "no reconciler and no operator", dedupe.Resolve{To: dedupe.StateReleased, Voided: true}},
		{"operator completed", "an operator: committed", operator(dedupe.StateCompleted)},
		{"operator released", "an operator: not committed", operator(dedupe.StateReleased)},
		{"operator failed", "an operator: failed", operator(dedupe.StateFailed)},
		{"operator unknown", "an operator: an answer that is none", operator(dedupe.StateUnknown)},
		{"override release", "an operator lets it run again, whatever the record says", override(dedupe.ActionRelease)},
		{"override forget", "an operator lets another request use the key", override(dedupe.ActionForget)},
		{"override dismiss", "an operator takes it off the list", override(dedupe.ActionDismiss)},
	}
}

func resultFor(to dedupe.State, res *dedupe.Result) *dedupe.Result {
	if to == dedupe.StateCompleted {
		return res
	}
	return nil
}

// groups are names for events that often share a cell.
var groups = map[string]string{
	"former owners":      "renew stranger; begin stranger; fail stranger; release stranger; suspect stranger",
	"beats":              "renew; renew undone; begin; begin again",
	"failures":           "fail; fail undone",
	"releases":           "release error; release undone; release not committed; release drain; release never started; release given up",
	"takes":              "take; take voids; take again",
	"answers":            "resolve completed; resolve released; resolve failed; resolve voided; resolve voided failed; resolve unknown; resolve stranger; resolve nobody",
	"operator's answers": "operator completed; operator released; operator failed; operator unknown",
	"overrides":          "override release; override forget; override dismiss",
}
