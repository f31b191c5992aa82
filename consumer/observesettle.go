package consumer

import (
	"context"

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

// settleBeside: a handler that succeeds on a later delivery says that the operation has taken effect, so what an earlier one left
// unknown is known. In the usual mode that delivery would have waited; without this, every error that a retry mends today would leave
// a record for people to settle before they can switch the usual mode on. A record that changed meanwhile is left alone.
func (r *run) settleBeside(h *held, seen dedupe.Record, res dedupe.Result) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.work), besideTime)
	defer cancel()
	var err error
	if fault := guarded(func() {
		_, err = r.c.ledger.ResolveBy(ctx, seen, "observe-only mode", "a later delivery's handler succeeded", dedupe.StateCompleted, &res)
	}); fault != nil {
		err = fault
	}
	if err != nil {
		r.c.cfg.Logger.WarnContext(ctx, "the record of an unknown outcome could not be settled by a later success", "operation", r.c.operation,
			"key_hash", h.key.Hash(), "err", err)
	}
}
