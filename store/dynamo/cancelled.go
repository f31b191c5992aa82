package dynamo

import (
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/claimonce/claimonce/dedupe"
)

// Codes of cancellation reasons, from
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_TransactWriteItems.html
const (
	reasonNone       = "None"
	reasonCondition  = "ConditionalCheckFailed"
	reasonCollection = "ItemCollectionSizeLimitExceeded"
	reasonConflict   = "TransactionConflict"
	reasonThroughput = "ProvisionedThroughputExceeded"
	reasonThrottling = "ThrottlingError"
	reasonValidation = "ValidationError"
)

// CancelledError is a transaction of which nothing was written, and the reason that counts most. It wraps the SDK's error.
//
// It matches [dedupe.ErrRejected] where one of the other writes was refused for good, [dedupe.ErrSetup] where a write can never be
// accepted as it is made, and neither where the same again may succeed: after a moment for TransactionConflict, after backing off
// for ThrottlingError and ProvisionedThroughputExceeded.
type CancelledError struct {
	Index   int    // of the write in what was given to SwapWith; -1: the record's own
	Code    string // as DynamoDB gives it, for example ConditionalCheckFailed
	Message string
	// Item is what was stored where a condition failed, if the write asked for it (ReturnValuesOnConditionCheckFailure). It is in
	// no text: it may be anybody's data.
	Item map[string]types.AttributeValue

	err error
}

// Error implements error.
func (e *CancelledError) Error() string {
	which := "the record's own write"
	if e.Index >= 0 {
		which = fmt.Sprintf("write %d beside the record", e.Index)
	}
	return fmt.Sprintf("nothing was written: %s: %s: %s", which, e.Code, e.advice())
}

func (e *CancelledError) advice() string {
	switch {
	case e.Code == reasonCondition:
		return "its condition is not met"
	case e.Code == reasonValidation:
		return e.Message + "; mend the write"
	case e.Code == reasonCollection && e.Index < 0:
		return "the records' table has a local index, which it must not have; use another table"
	case e.Code == reasonCollection:
		return "the item collection is full"
	case e.Code == reasonConflict:
		return "another transaction has the item; try again soon"
	case e.Code == reasonThrottling || e.Code == reasonThroughput:
		return "too many requests; back off, then try again"
	}
	return e.Message
}

// Unwrap gives the SDK's error.
func (e *CancelledError) Unwrap() error { return e.err }

// Is matches the errors of package dedupe that the reason comes to.
func (e *CancelledError) Is(target error) bool {
	others := e.Index >= 0
	tooLarge := e.Code == reasonValidation && saysTooLarge(e.Message)
	switch target {
	case dedupe.ErrRejected:
		return others && (e.Code == reasonCondition || e.Code == reasonCollection || e.Code == reasonValidation)
	case dedupe.ErrTooLarge:
		return !others && tooLarge
	case dedupe.ErrSetup:
		return e.Code == reasonValidation && !tooLarge || e.Code == reasonCollection && !others
	}
	return false
}

// saysTooLarge: should DynamoDB count otherwise than size.go does.
func saysTooLarge(message string) bool { return strings.Contains(message, "maximum allowed size") }
