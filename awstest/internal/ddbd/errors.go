package ddbd

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/claimonce/claimonce/awstest/internal/ddbd/attr"
	"github.com/claimonce/claimonce/awstest/internal/ddbd/expr"
	"github.com/claimonce/claimonce/awstest/internal/wire"
)

const (
	codePrefix       = "com.amazonaws.dynamodb.v20120810#"
	codeValidation   = "com.amazon.coral.validate#ValidationException"
	codeSerial       = "com.amazon.coral.service#SerializationException"
	codeUnknown      = "com.amazon.coral.service#UnknownOperationException"
	codeConditional  = codePrefix + "ConditionalCheckFailedException"
	codeCancelled    = codePrefix + "TransactionCanceledException"
	codeMismatch     = codePrefix + "IdempotentParameterMismatchException"
	codeNotFound     = codePrefix + "ResourceNotFoundException"
	codeInUse        = codePrefix + "ResourceInUseException"
	codeLimit        = codePrefix + "LimitExceededException"
	conditionMessage = "The conditional request failed"
)

func refuse(code, format string, args ...any) *wire.Error {
	return &wire.Error{Status: http.StatusBadRequest, Code: code, Message: fmt.Sprintf(format, args...)}
}

func invalid(format string, args ...any) *wire.Error {
	return refuse(codeValidation, format, args...)
}

// badValue words the fault of one parameter as the service's request validation does.
func badValue(value, member, constraint string) *wire.Error {
	return invalid("1 validation error detected: Value %s at '%s' failed to satisfy constraint: %s", value, member, constraint)
}

func missingMember(member string) *wire.Error {
	return badValue("null", member, "Member must not be null")
}

// oneOf refuses a value that is given and not in the set.
func oneOf(value, member string, set ...string) error {
	if value == "" || slices.Contains(set, value) {
		return nil
	}
	return badValue("'"+value+"'", member, "Member must satisfy enum value set: ["+strings.Join(set, ", ")+"]")
}

func unsupported(what string) *wire.Error {
	return invalid("%s is not supported by awstest", what)
}

// wireError turns what handlers and parsers return into what the client sees.
func wireError(err error) *wire.Error {
	if e, ok := errors.AsType[*wire.Error](err); ok {
		return e
	}
	if e, ok := errors.AsType[*attr.Error](err); ok {
		return invalid("%s", e.Message)
	}
	if e, ok := errors.AsType[*expr.Error](err); ok {
		return invalid("%s", e.Message)
	}
	return &wire.Error{Status: http.StatusInternalServerError, Code: codePrefix + "InternalServerError", Message: err.Error()}
}

// decodeError tells invalid values, which the service validates, from JSON of another
// shape, which it cannot read at all.
func decodeError(err error) *wire.Error {
	if _, ok := errors.AsType[*attr.Error](err); ok {
		return wireError(err)
	}
	return refuse(codeSerial, "%s", err.Error())
}

// checkRange refuses a number out of bounds; bounds below zero are none.
func checkRange(n int, member string, low, high int) error {
	value := fmt.Sprintf("'%d'", n)
	if n < low {
		return badValue(value, member, fmt.Sprintf("Member must have value greater than or equal to %d", low))
	}
	if high >= 0 && n > high {
		return badValue(value, member, fmt.Sprintf("Member must have value less than or equal to %d", high))
	}
	return nil
}
