package awstest

import (
	"context"
	"net/http"
	"time"

	"github.com/claimonce/claimonce/awstest/internal/wire"
)

// A Fault is something that goes wrong with calls that it matches. Make one with a constructor such as [FailBefore] or
// [DropAnswer], and change its fields as needed; a Fault made by hand can only use the fields.
type Fault struct {
	// Operation is the name of the calls, for example PutItem; "": all of both services.
	Operation string
	// Match, if not nil, picks among the calls of that operation. It is called for one call at a time, and must neither wait
	// nor call the server.
	Match func(Call) bool
	// Times is how many calls it hits; 0: all, until it is removed.
	Times int
	// Before, if not nil, is called before the call is applied or refused. It may wait; then it has to end with the context, which
	// ends with the client's.
	Before func(context.Context, Call)
	// After, if not nil, is called when the call was applied, before it is answered. It may wait like Before.
	After func(context.Context, Call)

	before, after time.Duration // waits around the call
	refuse        *wire.Error   // instead of the answer
	throttle      bool          // refused, with the code that the service has for it
	apply         bool          // what is refused or dropped is applied all the same
	drop          bool          // the connection is cut instead of an answer
	entries       []int         // of a batch: not applied, and reported as failed
	sender        bool          // as the sender's fault
	code          string        // of the statements among entries
}

// FailBefore refuses calls without applying them, as a service does: with an HTTP status and an error code, for example 500 and
// InternalServerError. The SDK repeats calls that fail with a status of 500 and above.
func FailBefore(operation string, status int, code string) Fault {
	return Fault{Operation: operation, refuse: &wire.Error{Status: status, Code: code, Message: "injected: " + code}}
}

// FailAfter applies calls and then refuses them: an error of a service does not say that nothing happened.
func FailAfter(operation string, status int, code string) Fault {
	f := FailBefore(operation, status, code)
	f.apply = true
	return f
}

// Throttle refuses calls as a service under too much load does; the SDK repeats them.
func Throttle(operation string) Fault { return Fault{Operation: operation, throttle: true} }

// DropRequest cuts the connection without applying the call. The client cannot tell it from [DropAnswer].
func DropRequest(operation string) Fault { return Fault{Operation: operation, drop: true} }

// DropAnswer applies calls and cuts the connection instead of answering.
func DropAnswer(operation string) Fault { return Fault{Operation: operation, drop: true, apply: true} }

// Delay makes calls wait: before they are applied, and after that before they are answered. A client that gives up in the first wait
// leaves nothing applied.
func Delay(operation string, before, after time.Duration) Fault {
	return Fault{Operation: operation, before: before, after: after}
}

// FailEntries reports entries of an SQS batch call, by their position, as failed, without applying them. sender says whose fault
// it is: the sender's is InvalidParameterValue, the service's InternalError, which may be sent again. A call that is no batch is
// refused with InvalidFault.
func FailEntries(operation string, sender bool, positions ...int) Fault {
	return Fault{Operation: operation, sender: sender, entries: positions}
}

// FailStatements reports statements of a BatchExecuteStatement, by their position, as failed with a code such as ThrottlingError,
// InternalServerError or TransactionConflict, without applying them; the others are applied.
func FailStatements(code string, positions ...int) Fault {
	return Fault{Operation: "BatchExecuteStatement", entries: positions, code: code}
}

// Once makes a fault hit one call only.
func (f Fault) Once() Fault {
	f.Times = 1
	return f
}

// With adds fields to the body of the error that a call is refused with, for example the Item of a failed condition.
func (f Fault) With(fields map[string]any) Fault {
	if f.refuse != nil {
		e := *f.refuse
		e.Fields = fields
		f.refuse = &e
	}
	return f
}

// Inject adds a fault, and returns what removes it; a call that it has hit already is not spared. Of several that match a call the
// oldest hits it.
func (s *Server) Inject(f Fault) (remove func()) { return s.faults.add(f) }

// refusal is what the fault answers to a call of a service; nil: the call's own answer.
func (f Fault) refusal(service string) *wire.Error {
	switch {
	case !f.throttle:
		return f.refuse
	case service == serviceDynamo:
		return &wire.Error{
			Status: http.StatusBadRequest, Code: "com.amazonaws.dynamodb.v20120810#ProvisionedThroughputExceededException",
			Message: "injected: the level of configured provisioned throughput for the table was exceeded",
		}
	default:
		return &wire.Error{Status: http.StatusBadRequest, Code: "ThrottlingException", Message: "injected: rate exceeded"}
	}
}
