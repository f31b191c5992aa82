package main

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"github.com/claimonce/claimonce/dedupe"
)

// reconcile settles operations whose outcome is unknown: it takes the record, asks the provider by the downstream keys, and
// writes down the answer. Nothing is guessed. This provider can void a key: after its answer it never pays for that key, so that
// "not paid" stays true, and the next attempt has a key of its own. With a provider that can only look up, the question would
// have to wait for Case.AskFrom.
func reconcile(ctx context.Context, ledger *dedupe.Ledger, watch *tracker, bank *provider) {
	var all sync.WaitGroup
	defer all.Wait()
	for {
		select {
		case key := <-watch.unknown:
			all.Go(func() { settleOne(ctx, ledger, key, watch, bank) })
		case <-ctx.Done():
			return
		}
	}
}

func settleOne(ctx context.Context, ledger *dedupe.Ledger, key dedupe.Key, watch *tracker, bank *provider) {
	for ctx.Err() == nil {
		err := ask(ctx, ledger, key, bank)
		if err == nil || errors.Is(err, dedupe.ErrRefused) { // settled, by us or meanwhile by the owner
			watch.settled(key)
			return
		}
		_ = wait(ctx, 200*time.Millisecond) // the record changed: the answer is void, ask again
	}
}

func ask(ctx context.Context, ledger *dedupe.Ledger, key dedupe.Key, bank *provider) error {
	c, err := ledger.Take(ctx, key, dedupe.TakeOptions{For: lease, Voids: true})
	if err != nil {
		return err
	}
	older := c.Record.DownstreamKeys(stepPay)[1:] // the first one is the next attempt's
	for _, k := range older {
		if pay, paid := bank.void(k); paid {
			body, err := json.Marshal(Receipt{ID: pay.ID, Key: key.ID})
			if err != nil {
				return err
			}
			_, err = c.Resolve(ctx, dedupe.StateCompleted, &dedupe.Result{ContentType: "application/json", Body: body}, "")
			return err
		}
	}
	_, err = c.Resolve(ctx, dedupe.StateReleased, nil, "the provider has not paid, and voided the key")
	return err
}
