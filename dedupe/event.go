package dedupe

import "time"

// An Event is something that happens to a record. [Rules.Step] says what becomes of it.
//
//sumtype:decl
type Event interface {
	// Name is the event's name in documentation, logs and scripts.
	Name() string
	event()
}

// Claim asks to own the operation and to run it.
type Claim struct {
	Owner       string // made fresh for each claim
	Fingerprint string
	// Equivalent holds digests of the same request under older schemes, so that a change of rules makes no
	// false mismatch. The stored digest is kept: downstream keys contain it.
	Equivalent    []string
	Mode          Mode
	Transactional bool
}

// Renew extends the owner's lease.
type Renew struct {
	Owner  string
	Undone []string
}

// Begin marks that the owner is about to perform the effect called Step, and renews the lease.
type Begin struct {
	Owner  string
	Step   string
	Undone []string
}

// Complete records that the operation took effect.
type Complete struct {
	Owner  string
	Result *Result
	Undone []string
}

// Fail records that the operation ended for good without an effect.
type Fail struct {
	Owner  string
	Reason string
	Undone []string
}

// Cause says why a run is released; what it proves differs.
type Cause uint8

// Causes of a [Release].
const (
	CausePlainError   Cause = iota + 1 // the handler returned an error or panicked: proves nothing
	CauseNotCommitted                  // the handler says that its last step had no effect
	CauseDrain                         // the worker stops; like a plain error, but not counted
	CauseNeverStarted                  // the handler was never started; not counted
	CauseGivenUp                       // a claim whose answer never came: see rule 2 of [Store]; not counted
)

// String gives the cause's name as documented.
func (c Cause) String() string {
	switch c {
	case CausePlainError:
		return "plain_error"
	case CauseNotCommitted:
		return "not_committed"
	case CauseDrain:
		return "drain"
	case CauseNeverStarted:
		return "never_started"
	case CauseGivenUp:
		return "given_up"
	}
	return "invalid"
}

// Release gives the operation back, if its cause and the record's mode and marks allow it.
type Release struct {
	Owner  string
	Cause  Cause
	Reason string
	Delay  time.Duration // how long the message was asked to stay away
	Undone []string
	// For CauseGivenUp: the claim that may still be on its way, and the revision that it expected ("" if it
	// expected none), so that the release can invalidate what it expects.
	Claim    *Claim
	Expected string
}

// Suspect records that the owner cannot know whether its effect happened.
type Suspect struct {
	Owner  string
	Reason string
	Undone []string
}

// Take is a reconciler's lease, in fields of its own. It is written before the provider is asked,
// so that an owner's late Begin is refused.
type Take struct {
	Token string
	For   time.Duration
	Voids bool // after its answer the provider never executes keys of an older generation
}

// Resolve settles a record whose outcome was unknown, by the reconciler that took it or by an operator.
type Resolve struct {
	Token    string // of the Take; not needed by an operator
	To       State  // StateCompleted, StateReleased or StateFailed
	Result   *Result
	Reason   string
	Voided   bool   // the reconciler voided: the older keys are dead at the provider
	Operator string // who, if a person decides
	NewOwner string // replaces the owner token where an operator settles a released record
}

// Action is what an operator's [Override] does.
type Action uint8

// Actions of an [Override].
const (
	ActionRelease Action = iota + 1 // may run again
	ActionForget                    // drops the fingerprint: a corrected request may use the key
	ActionDismiss                   // takes a released record off the list and lets it expire
)

// String gives the action's name as documented.
func (a Action) String() string {
	switch a {
	case ActionRelease:
		return "release"
	case ActionForget:
		return "forget"
	case ActionDismiss:
		return "dismiss"
	}
	return "invalid"
}

// Override is an operator's decision against what the record says. It is audited.
type Override struct {
	Action   Action
	Operator string
	Reason   string
	Resend   string // who sends the message again
	NewOwner string // replaces the owner token, so that the old owner's late report is refused
}

func (Claim) event()    {}
func (Renew) event()    {}
func (Begin) event()    {}
func (Complete) event() {}
func (Fail) event()     {}
func (Release) event()  {}
func (Suspect) event()  {}
func (Take) event()     {}
func (Resolve) event()  {}
func (Override) event() {}

// Name implements [Event].
func (Claim) Name() string { return "claim" }

// Name implements [Event].
func (Renew) Name() string { return "renew" }

// Name implements [Event].
func (Begin) Name() string { return "begin" }

// Name implements [Event].
func (Complete) Name() string { return "complete" }

// Name implements [Event].
func (Fail) Name() string { return "fail" }

// Name implements [Event].
func (Release) Name() string { return "release" }

// Name implements [Event].
func (Suspect) Name() string { return "suspect" }

// Name implements [Event].
func (Take) Name() string { return "take" }

// Name implements [Event].
func (Resolve) Name() string { return "resolve" }

// Name implements [Event].
func (Override) Name() string { return "override" }

// Outcome is what an event came to.
type Outcome uint8

// Outcomes.
const (
	OutcomeClaimed   Outcome = iota + 1 // the caller owns the operation and is to run it
	OutcomeReplay                       // completed: answer from the stored result
	OutcomeFailed                       // failed: answer from the stored failure
	OutcomeBusy                         // another owner is presumed alive
	OutcomePending                      // unknown: to be reconciled
	OutcomeExhausted                    // may not run again by itself: dead-letter; listed for operators
	OutcomeMismatch                     // same key, other request: refused for good
	OutcomeApplied                      // the event was recorded
	OutcomeRepeated                     // it had been recorded before; nothing to do
	OutcomeLost                         // the record is not the caller's (any more)
	OutcomeRefused                      // the record's state does not allow it
)

// String gives the outcome's name as documented.
func (o Outcome) String() string {
	names := [...]string{
		"invalid", "claimed", "replay", "failed", "busy", "pending", "exhausted", "mismatch",
		"applied", "repeated", "lost", "refused",
	}
	if int(o) < len(names) {
		return names[o]
	}
	return "invalid"
}

// Note is something that people should hear of, beside the outcome.
type Note uint8

// Notes, combined by or.
const (
	// NoteAbandoned: a lease passed without an outcome. An incident, never a made-up success.
	NoteAbandoned Note = 1 << iota
	// NoteContradicted: the owner reported an outcome after the record had been settled otherwise.
	NoteContradicted
	// NoteEffectByLostOwner: a worker reports an effect of an operation that is no longer its own.
	NoteEffectByLostOwner
	// NoteNothingBegun: completed in RerunUnlessBegun without any Begin: the handler's effects have no marks.
	NoteNothingBegun
)
