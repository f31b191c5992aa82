package consumer

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/claimonce/claimonce/dedupe"
)

// decision is what is to become of a message, and what is told of it.
type decision struct {
	disposition Disposition
	delay       time.Duration
	letter      DeadLetter
	outcome     dedupe.Outcome
	replayed    bool
	ran         bool
	panicked    bool
	unreadable  bool // refused for its body
	check       bool // it was a path check
	behind      bool // not looked at: it went back since what is ahead of it did, or takes long
	would       *Verdict
	err         error
	refused     error // why the source did not dispose of the message so
}

// process claims and runs one message. again: the store is out, and nothing was decided.
//
// A fault in here, or in a callback of the application's, must not end the worker: the message then comes back when its
// visibility ends.
func (r *run) process(h *held) (d decision, again bool) {
	if err := guarded(func() { d, again = r.tryProcess(h) }); err != nil {
		r.c.cfg.Logger.Error("a message could not be processed", "operation", r.c.operation, "err", err)
		return decision{disposition: Left, err: fmt.Errorf("processing the message %w", err), panicked: true}, false
	}
	return d, again
}

func (r *run) tryProcess(h *held) (d decision, again bool) {
	switch {
	case h.check != nil:
		return r.answerCheck(h)
	case r.c.observesOnly():
		return r.watch(h), false
	}
	if h.refusal != nil {
		return r.refuse(h, h.refusal), false
	}
	handler, req, ref := r.c.prepare(h.m, h.key)
	if ref != nil {
		d = r.refuse(h, ref)
		d.unreadable = true
		return d, false
	}
	id, now := h.key.StoreID(), time.Now()
	if since, ok := r.keys.enter(id, now); !ok {
		return decision{disposition: Nacked, outcome: dedupe.OutcomeBusy, delay: busyDelay(0, now.Sub(since))}, false
	}
	defer r.keys.leave(id)
	a, err := r.claim(r.c.ledger, req)
	if err != nil {
		return r.claimFailed(h, err)
	}
	if a.Outcome == dedupe.OutcomeClaimed {
		return r.runHandler(h, a.Operation, handler), false
	}
	return r.answer(h, a), false
}

func (r *run) refuse(h *held, ref *refusal) decision {
	d := decision{disposition: DeadLettered, err: ref, letter: DeadLetter{Reason: ref.reason, Detail: ref.err.Error()}}
	if h.key.ID != "" {
		d.letter.KeyHash = h.key.Hash()
	}
	return d
}

// claim is bounded: an answer that comes after the lease is worth nothing.
func (r *run) claim(l *dedupe.Ledger, req dedupe.Request) (dedupe.Answer, error) {
	ctx, cancel := context.WithTimeout(r.work, l.Rules().Lease)
	defer cancel()
	a, err := l.Claim(ctx, req)
	if err == nil && r.gate.worked() {
		r.storeAnswers()
	}
	return a, err
}

func (r *run) claimFailed(h *held, err error) (d decision, again bool) {
	// A worker of the newer release will take it: neither the store nor the message is at fault.
	back := errors.Is(err, dedupe.ErrNewerSchema)
	switch {
	case back || r.work.Err() != nil:
	case h.failsAlone(r.gate):
		back = h.alone >= maxFailuresAlone
	default:
		r.storeFailed(err)
	}
	if back {
		return decision{disposition: Nacked, delay: busyDelay(r.c.ledger.Rules().Lease, 0), err: err}, false
	}
	return decision{}, true
}

// answer is for a message whose handler is not to be run.
func (r *run) answer(h *held, a dedupe.Answer) decision {
	now := time.Now()
	d := decision{outcome: a.Outcome}
	letter := DeadLetter{KeyHash: h.key.Hash(), Attempts: a.Record.Attempt}
	dead := func(reason, detail string) decision {
		letter.Reason, letter.Detail = reason, detail
		d.disposition, d.letter = DeadLettered, letter
		return d
	}
	switch a.Outcome {
	case dedupe.OutcomeReplay:
		d.disposition, d.replayed = Acked, true
		return d
	case dedupe.OutcomeFailed:
		return dead(ReasonFailed, a.Record.Reason)
	case dedupe.OutcomeExhausted:
		letter.Attempts = r.c.ledger.Rules().AttemptBound
		return dead(ReasonExhausted, a.Record.Reason+howToRedrive)
	case dedupe.OutcomeMismatch:
		return dead(ReasonKeyReuse, "the key was used before for another request; send this one under a new key")
	case dedupe.OutcomePending:
		return r.pending(h, a.Record, d)
	case dedupe.OutcomeBusy:
		d.disposition, d.delay = Nacked, busyDelay(a.RetryAfter, now.Sub(a.Record.ClaimedAt))
		return d
	}
	d.disposition, d.delay = Nacked, r.c.attemptDelay(1)
	return d
}

