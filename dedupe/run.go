package dedupe

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"time"
)

// A Handler performs an operation. What its error says of the effect decides what becomes of the operation: see
// [NotCommitted], [Permanent], [Unknown] and [RetryAfter]. It must return when its context ends; [context.Cause]
// tells why: [ErrLeaseLost], [ErrDraining], or the caller's.
type Handler func(ctx context.Context, op *Operation) (Result, error)

// RunOptions are for runtimes that must end in time.
type RunOptions struct {
	// Abandon, if not nil, makes Run return without the handler, and without an outcome, when it is closed: for a
	// process that is about to end although the handler ignores its context.
	Abandon <-chan struct{}
	// Revoked, if it is closed by the time the handler returns an error, says that the handler was interrupted since its
	// message was taken back: like a drain, that is not counted as an attempt.
	Revoked <-chan struct{}
	// Beside, if not 0, runs the handler whatever becomes of the claim: a lease or an outcome that is lost neither ends its context
	// nor fails it, Begin always gives the step, and each write beside it is given up after this time. For a runtime that
	// only watches: duplicates take effect as if there were no record.
	Beside time.Duration
}

// A Settlement is what became of a run.
type Settlement struct {
	// State is the record's state afterwards: Completed, Failed, Released or Unknown, or InProgress if no outcome
	// could be written, or if the operation was no longer this worker's. Of a Shadow: what its claim showed.
	State State
	// Event is the name of the event that was written: complete, fail, release or suspect. Of a Shadow, for which nothing
	// is written: of the one that the handler's return stands for.
	Event string
	// Outcome of that write: OutcomeApplied, Repeated, Exhausted or Lost.
	Outcome Outcome
	// Record as it was last known.
	Record Record
	// Delay that the handler asked for with RetryAfter; 0: none.
	Delay time.Duration
	// HandlerErr is the handler's error, a *PanicError if it panicked.
	HandlerErr error
	// Err is why no outcome could be written: the record stays as it is and is recovered by its mode. The
	// message must then be neither acked nor nacked.
	Err error
}

// PanicError is what a panicking handler counts as: a plain error, since a panic proves nothing.
type PanicError struct {
	Value any
	Stack []byte
}

// Error implements error.
func (e *PanicError) Error() string { return "handler panicked with " + PanicText(e.Value) }

// PanicText names a recovered value for a log. Runtime errors, such as a nil dereference, say what they are; of any other value
// only the type is given, since it may hold parts of the payload.
func PanicText(v any) string {
	if err, ok := v.(runtime.Error); ok {
		return err.Error()
	}
	return fmt.Sprintf("a %T", v)
}

// errAbandoned: the process ends before the handler does.
var errAbandoned = errors.New("handler did not return in time")

// Run runs the handler while it renews the lease, then records the outcome. It is to be called once, soon after the claim.
// If ctx is over by then the handler is not started, and the attempt is given back.
//
// The outcome is written on a context that outlives ctx, and tried again until it lands, is refused, or ctx has been over
// for [Config].SettleFor: the end of the lease does not stop it.
func (op *Operation) Run(ctx context.Context, handler Handler, opts RunOptions) Settlement {
	switch {
	case op.shadow || opts.Beside > 0:
		return op.runBeside(ctx, handler, opts)
	case !op.trust.holds():
		// The answer to the claim came so late that the lease may be over: not started, and not counted.
		return op.settle(ctx, Result{}, &neverStartedError{ErrLeaseLost})
	case ctx.Err() != nil:
		return op.settle(ctx, Result{}, &neverStartedError{context.Cause(ctx)})
	}
	hctx, cancel := context.WithCancelCause(ctx)
	stop := op.keepAlive(hctx, cancel)
	res, err := op.call(hctx, handler, opts.Abandon)
	err = interrupted(hctx, err, opts)
	stop() // no renewal beside the completion
	return op.ended(ctx, res, err)
}

