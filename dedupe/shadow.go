package dedupe

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// A Shadow describes a run that holds no claim, for a runtime that only watches: its handler runs whatever the record says.
type Shadow struct {
	// Request as far as it is known: a message may have no key, and a body no digest.
	Request Request
	// Record is what the claim showed, the zero Record if none was made or answered.
	Record Record
	// Attempt is what [Operation.Attempt] says; at least 1.
	Attempt int
	// Stand, if not empty, stands in for the key in downstream keys: for a message without a usable key or digest, whose downstream
	// keys would else be those of every other such message. The broker's message id fits: it is the same on each delivery.
	Stand string
}

// Shadow gives an operation without a claim: nothing is read or written for it, no lease is renewed and none can be lost. Begin
// gives its steps all the same. [Operation.Claimed] tells it from another.
//
// Two shadows, or a shadow and a claimed run, of one key may run at the same time.
func (l *Ledger) Shadow(s Shadow) *Operation {
	rec := s.Record
	rec.Key, rec.Owner = s.Request.Key, "" // whoever holds it is somebody else
	if rec.Fingerprint == "" {
		rec.Fingerprint = s.Request.Digest
	}
	now := l.now()
	// A downstream system that keeps the highest fence must not refuse it: fences are times, and rise with them.
	rec.Fence = max(rec.Fence, now.UnixMilli())
	rec.Attempt = max(s.Attempt, 1)
	op := newOperation(l, rec, now)
	op.shadow, op.steps = true, rec
	if s.Stand != "" {
		op.steps.Key.ID = s.Stand
	}
	return op
}

// Claimed reports whether the run holds a claim; false only in a [Shadow].
func (op *Operation) Claimed() bool { return !op.shadow }

// errUnmarked: the record may say that nothing was begun although something was.
var errUnmarked = errors.New("the mark of a step could not be written")

// beginBeside always gives the step. Its mark is written as well as the bound allows, and no further one is tried after a failure:
// a store that is out must cost a handler of many steps one bound, not one for each.
func (op *Operation) beginBeside(ctx context.Context, step string) Step {
	op.began(step)
	if !op.shadow && !op.unmarked.Load() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), op.beside)
		defer cancel()
		_, err := op.do(ctx, func(undone []string) Event {
			return Begin{Owner: op.owner, Step: step, Undone: undone}
		}, retrying(ctx, claimTries))
		if err != nil {
			op.unmarked.Store(true)
		}
	}
	return Step{name: step, key: op.steps.DownstreamKey(step, op.steps.Generation)}
}

// runBeside runs the handler whatever becomes of the claim. Only ctx ends the handler's context.
func (op *Operation) runBeside(ctx context.Context, handler Handler, opts RunOptions) Settlement {
	op.beside = opts.Beside
	if ctx.Err() != nil {
		return op.settle(ctx, Result{}, &neverStartedError{context.Cause(ctx)})
	}
	hctx, cancel := context.WithCancelCause(ctx)
	stop := func() { cancel(context.Canceled) }
	if !op.shadow {
		stop = op.keepAlive(hctx, func(cause error) {
			if !errors.Is(cause, ErrLeaseLost) { // the handler goes on without it
				cancel(cause)
			}
		})
	}
	res, err := op.call(hctx, handler, opts.Abandon)
	err = interrupted(hctx, err, opts)
	stop()
	return op.ended(ctx, res, op.openEnded(err))
}

// openEnded is the error of a run whose marks are not all written: in the mode that decides by marks a plain error could
// else be taken for one before any effect, and what is said of the last of several steps for one of all.
func (op *Operation) openEnded(herr error) error {
	if herr == nil || !op.unmarked.Load() || errors.Is(herr, errAbandoned) {
		return herr
	}
	v, _ := classify(herr)
	if v == verdictPlain || (v == verdictNotCommitted || v == verdictPermanent) && op.open() > 1 {
		return Unknown(fmt.Errorf("%w: %w", errUnmarked, herr))
	}
	return herr
}

func (op *Operation) began(step string) {
	op.stepsMu.Lock()
	defer op.stepsMu.Unlock()
	if !slices.Contains(op.begun, step) {
		op.begun = append(op.begun, step)
	}
}

// open is how many steps were begun and not undone, whether or not their marks were written.
func (op *Operation) open() (n int) {
	op.write <- struct{}{}
	defer op.unlock()
	op.stepsMu.Lock()
	defer op.stepsMu.Unlock()
	for _, step := range op.begun {
		if !slices.Contains(op.undone, step) {
			n++
		}
	}
	return n
}

// settleTime gives the context on which the outcome is written.
func (op *Operation) settleTime(ctx context.Context) (context.Context, context.CancelFunc) {
	if op.beside > 0 {
		return context.WithTimeout(context.WithoutCancel(ctx), op.beside)
	}
	return outlive(ctx, op.ledger.cfg.SettleFor)
}
