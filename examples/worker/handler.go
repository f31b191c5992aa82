package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/claimonce/claimonce/dedupe"
)

// Refund is a request to pay an amount back.
type Refund struct {
	Charge   string      `json:"charge"`
	Amount   json.Number `json:"amount"` // as written: an amount of money is no binary fraction
	Currency string      `json:"currency"`
	Reason   string      `json:"reason,omitempty"`
}

// Receipt is the stored result: duplicates are answered with it.
type Receipt struct {
	ID  string `json:"refund_id"`
	Key string `json:"idempotency_key"` // kept with the business record, so that old duplicates stay findable
}

// stepPay is the name of the handler's one effect. It is part of the provider's key: never rename it while records live.
const stepPay = "pay-back"

// refunds is the business of this worker: the code that an application would write.
type refunds struct {
	provider *provider
}

func (r refunds) handle(ctx context.Context, op *dedupe.Operation, req Refund) (Receipt, error) {
	if err := r.provider.reachable(req.Charge); err != nil {
		return Receipt{}, dedupe.NotCommitted(err) // nothing was sent: run again later
	}
	step, err := op.Begin(ctx, stepPay) // from here on, an error does not prove that nothing happened
	if err != nil {
		return Receipt{}, err
	}
	id, err := r.provider.refund(ctx, step.Key(), op.Key(), req)
	switch {
	case errors.Is(err, errVoid):
		return Receipt{}, dedupe.NotCommitted(err) // a reconciler was faster: the next attempt has another key
	case errors.Is(err, errDeclined):
		return Receipt{}, dedupe.Permanent(err)
	case err != nil:
		return Receipt{}, fmt.Errorf("refund: %w", err) // begun: the outcome is unknown and reconciled
	}
	return Receipt{ID: id, Key: op.Key().ID}, nil
}
