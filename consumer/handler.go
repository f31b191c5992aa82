package consumer

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/claimonce/claimonce/dedupe"
	"github.com/claimonce/claimonce/dedupe/fingerprint"
)

// A Handler decodes a message and performs its operation. Make one with [JSON], [Decode] or [Raw].
//
// What the handler's error says of the effect decides what becomes of the operation: see dedupe.NotCommitted,
// dedupe.Permanent, dedupe.Unknown and dedupe.RetryAfter.
type Handler struct {
	format  fingerprint.Format
	prepare func(*Message) (dedupe.Handler, error)
}

// JSON makes a handler for bodies that are one JSON value each. What f returns is stored as JSON and replayed to
// duplicates. A body that is no such value, or does not fit T, is dead-lettered before anything is claimed.
func JSON[T, R any](f func(ctx context.Context, op *dedupe.Operation, v T) (R, error)) Handler {
	h := Decode(func(m *Message) (T, error) {
		var v T
		dec := json.NewDecoder(bytes.NewReader(m.Body))
		if err := dec.Decode(&v); err != nil {
			return v, jsonFault(err)
		}
		if _, err := dec.Token(); !errors.Is(err, io.EOF) {
			return v, errors.New("data after the JSON value")
		}
		return v, nil
	}, f)
	h.format = fingerprint.JSON
	return h
}

// jsonFault says what is wrong without quoting the body, which the texts of encoding/json do in part.
func jsonFault(err error) error {
	if e, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return fmt.Errorf("the value at byte %d does not fit the type %s asked for", e.Offset, e.Type)
	}
	if e, ok := errors.AsType[*json.SyntaxError](err); ok {
		return fmt.Errorf("no valid JSON at byte %d", e.Offset)
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("the JSON value ends too early")
	}
	return errors.New("no JSON value of the type asked for")
}

// Decode makes a handler with a decoder of the application's. An error of decode dead-letters the message before anything is
// claimed. The request's fingerprint is taken of the body's bytes, or of the JSON value in it if Fingerprint in [Config].Ledger names
// Volatile members or a part to Select.
func Decode[T, R any](decode func(*Message) (T, error), f func(ctx context.Context, op *dedupe.Operation, v T) (R, error)) Handler {
	return Handler{format: fingerprint.Raw, prepare: func(m *Message) (dedupe.Handler, error) {
		v, err := decode(m)
		if err != nil {
			return nil, err
		}
		return func(ctx context.Context, op *dedupe.Operation) (dedupe.Result, error) {
			r, err := f(ctx, op, v)
			if err != nil {
				return dedupe.Result{}, err
			}
			return dedupe.JSONResult(r), nil
		}, nil
	}}
}

// Raw makes a handler that gets the whole message. The request's fingerprint is taken of the body's bytes.
func Raw(f func(ctx context.Context, op *dedupe.Operation, m *Message) (dedupe.Result, error)) Handler {
	return Decode(func(m *Message) (*Message, error) { return m, nil }, f)
}

type messageKey struct{}

// FromContext gives the message that a handler runs for; nil outside a consumer.
func FromContext(ctx context.Context) *Message {
	m, _ := ctx.Value(messageKey{}).(*Message)
	return m
}
