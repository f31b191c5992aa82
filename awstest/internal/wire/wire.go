// Package wire is what the front server and the services behind it share: how a service
// is called and how it refuses a call.
package wire

import "context"

// Error is a refusal as the service's client sees it.
type Error struct {
	Status  int            // HTTP status
	Code    string         // goes to "__type"
	Message string         // goes to "message"
	Fields  map[string]any // added to the error's JSON body
}

// Error returns code and message.
func (e *Error) Error() string { return e.Code + ": " + e.Message }

// Service answers one operation; body is the request's JSON, the answer is marshalled as JSON.
type Service interface {
	Call(ctx context.Context, op string, body []byte) (any, *Error)
}