// interrupted marks the error of a handler that was told to stop.
func interrupted(hctx context.Context, err error, opts RunOptions) error {
	if err != nil && (errors.Is(context.Cause(hctx), ErrDraining) || isClosed(opts.Revoked)) {
		return &drainedError{err}
	}
	return err
}

// ended writes down what the handler returned, if it did.
func (op *Operation) ended(ctx context.Context, res Result, err error) Settlement {
	if errors.Is(err, errAbandoned) {
		return Settlement{State: StateInProgress, Outcome: OutcomeLost, HandlerErr: err, Err: err}
	}
	return op.settle(ctx, res, err)
}

// neverStartedError: the claim's answer came too late for a run.
type neverStartedError struct{ cause error }

func (e *neverStartedError) Error() string {
	return fmt.Sprintf("the handler was not started, since the claim's answer came too late: %v", e.cause)
}

func (e *neverStartedError) Unwrap() error { return e.cause }

// isClosed: nil is never closed.
func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// drainedError marks an error returned after the handler was told to stop, through no fault of the operation.
type drainedError struct{ error }

func (e *drainedError) Unwrap() error { return e.error }

// call runs the handler on a goroutine of its own, so that a handler that ignores its context or ends its goroutine cannot
// take the worker with it.
func (op *Operation) call(ctx context.Context, handler Handler, abandon <-chan struct{}) (Result, error) {
	type outcome struct {
		res Result
		err error
	}
	done := make(chan outcome, 1)
	go func() {
		out := outcome{err: &PanicError{Value: errors.New("handler ended its goroutine")}}
		defer func() {
			if v := recover(); v != nil {
				out = outcome{err: &PanicError{Value: v, Stack: debug.Stack()}}
			}
			done <- out
		}()
		res, err := handler(ctx, op)
		out = outcome{res, err}
	}()
	select {
	case out := <-done:
		return out.res, out.err
	case <-abandon:
		return Result{}, errAbandoned
	}
}

// keepAlive renews the lease until it is stopped. If the lease can no longer be trusted it cancels the handler.
func (op *Operation) keepAlive(ctx context.Context, cancel context.CancelCauseFunc) (stop func()) {
	loop, stopLoop := context.WithCancel(context.WithoutCancel(ctx))
	done := make(chan struct{})
	go func() {
		defer close(done)
		op.renewals(loop, cancel)
	}()
	return func() {
		stopLoop()
		<-done
		cancel(context.Canceled)
	}
}

// renewals goes on after an error: a renewal that failed once must not be the last one. It goes on too after the trust
// ended, as long as nobody else has claimed: it keeps others from taking over while the handler still winds down.
func (op *Operation) renewals(ctx context.Context, cancel context.CancelCauseFunc) {
	every := op.ledger.cfg.RenewEvery
	wait := every
	for pause(ctx, op.untilBeat(wait, cancel)) {
		err := op.renewWithin(ctx, op.untilBeat(every, cancel))
		if errors.Is(err, ErrLeaseLost) {
			cancel(ErrLeaseLost)
			return
		}
		wait = every
		if err != nil {
			wait = jitter(every / 10)
		}
	}
}

// renewWithin bounds the call: one that hangs must not hide the end of the trust window.
func (op *Operation) renewWithin(ctx context.Context, d time.Duration) error {
	if op.beside > 0 {
		d = min(d, op.beside) // Undone waits for it
	}
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	return op.renew(ctx)
}

// untilBeat shortens a wait to the end of the trust window. A window that is over cancels the handler at once, before the wait
// or the call, and sets no further deadline.
func (op *Operation) untilBeat(wait time.Duration, cancel context.CancelCauseFunc) time.Duration {
	left := op.trust.left()
	if left <= 0 {
		cancel(ErrLeaseLost)
		return wait
	}
	return min(wait, left)
}

// jitter spreads a duration over its upper half, so that workers that failed together do not return together.
func jitter(d time.Duration) time.Duration {
	if d <= 1 {
		return d
	}
	return d/2 + rand.N(d/2) //nolint:gosec // spreads load, guards nothing
}
