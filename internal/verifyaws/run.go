package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

const (
	// checkTime bounds one check. The longest waits out two long polls and a few visibilities.
	checkTime = 100 * time.Second
	// cleanTime bounds the clean-up, which goes on after an interrupt.
	cleanTime = time.Minute
	// atOnce: most of a check is waiting, but a new account is throttled early.
	atOnce = 16
)

// runAll gives the verdicts in the order of the facts. Checks of SQS mostly wait, so they run side by side. Those of the table do not
// wait, and run one by one: some servers undo a cancelled transaction by putting all tables back as they were before it, and
// with it what others wrote meanwhile.
func runAll(ctx context.Context, w *world, p plan) []verdict {
	var running sync.WaitGroup
	running.Go(func() { w.table.create(ctx, w) }) // what it may create must be known before the clean-up
	verdicts := make([]verdict, len(p.facts))
	running.Go(func() {
		for i, f := range p.facts {
			if f.table {
				verdicts[i] = one(ctx, w, f, p.known)
			}
		}
	})
	slots := make(chan struct{}, atOnce)
	for i, f := range p.facts {
		if f.table {
			continue
		}
		running.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			verdicts[i] = one(ctx, w, f, p.known)
		})
	}
	running.Wait()
	return verdicts
}

func one(ctx context.Context, w *world, f fact, list differences) verdict {
	if f.check == nil {
		return verdict{fact: f, kind: unchecked, seen: f.why}
	}
	limited, cancel := context.WithTimeoutCause(ctx, checkTime, fmt.Errorf("the check was not over after %v", checkTime))
	defer cancel()
	reason, listed := list[f.id]
	err := protect(limited, w, f.check)
	if ctx.Err() != nil {
		return verdict{fact: f, kind: broken, seen: "interrupted"}
	}
	return judge(f, err, reason, listed)
}

// protect: a check that panics on an answer of a form that it did not expect must not keep the clean-up from running.
func protect(ctx context.Context, w *world, c check) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = errors.Join(err, fmt.Errorf("the check met an answer that it cannot read: %v", p))
		}
	}()
	return c(ctx, w)
}
