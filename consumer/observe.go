package consumer

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/claimonce/claimonce/dedupe"
)

// besideTime bounds each call to the store that is made beside a handler in observe-only mode, repeats included.
const besideTime = time.Second

func (c *Consumer) observesOnly() bool { return c.cfg.ObserveOnly != "" }

// watched is what became of the claim that is made beside a handler.
type watched struct {
	op      *dedupe.Operation
	claimed bool
	outcome dedupe.Outcome
	would   *Verdict // of a claimed one it is only known when the handler has ended

	unreadable bool           // its body has no digest
	unknown    *dedupe.Record // the claim showed that the outcome is not known
	beside     *dedupe.Record // it showed that somebody else runs it, who may be gone
}

// watch runs the handler whatever the claim says.
func (r *run) watch(h *held) decision {
	handler, err := r.c.decode(h.m)
	if err != nil {
		return r.unreadable(h, err)
	}
	w := r.claimBeside(h)
	handler, kept := keeping(handler)
	s := r.runClaimed(h, w.op, handler, besideTime)
	d := r.byHandler(h, w.op, s)
	if d.disposition == Acked {
		r.settleUnclaimed(h, w, *kept)
	}
	d.outcome, d.would, d.unreadable = w.outcome, w.would, w.unreadable
	switch {
	case !h.started.Load():
		d.would = nil // the stop came first: nobody would have run it
	case w.claimed:
		usual := r.settled(h, w.op, s)
		d.would = &Verdict{Disposition: usual.disposition, Reason: usual.letter.Reason, Runs: true, Err: s.Err}
	}
	return d
}

// decode gives what is to be run. Decoders are the application's code: one that panics counts as one with an error.
func (c *Consumer) decode(m *Message) (run dedupe.Handler, err error) {
	if fault := guarded(func() { run, err = c.handler.prepare(m) }); fault != nil {
		return nil, fmt.Errorf("the decoder %w", fault)
	}
	return run, err
}

// unreadable: there is nothing to run. It is left to the broker's own bound of deliveries, as a loop would that meets it today.
func (r *run) unreadable(h *held, err error) decision {
	ref := &refusal{ReasonMalformedBody, err}
	d := decision{disposition: Nacked, delay: r.c.attemptDelay(max(h.m.Receives, 1)), err: ref, unreadable: h.refusal == nil}
	if h.refusal != nil {
		ref = h.refusal
	}
	d.would = &Verdict{Disposition: DeadLettered, Reason: ref.reason, Err: ref}
	return d
}

// claimBeside gives the operation to run: the claimed one, or a shadow. It costs at most besideTime.
func (r *run) claimBeside(h *held) watched {
	shadow := dedupe.Shadow{Request: dedupe.Request{Key: h.key}, Attempt: h.m.Receives}
	req, err := dedupe.Request{}, error(nil)
	if h.hasKey() {
		req, err = r.c.ledger.Request(h.key, h.m.Body)
	}
	if req.Digest != "" { // also of one that is refused for its age: it had this downstream key while it was young
		shadow.Request = req
	} else {
		shadow.Stand = standIn(h.m)
	}
	switch {
	case h.refusal != nil:
		return r.unclaimed(shadow, &Verdict{Disposition: DeadLettered, Reason: h.refusal.reason, Err: h.refusal})
	case err != nil:
		w := r.unclaimed(shadow, &Verdict{Disposition: DeadLettered, Reason: ReasonMalformedBody, Err: err})
		w.unreadable = true
		return w
	}
	a, err := r.tryClaim(r.c.ledger, req)
	switch {
	case errors.Is(err, dedupe.ErrNewerSchema):
		return r.unclaimed(shadow, &Verdict{Disposition: Nacked, Reason: WithheldNewerSchema, Err: err})
	case err != nil:
		return r.unclaimed(shadow, &Verdict{Reason: WithheldStore, Err: err})
	case a.Outcome == dedupe.OutcomeClaimed:
		return watched{op: a.Operation, claimed: true, outcome: a.Outcome}
	}
	shadow.Record = a.Record
	usual := r.answer(h, a)
	v := &Verdict{Disposition: usual.disposition, Reason: usual.letter.Reason}
	if v.Reason == "" {
		v.Reason = withheldBy(a.Outcome)
	}
	w := r.unclaimed(shadow, v)
	w.outcome = a.Outcome
	switch a.Outcome { //nolint:exhaustive // of the others the record says enough
	case dedupe.OutcomePending, dedupe.OutcomeExhausted:
		w.unknown = &a.Record
	case dedupe.OutcomeBusy:
		w.beside = &a.Record
	}
	return w
}

