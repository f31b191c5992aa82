package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/claimonce/claimonce/consumer"
	"github.com/claimonce/claimonce/dedupe"
)

// The times of this example are short, so that a run takes seconds. The defaults suit production.
const (
	lease      = 3 * time.Second
	skewMargin = 2 * time.Second
)

func run(ctx context.Context, o options, stdout, stderr io.Writer) (err error) {
	if o.label == "" {
		o.label = newLabel()
	}
	reqs, err := readInput(o.input, o.label)
	if err != nil {
		return err
	}
	bank, err := openProvider(o.ledger)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, bank.close()) }()
	p, err := wire(ctx, o)
	if err != nil {
		return err
	}
	show := newProgress(o, stderr, len(reqs), p.where)
	watch := newTracker(o.label, reqs, show)
	w, err := consumer.New(operation, p.source, p.store, consumer.JSON(refunds{provider: bank}.handle), consumer.Config{
		OnAbandoned: dedupe.RerunUnlessBegun,
		Tenant:      consumer.TenantAttribute("Tenant"),
		Workers:     o.workers,
		Backoff:     200 * time.Millisecond, BackoffMax: time.Second,
		PendingBackoff: 500 * time.Millisecond, PendingBackoffMax: time.Second,
		Observe: watch.delivery,
		Ledger: dedupe.Config{
			Lease: lease, RenewEvery: lease / 3, OwnerMargin: lease / 6, SkewMargin: skewMargin,
			Observe: watch.transition,
		},
	})
	if err != nil {
		return err
	}
	started := time.Now()
	if err := work(ctx, w, p, reqs, watch, bank); err != nil {
		return err
	}
	s, err := summarise(context.WithoutCancel(ctx), w.Ledger(), watch, bank)
	if err != nil {
		return err
	}
	s.Seconds = float64(time.Since(started).Milliseconds()) / 1000
	show.close()
	return s.print(stdout, o.json)
}

// operation names the work. It is part of every record's key: never derived from a queue's name.
const operation = "refund"

// work sends the input and runs it, until every message is done with and every outcome settled, or ctx ends.
func work(ctx context.Context, w *consumer.Consumer, p parts, reqs []request, watch *tracker, bank *provider) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	ran := make(chan error, 1)
	go func() {
		err := w.Run(ctx)
		ran <- err
		if err != nil {
			stop(err)
		}
	}()
	settled := make(chan struct{})
	go func() {
		defer close(settled)
		reconcile(ctx, w.Ledger(), watch, bank)
	}()
	if err := send(ctx, p, reqs, watch); err != nil && ctx.Err() == nil {
		stop(err)
	}
	select {
	case <-watch.done:
	case <-ctx.Done():
	}
	cause := context.Cause(ctx)
	stop(errDone)
	<-settled
	if err := <-ran; err != nil {
		return err
	}
	if cause != nil && !errors.Is(cause, context.Canceled) {
		return cause
	}
	return nil
}

var errDone = errors.New("all messages are done with")

func send(ctx context.Context, p parts, reqs []request, watch *tracker) error {
	for len(reqs) > 0 {
		n := min(len(reqs), sendBatch)
		ids, err := p.send(ctx, reqs[:n])
		if err != nil {
			return fmt.Errorf("sending the input: %w", err)
		}
		watch.sent(ids)
		reqs = reqs[n:]
	}
	watch.allSent()
	return nil
}

const sendBatch = 10
