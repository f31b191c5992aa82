package dedupe

import (
	"maps"
	"slices"
	"time"
)

// SchemaVersion is the version of [Record] that this release writes. A record of a newer version is left alone:
// see [ErrNewerSchema].
const SchemaVersion = 1

// State is what a record says of its operation. "Expired" is not a state but a question about now: see [Rules].
type State uint8

// The states. Their numbers are not stored; stores keep the names that String gives.
const (
	StateAbsent     State = iota // nothing stored: the zero value
	StateInProgress              // claimed; the owner is presumed alive until LockedUntil
	StateReleased                // no run under way, may be claimed again by the same fingerprint
	StateCompleted               // took effect; the result is replayed
	StateFailed                  // ended for good without an effect; the failure is replayed
	StateUnknown                 // nobody can know whether the effect happened; to be reconciled
)

// String gives the state's name as documented and stored.
func (s State) String() string {
	names := [...]string{"absent", "in_progress", "released", "completed", "failed", "unknown"}
	if int(s) < len(names) {
		return names[s]
	}
	return "invalid"
}

// ParseState is the inverse of [State.String]; ok is false for anything else.
func ParseState(s string) (state State, ok bool) {
	for st := StateAbsent; st <= StateUnknown; st++ {
		if st.String() == s {
			return st, true
		}
	}
	return StateAbsent, false
}

// Mode says what may be done with an operation whose owner vanished or whose handler returned a plain error.
// It is the one setting without a default: a wrong guess either pays twice or strands work.
type Mode uint8

// The recovery modes.
const (
	// Rerun runs the handler again. For handlers that are idempotent by themselves, or that commit their
	// write in the completion's transaction.
	Rerun Mode = iota + 1
	// RerunUnlessBegun runs the handler again if it had begun no effect; else the outcome is unknown. For
	// handlers that call [Operation.Begin] before each effect.
	RerunUnlessBegun
	// Reconcile never runs it again by itself: the outcome is unknown. For handlers that have effects and
	// keep no marks.
	Reconcile
)

// String gives the mode's name as documented and stored.
func (m Mode) String() string {
	switch m {
	case Rerun:
		return "rerun"
	case RerunUnlessBegun:
		return "rerun_unless_begun"
	case Reconcile:
		return "reconcile"
	}
	return "invalid"
}

// ParseMode is the inverse of [Mode.String]; ok is false for anything else.
func ParseMode(s string) (mode Mode, ok bool) {
	for m := Rerun; m <= Reconcile; m++ {
		if m.String() == s {
			return m, true
		}
	}
	return 0, false
}

// Trouble says why a record is on the operators' list (the sparse attention index). It is sticky: only completion,
// failure or an operator's dismissal clears it, since a later claim and release must not hide it.
type Trouble uint8

// Troubles, combined by or.
const (
	TroubleExhausted Trouble = 1 << iota // the attempt bound was reached, or an abandoned run was never redelivered
	TroubleUnknown                       // the outcome is or was unknown
)

// A Mark says that the owner was about to perform an effect: it is written before the effect.
type Mark struct {
	Step   string    // the name given to Begin
	At     time.Time // when, to the millisecond
	Undone bool      // the handler declared that this step has no effect (any more)
}

// A Result is what a completed operation returned and what its duplicates are answered with.
type Result struct {
	Status      int // an application or HTTP status; 0 if there is none
	ContentType string
	Headers     map[string]string // by allow list; never Set-Cookie, Date or hop-by-hop ones
	Body        []byte            // kept byte for byte
	// Omitted says why Body is missing although the operation returned one, for example "too_large"; the
	// operation is completed all the same. Empty: Body is what was returned.
	Omitted string
	// Unavailable is set by a store that holds the body in a second item and no longer finds it. It is
	// never stored.
	Unavailable bool
}

// A Record is everything that is stored of one operation. Times are in UTC to the millisecond; zero means unset.
// ExpiresAt alone is in whole seconds, rounded up, since a DynamoDB table's TTL attribute is.
//
// A store may encode it as it likes, as long as it comes back equal: a nil slice or map differs from an empty one, and every text may hold
// any bytes, of any length. Package encoding/json tells nil from empty, but replaces what is not valid UTF-8: give it such texts as bytes,
// and refuse such keys with [ErrMalformedKey]. Package encoding/gob keeps every byte, but makes empty slices nil.
type Record struct {
	Schema        int
	Key           Key
	Fingerprint   string // digest of the first request, with its scheme; empty only after an operator's forget
	State         State
	Mode          Mode // of the run that claimed it last; decides what finds it abandoned
	Transactional bool // that run commits its effect together with the completion
	Revision      string
	Owner         string // the token of the last claim; survives release and resolution
	Fence         int64  // rises with every claim, over expiry and deletion too; for downstream systems, decides nothing
	Attempt       int    // claims counted so far, over released cycles too
	Generation    int    // part of downstream keys; raised by a reconciler that voids the older ones
	ReplyEpoch    int    // part of deterministic ids of outgoing messages; raised by an override or a forget
	Marks         []Mark
	Result        *Result // of a completed operation
	Reason        string  // the stored failure, or why it was released or is unknown
	LockedUntil   time.Time
	OwnerWroteAt  time.Time // the owner's last write: settle times count from it
	TakenBy       string    // the reconciler's token: a lease of its own, so that LockedUntil survives
	TakenUntil    time.Time
	Doubtful      bool    // an earlier attempt may have had, or may still get, an effect
	Troubled      Trouble // on the operators' list
	AttentionAt   time.Time
	// FirstAttemptAt is when the first attempt of the present series started: cleared by every settlement to
	// released, set anew by the next claim.
	FirstAttemptAt time.Time
	CreatedAt      time.Time
	ClaimedAt      time.Time
	ExpiresAt      time.Time
}

// Clone copies the record deeply: what is done to the copy is not seen in the original.
func (r Record) Clone() Record {
	r.Marks = slices.Clone(r.Marks)
	if r.Result != nil {
		res := r.Result.clone()
		r.Result = &res
	}
	return r
}

func (r Result) clone() Result {
	r.Body = slices.Clone(r.Body)
	r.Headers = maps.Clone(r.Headers)
	return r
}

// outside is what may be told to a caller with another request: nothing of what was asked or answered.
func (r Record) outside() Record {
	return Record{
		Schema: r.Schema, Key: r.Key, State: r.State, Attempt: r.Attempt,
		LockedUntil: r.LockedUntil, CreatedAt: r.CreatedAt, ClaimedAt: r.ClaimedAt, ExpiresAt: r.ExpiresAt,
	}
}

// OpenMarks lists the steps that were begun and not declared undone, in the order of their marks.
func (r Record) OpenMarks() []string {
	var open []string
	for _, m := range r.Marks {
		if !m.Undone {
			open = append(open, m.Step)
		}
	}
	return open
}

// mark gives the index of a step's mark, or -1.
func (r Record) mark(step string) int {
	return slices.IndexFunc(r.Marks, func(m Mark) bool { return m.Step == step })
}
