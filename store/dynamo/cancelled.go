package dynamo

import (
	"context"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
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

// cancelled decides by the record's own entry where that is clear, and else by the worst of all entries.
func (s *Store) cancelled(
	ctx context.Context, expect dedupe.Expect, next dedupe.Record, err *types.TransactionCanceledException, own int,
) (dedupe.Record, error) {
	reasons := err.CancellationReasons
	if len(reasons) > 0 && aws.ToString(reasons[0].Code) == reasonCondition {
		it := reasons[0].Item
		if len(it) == 0 { // a server that brings none, or nothing is stored
			var gerr error
			if it, gerr = s.get(ctx, next.Key.StoreID()); gerr != nil {
				return dedupe.Record{}, gerr
			}
		}
		return s.conflictWith(ctx, next, it)
	}
	i := worst(reasons)
	if i < 0 {
		return s.byRecord(ctx, expect, next, fmt.Errorf("nothing was written, the server does not say why: %w", err))
	}
	c := &CancelledError{
		Index: max(i-own, -1), Code: aws.ToString(reasons[i].Code), Message: aws.ToString(reasons[i].Message), Item: reasons[i].Item, err: err,
	}
	if c.Is(dedupe.ErrRejected) {
		// An earlier try of this very write may have landed, and its own effect be what refuses the repeat. That its own entry
		// was looked at is not said where another one is at fault.
		return s.byRecord(ctx, expect, next, c)
	}
	return dedupe.Record{}, c
}

// worst is the entry whose reason lasts longest; -1 if none has any.
func worst(reasons []types.CancellationReason) int {
	at, most := -1, 0
	for i, r := range reasons {
		if n := lasting(aws.ToString(r.Code)); n > most {
			at, most = i, n
		}
	}
	return at
}

func lasting(code string) int {
	switch code {
	case "", reasonNone:
		return 0
	case reasonConflict:
		return 1
	case reasonCollection:
		return 3
	case reasonCondition:
		return 4
	case reasonValidation:
		return 5
	}
	return 2 // throttled, or not known here: back off
}