func (r *run) unclaimed(s dedupe.Shadow, v *Verdict) watched {
	return watched{op: r.c.ledger.Shadow(s), would: v}
}

func withheldBy(o dedupe.Outcome) string {
	switch o { //nolint:exhaustive // the others are dead letters, or run
	case dedupe.OutcomeReplay:
		return WithheldReplay
	case dedupe.OutcomePending:
		return ReasonPending
	}
	return WithheldBusy
}

// hasKey reports whether the key may be used: what is refused for its age has one.
func (h *held) hasKey() bool {
	return h.refusal == nil || h.refusal.reason == ReasonOlderThanWindow || h.refusal.reason == ReasonMalformedCreated
}

// standIn makes downstream keys of a message that has no usable key: the same on each delivery, and no other message's.
func standIn(m *Message) string {
	if m.ID != "" {
		return "message " + m.ID
	}
	return "delivery " + rand.Text()
}

// tryClaim waits for an answer no longer than besideTime. A claim that it gave up is undone without being waited for.
func (r *run) tryClaim(l *dedupe.Ledger, req dedupe.Request) (dedupe.Answer, error) {
	ok, asks := r.breaker.lets(time.Now())
	if !ok {
		return dedupe.Answer{}, errBreaker
	}
	type result struct {
		a   dedupe.Answer
		err error
	}
	ctx, cancel := context.WithTimeout(r.work, besideTime)
	done := make(chan result, 1)
	r.helpers.Go(func() {
		defer cancel()
		var got result
		if fault := guarded(func() { got.a, got.err = l.Claim(ctx, req) }); fault != nil {
			got.err = fault
		}
		done <- got
	})
	got := result{err: errSlow}
	select {
	case got = <-done:
	case <-ctx.Done():
		// Both may be ready; an answer in hand counts.
		select {
		case got = <-done:
		default:
			r.helpers.Go(func() { r.giveBack((<-done).a.Operation) })
		}
	}
	r.breakerHears(asks, got.err)
	return got.a, got.err
}

// giveBack undoes a claim whose answer came after its handler had started without it.
func (r *run) giveBack(op *dedupe.Operation) {
	if op == nil {
		return
	}
	over, cancel := context.WithCancel(r.work)
	cancel()
	op.Run(over, nil, dedupe.RunOptions{})
}

// byHandler decides by what the handler says alone.
func (r *run) byHandler(h *held, op *dedupe.Operation, s dedupe.Settlement) decision {
	d := r.ranSo(h, s)
	switch {
	case s.Event == "": // it did not return before the process ends
		d.disposition = Left
	case s.HandlerErr == nil:
		d.disposition = Acked
	case s.Event == (dedupe.Fail{}).Name():
		d.disposition = DeadLettered
		d.letter = DeadLetter{Reason: ReasonFailed, KeyHash: hashOf(h.key), Attempts: op.Attempt(), Detail: s.Record.Reason}
		if s.Outcome == dedupe.OutcomeExhausted {
			d.letter.Reason = ReasonPermanent
		}
	default:
		d.disposition, d.delay = Nacked, r.c.attemptDelay(max(h.m.Receives, 1))
		if s.Delay > 0 {
			d.delay = s.Delay
		}
		if errors.Is(s.HandlerErr, dedupe.ErrDraining) || r.work.Err() != nil {
			d.delay = 0 // another worker may have it at once
		}
	}
	if h.isLost() && d.disposition != Acked {
		d.disposition = Left
	}
	return d
}
