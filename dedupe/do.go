package dedupe

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
)

// A Reply is what [DoReply] answers with.
type Reply[R any] struct {
	Value    R
	Replayed bool // the handler was not run: the value is the stored one
	// Omitted: the operation is completed, but its value is not available, for example since it was too large to
	// store. Value is then the zero value, except in the run that made it.
	Omitted bool
}

// Do runs fn once for a key, without any queue: for existing loops, HTTP, gRPC, or many operations in one message. request is
// fingerprinted as JSON, and the value returned by fn is stored as JSON; a duplicate gets the stored one.
//
// Errors that say what to do match [ErrInProgress] (an [*InProgressError] with RetryAfter), [ErrOutcomePending],
// [ErrKeyReuse], [ErrNoResult], [ErrFailed] (a [*FailedError]), [ErrExhausted], [ErrLeaseLost], [ErrMissingKey], [ErrMalformedKey];
// an error of fn that let it be released comes back wrapped in an [*Error].
func Do[Q, R any](ctx context.Context, l *Ledger, key Key, request Q, fn func(context.Context, *Operation) (R, error)) (R, error) {
	reply, err := DoReply(ctx, l, key, request, fn)
	if err == nil && reply.Replayed && reply.Omitted {
		err = &Error{Op: "replay", Key: key, Err: ErrNoResult}
	}
	return reply.Value, err
}

// DoReply is [Do] for callers that must tell a replay from a first run.
func DoReply[Q, R any](ctx context.Context, l *Ledger, key Key, request Q, fn func(context.Context, *Operation) (R, error)) (Reply[R], error) {
	var reply Reply[R]
	body, err := json.Marshal(request)
	if err != nil {
		return reply, &Error{Op: "do", Key: key, Err: fmt.Errorf("the request cannot be encoded as JSON: %s", jsonFault(err))}
	}
	req, err := l.Request(key, body)
	if err != nil {
		return reply, err
	}
	a, err := l.Claim(ctx, req)
	if err != nil {
		return reply, err
	}
	if a.Outcome != OutcomeClaimed {
		return replayed[R](key, a)
	}
	set := a.Operation.Run(ctx, func(ctx context.Context, op *Operation) (Result, error) {
		v, err := fn(ctx, op)
		if err != nil {
			return Result{}, err
		}
		reply.Value = v
		return JSONResult(v), nil
	}, RunOptions{})
	return reply, set.err(key)
}

// OmittedNotEncodable means that the handler's value cannot be encoded; its effect has happened all the same.
const OmittedNotEncodable = "not_encodable"

// JSONResult encodes a handler's value. A value that cannot be encoded is left out: it must not make a completion fail.
func JSONResult(v any) (res Result) {
	if res, ok := v.(Result); ok {
		return res
	}
	defer func() {
		if recover() != nil { // a MarshalJSON that panics: the effect has happened all the same
			res = Result{Omitted: OmittedNotEncodable}
		}
	}()
	body, err := json.Marshal(v)
	if err != nil {
		return Result{Omitted: OmittedNotEncodable}
	}
	return Result{ContentType: "application/json", Body: body}
}

func replayed[R any](key Key, a Answer) (Reply[R], error) {
	reply := Reply[R]{Replayed: true}
	if a.Outcome != OutcomeReplay {
		return Reply[R]{}, a.Err(key)
	}
	res := a.Record.Result
	if res == nil || res.Omitted != "" || res.Unavailable {
		reply.Omitted = true
		return reply, nil
	}
	if same, ok := any(&reply.Value).(*Result); ok {
		*same = *res
		return reply, nil
	}
	if len(res.Body) == 0 { // settled by somebody who knew that it took effect, but not with what
		reply.Omitted = true
		return reply, nil
	}
	if err := json.Unmarshal(res.Body, &reply.Value); err != nil {
		return reply, &Error{Op: "replay", Key: key, Err: fmt.Errorf("the stored result does not fit the type asked for: %s", jsonFault(err))}
	}
	return reply, nil
}

// jsonFault says what is wrong without the texts of encoding/json, which quote values: requests and results may hold what must
// not reach a log.
func jsonFault(err error) string {
	if e, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return fmt.Sprintf("the value at byte %d is no %s", e.Offset, e.Type)
	}
	if e, ok := errors.AsType[*json.UnsupportedTypeError](err); ok {
		return fmt.Sprintf("it holds a %s", e.Type)
	}
	if e, ok := errors.AsType[*json.SyntaxError](err); ok {
		return fmt.Sprintf("no valid JSON at byte %d", e.Offset)
	}
	return fmt.Sprintf("%T", err)
}

// Err is the answer as an error: nil where there is something to run or to replay.
func (a Answer) Err(key Key) error {
	var err error
	switch a.Outcome {
	case OutcomeBusy:
		err = &InProgressError{RetryAfter: a.RetryAfter}
	case OutcomePending:
		err = ErrOutcomePending
	case OutcomeMismatch:
		err = ErrKeyReuse
	case OutcomeFailed:
		err = &FailedError{Reason: a.Record.Reason}
	case OutcomeExhausted:
		err = ErrExhausted
	default:
		return nil
	}
	return &Error{Op: "claim", Key: key, Err: err}
}

// err is what a caller without a queue is told of a run.
func (s Settlement) err(key Key) error {
	wrap := func(err error) error { return &Error{Op: "run", Key: key, Err: err} }
	switch {
	case s.Err != nil && s.HandlerErr == nil:
		// The effect happened, but nobody could write it down: a retry with the same key tells.
		return wrap(fmt.Errorf("%w: %w", ErrOutcomePending, s.Err))
	case s.Err != nil:
		return wrap(fmt.Errorf("%w: %w", s.Err, s.HandlerErr))
	case s.HandlerErr == nil:
		return nil
	case s.State == StateFailed:
		return wrap(fmt.Errorf("%w: %w", &FailedError{Reason: s.Record.Reason}, s.HandlerErr))
	case s.State == StateUnknown:
		return wrap(fmt.Errorf("%w: %w", ErrOutcomePending, s.HandlerErr))
	case s.Outcome == OutcomeExhausted:
		return wrap(fmt.Errorf("%w: %w", ErrExhausted, s.HandlerErr))
	}
	return wrap(s.HandlerErr)
}
