package main

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"github.com/claimonce/claimonce/dedupe"
)

// reconcile settles operations whose outcome is unknown: it takes the record, waits until no request can still be on its
// way, asks the provider by the downstream key, and writes down the answer. Nothing is guessed.
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
	c, err := ledger.Take(ctx, key, dedupe.TakeOptions{For: lease + settle})
	if err != nil {
		return err
	}
	if err := wait(ctx, time.Until(c.AskFrom(settle))); err != nil {
		return err
	}
	for _, k := range c.Record.DownstreamKeys(stepPay) {
		if pay, ok := bank.lookUp(k); ok {
			body, err := json.Marshal(Receipt{ID: pay.ID, Key: key.ID})
			if err != nil {
				return err
			}
			_, err = c.Resolve(ctx, dedupe.StateCompleted, &dedupe.Result{ContentType: "application/json", Body: body}, "")
			return err
		}
	}
	_, err = c.Resolve(ctx, dedupe.StateReleased, nil, "the provider has no such refund")
	return err
}
