package dedupe

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
)

// errFaulty is no outage: the same call would panic again.
var errFaulty = errors.New("the store panicked")

// advance writes an event of the owner. A store that panics has failed: left to itself, the panic would end the process from a
// renewal, and from a completion it would take the handler's word with it. The value may hold parts of a payload.
func (op *Operation) advance(
	ctx context.Context, ev Event, again func(try int) bool, tried map[string]written,
) (w written, err error) {
	defer func() {
		if v := recover(); v != nil {
			op.ledger.cfg.Logger.ErrorContext(ctx, "the store panicked", "operation", op.key.Operation, "key_hash", op.key.Hash(),
				"event", ev.Name(), "panic", PanicText(v), "stack", string(debug.Stack()))
			w, err = written{Decision: Decision{Next: op.rec}, Before: op.rec}, fmt.Errorf("%w with %s", errFaulty, PanicText(v))
		}
	}()
	return op.ledger.advanceKnowing(ctx, op.rec, always(ev), again, tried)
}
