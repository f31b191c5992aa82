package dedupe

import (
	"errors"
	"fmt"
	"time"
)

// Sentinels. Match them with [errors.Is].
var (
	// ErrMissingKey: the message or request has no key where one is required. A retry cannot help.
	ErrMissingKey = errors.New("idempotency_key_missing")
	// ErrMalformedKey: the key or its scope cannot be accepted. A retry cannot help.
	ErrMalformedKey = errors.New("idempotency_key_malformed")
	// ErrKeyReuse: the key was used for another request. A retry cannot help; use a new key.
	ErrKeyReuse = errors.New("idempotency_key_reuse")
	// ErrInProgress: another attempt runs now. Retry later: see [InProgressError].
	ErrInProgress = errors.New("request_in_progress")
	// ErrOutcomePending: nobody knows yet whether the effect happened. Retry later, with the same key.
	ErrOutcomePending = errors.New("outcome_pending")
	// ErrFailed: the operation failed for good: see [FailedError]. A retry cannot help.
	ErrFailed = errors.New("operation_failed")
	// ErrExhausted: the attempt bound is reached and the record is on the operators' list. A later attempt
	// with the same key runs again.
	ErrExhausted = errors.New("attempts_exhausted")
	// ErrNoResult: the operation took effect, but what it returned is not there to be replayed, for example since it
	// was too large to be stored. A retry cannot help, and must not be made with a new key.
	ErrNoResult = errors.New("completed_without_result")
	// ErrOlderThanWindow: the message or request is older than what records still remember, so running it
	// could repeat an effect. A retry cannot help.
	ErrOlderThanWindow = errors.New("older_than_window")
	// ErrRefused: the record's state does not allow what was asked.
	ErrRefused = errors.New("refused by the record's state")

	// ErrLeaseLost is the cause of a handler's cancelled context, and Begin's error, when this worker may no
	// longer assume that it owns the operation.
	ErrLeaseLost = errors.New("lease lost")
	// ErrDraining is the cause of a handler's cancelled context when its worker stops.
	ErrDraining = errors.New("worker is draining")

	// ErrSetup: only a person can mend it, for example a missing queue or table, or missing credentials.
	ErrSetup = errors.New("set-up cannot work")
	// ErrConflict is returned by [Store.Swap] when what is stored is not what was expected.
	ErrConflict = errors.New("record is not as expected")
	// ErrTooLarge is returned by [Store.Swap] for a record that this store can never hold. No repeat helps.
	ErrTooLarge = errors.New("record too large for the store")
	// ErrRejected is returned by [Transactor.SwapWith] when a write beside the record was refused, for example since its
	// own condition is not met. Nothing of the transaction is written, and as things are now the same again would be refused too; one of its
	// repeats that is still on its way can land only while the record stays as it was expected.
	ErrRejected = errors.New("a write beside the record was refused")
	// ErrNewerSchema is returned for a record written by a newer release, or whose fingerprint has a scheme
	// that this worker does not know. It is left alone; a worker of the newer release handles the message.
	ErrNewerSchema = errors.New("record was written by a newer version")
)

// An Error is what leaves a [Ledger]: which call failed, for which operation, and why. It names the key by its hash.
type Error struct {
	Op  string // the ledger's call, for example "claim"
	Key Key
	Err error
}

// Error implements error.
func (e *Error) Error() string {
	return fmt.Sprintf("dedupe: %s %s: %v", e.Op, e.Key, e.Err)
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

// InProgressError says that another attempt runs now. It matches [ErrInProgress].
type InProgressError struct {
	RetryAfter time.Duration // what is left of its lease
}

// Error implements error.
func (e *InProgressError) Error() string {
	return fmt.Sprintf("%v: retry after %v", ErrInProgress, e.RetryAfter)
}

// Is matches [ErrInProgress].
func (e *InProgressError) Is(target error) bool { return target == ErrInProgress }

// FailedError is the stored failure of an operation. It matches [ErrFailed].
type FailedError struct {
	Reason string
}

// Error implements error.
func (e *FailedError) Error() string { return fmt.Sprintf("%v: %s", ErrFailed, e.Reason) }

// Is matches [ErrFailed].
func (e *FailedError) Is(target error) bool { return target == ErrFailed }

// verdict is what a handler's error says about its effect, from the least to the most cautious.
type verdict uint8

const (
	verdictPlain verdict = iota // proves nothing
	verdictNotCommitted
	verdictPermanent
	verdictUnknown
)

type verdictError struct {
	err     error
	verdict verdict
}

func (e *verdictError) Error() string { return e.err.Error() }
func (e *verdictError) Unwrap() error { return e.err }

type retryError struct {
	err   error
	delay time.Duration
}

func (e *retryError) Error() string { return e.err.Error() }
func (e *retryError) Unwrap() error { return e.err }

// NotCommitted says that the handler's last step had no effect and never will: the operation is released and may run
// again. Do not use it for time-outs, resets or cancelled contexts: they prove nothing. nil stays nil.
func NotCommitted(err error) error { return withVerdict(err, verdictNotCommitted) }

// Permanent says that this attempt had no effect and that no retry can help, for example since the provider declined it.
// The operation fails for good, and duplicates are answered with the failure. But where an earlier attempt may have had, or may
// still get, an effect, nobody can say so: in mode Rerun it is then dead-lettered and listed, in the other modes its outcome
// is unknown until a reconciler that voids, or a person, settles it. nil stays nil.
func Permanent(err error) error { return withVerdict(err, verdictPermanent) }

// Unknown says that nobody can know whether the effect happened: the operation becomes unknown and is reconciled,
// never run again blindly. nil stays nil.
func Unknown(err error) error { return withVerdict(err, verdictUnknown) }

func withVerdict(err error, v verdict) error {
	if err == nil {
		return nil
	}
	return &verdictError{err: err, verdict: v}
}

// RetryAfter only asks for a delay before the next attempt and proves nothing: it counts as the error that it wraps.
// nil stays nil.
func RetryAfter(err error, delay time.Duration) error {
	if err == nil {
		return nil
	}
	return &retryError{err: err, delay: max(delay, 0)}
}

// classify finds the verdicts and the delay anywhere in the tree of wrapped and joined errors. Where several verdicts
// stand, the most cautious one counts: one branch that does not know outweighs another that does.
//
// It does not look inside an [*Error]: that came out of another operation, run inside the handler, and speaks of that one only.
func classify(err error) (v verdict, delay time.Duration) {
	switch e := err.(type) { //nolint:errorlint // walks the tree itself, node by node
	case *Error:
		return verdictPlain, 0
	case *verdictError:
		v = e.verdict
	case *retryError:
		delay = e.delay
	}
	var children []error
	switch e := err.(type) { //nolint:errorlint // as above
	case interface{ Unwrap() error }:
		if c := e.Unwrap(); c != nil {
			children = []error{c}
		}
	case interface{ Unwrap() []error }:
		children = e.Unwrap()
	}
	for _, c := range children {
		cv, cd := classify(c)
		v, delay = max(v, cv), max(delay, cd)
	}
	return v, delay
}
