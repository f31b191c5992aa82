package consumer

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/claimonce/claimonce/dedupe"
)

// answerCheck writes what arrived of a path check, as the outcome of an operation of its own. The handler is not run.
func (r *run) answerCheck(h *held) (d decision, again bool) {
	a, err := r.claimCheck(h)
	switch {
	case err == nil:
		d = r.completeCheck(h, a)
	case r.c.observesOnly():
		d = decision{disposition: Nacked, delay: r.c.attemptDelay(max(h.m.Receives, 1)), err: err}
	default:
		d, again = r.claimFailed(h, err)
	}
	d.check = true
	// Where claims are only observed no handler waits for the store, so not behind a check either. At a stop none does, and another
	// worker may answer it.
	if d.disposition != Acked && r.c.observesOnly() && h.m.Group != "" && r.stop.Err() == nil {
		r.c.cfg.Logger.Error("a path check could not be answered and is dropped, so that its group does not wait for the store: send another",
			"operation", r.c.operation, "message_id", h.m.ID, "err", d.err)
		d.disposition, d.delay = Acked, 0
	}
	return d, again
}

func (r *run) claimCheck(h *held) (dedupe.Answer, error) {
	req, err := r.c.checks.Request(h.check.record(r.c.operation), []byte("{}"))
	if err != nil {
		return dedupe.Answer{}, err
	}
	if r.c.observesOnly() {
		return r.tryClaim(r.c.checks, req)
	}
	return r.claim(r.c.checks, req)
}

// errCheckBusy: of a worker that died meanwhile, for a lease.
var errCheckBusy = errors.New("a copy of the path check is being answered")

func (r *run) completeCheck(h *held, a dedupe.Answer) decision {
	switch {
	case a.Outcome == dedupe.OutcomeReplay:
		return decision{disposition: Acked}
	case a.Operation == nil:
		return decision{disposition: Nacked, delay: busyDelay(a.RetryAfter, 0), err: errCheckBusy}
	}
	opts := dedupe.RunOptions{Abandon: r.abandon}
	if r.c.observesOnly() {
		opts.Beside = besideTime
	}
	s := a.Operation.Run(r.work, func(context.Context, *dedupe.Operation) (dedupe.Result, error) {
		body, err := json.Marshal(r.c.arrival(h.m, h.check, time.Now()))
		return dedupe.Result{ContentType: "application/json", Body: body}, err
	}, opts)
	switch {
	case s.Err != nil:
		return decision{disposition: Left, err: s.Err}
	case s.State != dedupe.StateCompleted:
		return decision{disposition: Nacked, delay: r.c.attemptDelay(1), err: s.HandlerErr}
	}
	return decision{disposition: Acked}
}
