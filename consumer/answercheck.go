package consumer

import (
	"context"
	"encoding/json"
	"time"

	"github.com/claimonce/claimonce/dedupe"
)

// answerCheck writes what arrived of a path check, as the outcome of an operation of its own. The handler is not run.
func (r *run) answerCheck(h *held) (d decision, again bool) {
	a, err := r.claimCheck(h)
	if err != nil && r.c.observesOnly() {
		return decision{disposition: Nacked, delay: r.c.attemptDelay(max(h.m.Receives, 1)), check: true, err: err}, false
	}
	if err != nil {
		d, again = r.claimFailed(h, err)
		d.check = true
		return d, again
	}
	d = decision{disposition: Acked, check: true}
	if a.Operation == nil {
		if a.Outcome != dedupe.OutcomeReplay {
			d.disposition, d.delay = Nacked, busyDelay(a.RetryAfter, 0) // a copy is being answered now
		}
		return d, false
	}
	s := a.Operation.Run(r.work, func(context.Context, *dedupe.Operation) (dedupe.Result, error) {
		body, err := json.Marshal(r.c.arrival(h.m, h.check, time.Now()))
		return dedupe.Result{ContentType: "application/json", Body: body}, err
	}, dedupe.RunOptions{Abandon: r.abandon})
	switch {
	case s.Err != nil:
		d.disposition, d.err = Left, s.Err
	case s.State != dedupe.StateCompleted:
		d.disposition, d.delay, d.err = Nacked, r.c.attemptDelay(1), s.HandlerErr
	}
	return d, false
}

func (r *run) claimCheck(h *held) (dedupe.Answer, error) {
	req, err := r.c.checks.Request(h.check.record(r.c.operation), []byte("{}"))
	if err != nil {
		return dedupe.Answer{}, err
	}
	bound := r.c.checks.Rules().Lease
	if r.c.observesOnly() {
		bound = besideTime
	}
	ctx, cancel := context.WithTimeout(r.work, bound)
	defer cancel()
	a, err := r.c.checks.Claim(ctx, req)
	if err == nil && r.gate.worked() {
		r.storeAnswers()
	}
	return a, err
}
