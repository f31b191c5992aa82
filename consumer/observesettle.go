package consumer

import (
	"context"
	"errors"
	"time"

	"github.com/claimonce/claimonce/dedupe"
)

// keeping gives a handler that keeps its result. It is to be read only after the handler returned.
func keeping(handler dedupe.Handler) (dedupe.Handler, *dedupe.Result) {
	kept := new(dedupe.Result)
	return func(ctx context.Context, op *dedupe.Operation) (dedupe.Result, error) {
		res, err := handler(ctx, op)
		if err == nil {
			*kept = res
		}
		return res, err
	}, kept
}

// settleUnclaimed: a handler that succeeds without a claim says that the operation has taken effect. What an earlier delivery left unknown
// is so no longer: in the usual mode this one would have waited, and every error that a retry mends today would leave a record for
// people to settle before they can switch the usual mode on.
func (r *run) settleUnclaimed(h *held, w watched, res dedupe.Result) {
	switch {
	case w.unknown != nil:
		r.settleBeside(h, *w.unknown, res)
	case w.beside != nil:
		r.helpers.Go(func() { r.settleAfterOwner(h, *w.beside, res) })
	}
}

// settleAfterOwner waits for the lease of the one who ran it before. If that one is gone, killed for example, its record would stay in
// progress for ever, since the message is acked, and on no list.
func (r *run) settleAfterOwner(h *held, seen dedupe.Record, res dedupe.Result) {
	margin := r.c.ledger.Rules().SkewMargin + time.Second
	for over := seen.LockedUntil.Add(margin); ; {
		if !pause(r.stop, time.Until(over)) {
			return
		}
		rec, err := r.loadBeside(h.key)
		if err != nil || rec.State != dedupe.StateInProgress || rec.Owner != seen.Owner {
			return
		}
		if rec.LockedUntil.Add(margin).After(time.Now()) { // it lives, and renews
			over = rec.LockedUntil.Add(margin)
			continue
		}
		r.settleBeside(h, rec, res)
		return
	}
}

func (r *run) loadBeside(key dedupe.Key) (rec dedupe.Record, err error) {
	ctx, cancel := context.WithTimeout(r.stop, besideTime)
	defer cancel()
	if fault := guarded(func() { rec, err = r.c.ledger.Load(ctx, key) }); fault != nil {
		err = fault
	}
	return rec, err
}

// settleBeside leaves a record alone that changed meanwhile: somebody else settled it.
func (r *run) settleBeside(h *held, seen dedupe.Record, res dedupe.Result) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.work), besideTime)
	defer cancel()
	var err error
	if fault := guarded(func() {
		_, err = r.c.ledger.ResolveBy(ctx, seen, "observe-only mode", "the handler succeeded on another delivery", dedupe.StateCompleted, &res)
	}); fault != nil {
		err = fault
	}
	switch {
	case err == nil:
		r.c.cfg.Logger.InfoContext(ctx, "an open record was settled by the success of another delivery", "operation", r.c.operation, "key_hash", h.key.Hash())
	case !errors.Is(err, dedupe.ErrConflict):
		r.c.cfg.Logger.WarnContext(ctx, "an open record could not be settled by the success of another delivery", "operation", r.c.operation,
			"key_hash", h.key.Hash(), "err", err)
	}
}
