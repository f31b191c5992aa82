package dedupe_test

import (
	"time"

	"github.com/claimonce/claimonce/dedupe"
)

// The table's numbers. They are small, so that its cells can be read.
const (
	window         = 7 * 24 * time.Hour
	lease          = time.Minute
	skewMargin     = 5 * time.Second
	attemptBound   = 3
	attentionAfter = 24 * time.Hour
	memory         = time.Hour // where a state has the rule on
)

// noon is the time of every event of the table.
var noon = time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)

func ago(d time.Duration) time.Time { return noon.Add(-d) }
func in(d time.Duration) time.Time  { return noon.Add(d) }

var key = dedupe.Key{Tenant: "acme", Operation: "refund", ID: "refund-4711"}

// Digests of two requests, and of the first one under an older scheme.
const (
	requestA    = "v1:a"
	requestB    = "v1:b"
	requestAOld = "v0:a"
)

// A startState is one row group of the table: what is stored when the event happens.
type startState struct {
	name   string
	rec    dedupe.Record
	memory time.Duration // Rules.DownstreamMemory; 0: rule off
}

func (s startState) rules() dedupe.Rules {
	return dedupe.Rules{
		Window: window, Lease: lease, SkewMargin: skewMargin, AttemptBound: attemptBound,
		AttentionAfter: attentionAfter, DownstreamMemory: s.memory,
	}
}

// startStates lists every class of records that the rules tell apart, in the order of the document.
func startStates() []startState {
	begun := []dedupe.Mark{{Step: "charge", At: ago(30 * time.Second)}}
	begunTwice := append(begun[:1:1], dedupe.Mark{Step: "mail", At: ago(20 * time.Second)})
	closedOne := []dedupe.Mark{{Step: "charge", At: ago(30 * time.Second), Undone: true}, begunTwice[1]}
	return []startState{
		{name: "absent", rec: dedupe.Record{Key: key}},
		{name: "expired, was completed", rec: expire(completed())},
		{name: "expired, was failed", rec: expire(failed())},
		{name: "expired, was released", rec: expire(released())},

		{name: "released", rec: released()},
		{name: "released, doubtful, first attempt longer ago than the provider's memory", rec: with(released(), doubtful, tried(2*time.Hour)), memory: memory},
		{name: "released, doubtful, first attempt within the provider's memory", rec: with(released(), doubtful, tried(memory)), memory: memory},
		{name: "released, not doubtful, first attempt longer ago than the provider's memory", rec: with(released(), tried(2*time.Hour)), memory: memory},
		{name: "released, doubtful, first attempt long ago, the provider's memory not configured", rec: with(released(), doubtful, tried(48*time.Hour))},
		{name: "released, attempt bound reached by settled attempts", rec: with(settledRelease(), attempt(attemptBound))},
		{name: "released out of unknown by a void", rec: with(settledRelease(), generation(1))},
		{name: "released, exhausted", rec: with(released(), attempt(0), exhausted)},
		{name: "released, fingerprint forgotten by an operator", rec: with(released(), forgotten)},

		{name: "in_progress, rerun, lease running", rec: running(dedupe.Rerun)},
		{name: "in_progress, rerun in a transaction, lease running", rec: with(running(dedupe.Rerun), transactional)},
		{name: "in_progress, rerun, doubtful, lease running", rec: with(running(dedupe.Rerun), doubtful)},
		{name: "in_progress, rerun, last attempt, lease running", rec: with(running(dedupe.Rerun), attempt(attemptBound))},
		{name: "in_progress, nothing begun, lease running", rec: running(dedupe.RerunUnlessBegun)},
		{name: "in_progress, begun, lease running", rec: with(running(dedupe.RerunUnlessBegun), marks(begun))},
		{name: "in_progress, begun, doubtful, lease running", rec: with(running(dedupe.RerunUnlessBegun), marks(begun), doubtful)},
		{name: "in_progress, two steps begun, lease running", rec: with(running(dedupe.RerunUnlessBegun), marks(begunTwice))},
		{name: "in_progress, two steps begun, one of them undone, lease running", rec: with(running(dedupe.RerunUnlessBegun), marks(closedOne))},
		{name: "in_progress, reconcile, lease running", rec: running(dedupe.Reconcile)},

		{name: "in_progress, rerun, lease over within the margin", rec: with(running(dedupe.Rerun), leaseEnded(skewMargin))},
		{name: "in_progress, rerun, lease over", rec: abandoned(dedupe.Rerun)},
		{name: "in_progress, rerun in a transaction, lease over", rec: with(abandoned(dedupe.Rerun), transactional)},
		{name: "in_progress, rerun, last attempt, lease over", rec: with(abandoned(dedupe.Rerun), attempt(attemptBound))},
		{name: "in_progress, rerun, first attempt longer ago than the provider's memory, lease over", rec: with(abandoned(dedupe.Rerun), tried(2*time.Hour)), memory: memory},
		{name: "in_progress, rerun, lease over for longer than a redelivery takes", rec: with(abandoned(dedupe.Rerun), leaseEnded(skewMargin+attentionAfter+time.Millisecond))},
		{name: "in_progress, nothing begun, lease over", rec: abandoned(dedupe.RerunUnlessBegun)},
		{name: "in_progress, begun and undone, lease over", rec: with(abandoned(dedupe.RerunUnlessBegun), marks(closedOne[:1]))},
		{name: "in_progress, nothing begun, last attempt, lease over", rec: with(abandoned(dedupe.RerunUnlessBegun), attempt(attemptBound))},
		{name: "in_progress, begun, lease over", rec: with(abandoned(dedupe.RerunUnlessBegun), marks(begun))},
		{name: "in_progress, reconcile, last attempt, lease over", rec: with(abandoned(dedupe.Reconcile), attempt(attemptBound))},

		{name: "unknown, begun", rec: with(unknown(dedupe.RerunUnlessBegun), marks(begun))},
		{name: "unknown, begun, doubtful", rec: with(unknown(dedupe.RerunUnlessBegun), marks(begun), doubtful)},
		{name: "unknown, rerun, doubtful", rec: with(unknown(dedupe.Rerun), doubtful)},
		{name: "unknown, two steps begun", rec: with(unknown(dedupe.RerunUnlessBegun), marks(begunTwice))},
		{name: "unknown, reconcile, taken by a reconciler", rec: with(unknown(dedupe.Reconcile), takenFor(10*time.Second))},
		{name: "unknown, reconcile, the reconciler's lease over", rec: with(unknown(dedupe.Reconcile), takenFor(-skewMargin-time.Millisecond))},

		{name: "completed", rec: completed()},
		{name: "completed, past its expiry by less than the margin", rec: with(completed(), func(r *dedupe.Record) { r.ExpiresAt = ago(skewMargin - time.Second) })},
		{name: "completed, generation raised", rec: with(completed(), generation(1))},
		{name: "failed", rec: failed()},
	}
}