const howToRedrive = "; move the message back to its queue to run it again"

// pending waits for the outcome to be settled. The message is dead-lettered only after a bound, and its record, being unknown,
// is on the attention list before that.
func (r *run) pending(h *held, rec dedupe.Record, d decision) decision {
	since := pendingFor(rec, time.Now())
	if since < r.c.cfg.PendingBound && !r.skips(h) {
		d.disposition, d.delay = Nacked, r.c.pendingDelay(since)
		return d
	}
	d.disposition, d.letter = DeadLettered, pendingLetter(h, rec)
	return d
}

func pendingLetter(h *held, rec dedupe.Record) DeadLetter {
	return DeadLetter{
		Reason: ReasonPending, KeyHash: h.key.Hash(), Attempts: rec.Attempt,
		Detail: "the outcome is unknown (" + rec.Reason + "); settle the record, then move the message back to its queue",
	}
}

func (r *run) skips(h *held) bool { return h.m.Group != "" && r.c.cfg.PendingGroups == PendingSkip }

// runHandler runs the handler and decides by what was written: the record first, then the message.
func (r *run) runHandler(h *held, op *dedupe.Operation, handler dedupe.Handler) decision {
	return r.settled(h, op, r.runClaimed(h, op, handler, 0))
}

// runClaimed runs the handler. beside: see dedupe.RunOptions.
func (r *run) runClaimed(h *held, op *dedupe.Operation, handler dedupe.Handler, beside time.Duration) dedupe.Settlement {
	work, cancel := context.WithCancelCause(r.work)
	defer cancel(nil)
	if r.stop.Err() != nil {
		cancel(dedupe.ErrDraining) // while the claim was on its way: not started any more, its attempt given back
	}
	if h.isLost() {
		cancel(h.lostCause()) // the same
	}
	r.c.health.running(1)
	s := op.Run(work, h.tied(handler), dedupe.RunOptions{Abandon: r.abandon, Revoked: h.lost, Beside: beside})
	r.c.health.running(-1)
	if p, ok := errors.AsType[*dedupe.PanicError](s.HandlerErr); ok {
		r.c.cfg.Logger.Error("handler panicked", "operation", r.c.operation, "key_hash", hashOf(h.key), "panic", dedupe.PanicText(p.Value), "stack", string(p.Stack))
	}
	return s
}

// ranSo is what is told of a run whatever is decided.
func (r *run) ranSo(h *held, s dedupe.Settlement) decision {
	_, panicked := errors.AsType[*dedupe.PanicError](s.HandlerErr)
	return decision{outcome: dedupe.OutcomeClaimed, ran: h.started.Load(), panicked: panicked, err: s.HandlerErr}
}

// settled decides by what was written of a run.
func (r *run) settled(h *held, op *dedupe.Operation, s dedupe.Settlement) decision {
	d := r.ranSo(h, s)
	letter := DeadLetter{KeyHash: h.key.Hash(), Attempts: op.Attempt(), Detail: s.Record.Reason}
	switch {
	case s.Err != nil:
		// The handle may belong to a successor's delivery by now, or the outcome is not written: neither ack nor nack.
		d.disposition, d.err = Left, errors.Join(s.Err, s.HandlerErr)
	case s.Outcome == dedupe.OutcomeExhausted:
		letter.Reason = ReasonExhausted
		if s.Event == (dedupe.Fail{}).Name() {
			letter.Reason = ReasonPermanent
		}
		letter.Detail += howToRedrive
		d.disposition, d.letter = DeadLettered, letter
	default:
		r.bySettledState(&d, h, s, letter)
	}
	if h.isLost() && d.disposition != Acked {
		d.disposition = Left // a late ack does no harm, anything else could disturb the next holder
	}
	return d
}

func (r *run) bySettledState(d *decision, h *held, s dedupe.Settlement, letter DeadLetter) {
	switch s.State {
	case dedupe.StateCompleted:
		d.disposition = Acked
	case dedupe.StateFailed:
		letter.Reason = ReasonFailed
		d.disposition, d.letter = DeadLettered, letter
	case dedupe.StateUnknown:
		d.disposition, d.delay = Nacked, r.c.pendingDelay(0)
		if r.skips(h) {
			d.disposition, d.delay, d.letter = DeadLettered, 0, pendingLetter(h, s.Record)
		}
	case dedupe.StateReleased:
		d.disposition, d.delay = Nacked, r.c.attemptDelay(max(s.Record.Attempt, 1))
		if s.Delay > 0 {
			d.delay = s.Delay
		}
		if errors.Is(s.HandlerErr, dedupe.ErrDraining) || r.work.Err() != nil {
			d.delay = 0 // another worker may have it at once
		}
	case dedupe.StateAbsent, dedupe.StateInProgress:
		d.disposition = Left
	}
}
