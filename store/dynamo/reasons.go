package dynamo

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/claimonce/claimonce/dedupe"
)

// cancelled decides by the record's own entry where that is clear, and else by the worst of all entries.
func (s *Store) cancelled(
	ctx context.Context, expect dedupe.Expect, next dedupe.Record, err *types.TransactionCanceledException, own int,
) (dedupe.Record, error) {
	reasons := err.CancellationReasons
	if len(reasons) > 0 && aws.ToString(reasons[0].Code) == reasonCondition {
		it := reasons[0].Item
		if len(it) == 0 { // nothing is stored, or this server brings none here, though it may with a single write's refusal
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