type change func(*dedupe.Record)

func with(rec dedupe.Record, changes ...change) dedupe.Record {
	rec = rec.Clone()
	for _, c := range changes {
		c(&rec)
	}
	return rec
}

// claimedBefore is what any record has in common whose first attempt was half an hour ago.
func claimedBefore(mode dedupe.Mode) dedupe.Record {
	at := ago(30 * time.Minute)
	return dedupe.Record{
		Schema: dedupe.SchemaVersion, Key: key, Fingerprint: requestA, Mode: mode,
		Revision: "r1", Owner: "own", Fence: at.UnixMilli(), Attempt: 1,
		LockedUntil: at.Add(lease), OwnerWroteAt: at, FirstAttemptAt: at, CreatedAt: at, ClaimedAt: at,
	}
}

func running(mode dedupe.Mode) dedupe.Record {
	r := claimedBefore(mode)
	r.State, r.OwnerWroteAt, r.LockedUntil = dedupe.StateInProgress, ago(10*time.Second), in(50*time.Second)
	return r
}

func abandoned(mode dedupe.Mode) dedupe.Record {
	return with(running(mode), leaseEnded(skewMargin+time.Millisecond))
}

func released() dedupe.Record {
	r := claimedBefore(dedupe.RerunUnlessBegun)
	r.State, r.Reason, r.AttentionAt, r.ExpiresAt = dedupe.StateReleased, "boom", in(attentionAfter-time.Hour), in(window-time.Hour)
	return r
}

func settledRelease() dedupe.Record {
	return with(released(), func(r *dedupe.Record) {
		r.Marks = []dedupe.Mark{{Step: "charge", At: ago(40 * time.Minute)}}
		r.Mode, r.Troubled, r.AttentionAt, r.FirstAttemptAt, r.ExpiresAt = dedupe.Reconcile, dedupe.TroubleUnknown, ago(time.Hour), time.Time{}, time.Time{}
	})
}

func unknown(mode dedupe.Mode) dedupe.Record {
	r := claimedBefore(mode)
	r.State, r.Reason, r.Troubled, r.AttentionAt = dedupe.StateUnknown, "timed out", dedupe.TroubleUnknown, ago(20*time.Minute)
	return r
}

func completed() dedupe.Record {
	r := claimedBefore(dedupe.RerunUnlessBegun)
	r.State, r.Result, r.ExpiresAt = dedupe.StateCompleted, &dedupe.Result{Status: 200, Body: []byte(`{"id":1}`)}, in(window-time.Hour)
	return r
}

func failed() dedupe.Record {
	r := claimedBefore(dedupe.RerunUnlessBegun)
	r.State, r.Reason, r.ExpiresAt = dedupe.StateFailed, "declined", in(window-time.Hour)
	return r
}

// expire gives the last moment at which the record counts as expired, margin included.
func expire(r dedupe.Record) dedupe.Record { r.ExpiresAt = ago(skewMargin); return r }

func doubtful(r *dedupe.Record)      { r.Doubtful = true }
func transactional(r *dedupe.Record) { r.Transactional = true }
func forgotten(r *dedupe.Record)     { r.Fingerprint, r.Doubtful, r.FirstAttemptAt = "", true, time.Time{} }

func exhausted(r *dedupe.Record) { r.Troubled, r.AttentionAt = dedupe.TroubleExhausted, ago(time.Hour) }

func attempt(n int) change { return func(r *dedupe.Record) { r.Attempt = n } }
func marks(ms []dedupe.Mark) change {
	return func(r *dedupe.Record) { r.Marks = ms }
}

func tried(before time.Duration) change {
	return func(r *dedupe.Record) { r.FirstAttemptAt = ago(before) }
}

func leaseEnded(before time.Duration) change {
	return func(r *dedupe.Record) { r.LockedUntil, r.OwnerWroteAt = ago(before), ago(before+lease) }
}

// A record whose generation was raised never expires.
func generation(n int) change {
	return func(r *dedupe.Record) { r.Generation, r.ExpiresAt = n, time.Time{} }
}

func takenFor(left time.Duration) change {
	return func(r *dedupe.Record) { r.TakenBy, r.TakenUntil = "rec", in(left) }
}
