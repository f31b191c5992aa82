package dynamo

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"

	"github.com/claimonce/claimonce/dedupe"
)

// MaxWith is how many writes [Store.SwapWith] takes: a transaction has at most 100, and the record and a result apart need two. See
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_TransactWriteItems.html
const MaxWith = 98

// SwapWith implements [dedupe.Transactor]: one TransactWriteItems, which costs twice the units of single writes. A result that is kept
// apart is in it too. Without other writes it is a [Store.Swap].
//
// An error wraps [dedupe.ErrRejected] and has a [*CancelledError] in it where one of the other writes was refused; it wraps
// [dedupe.ErrSetup] where no repeat can help, for example since a write goes to the records' own table, which is refused before any
// call. A transaction that only met another one is tried a few times, within a second; what is throttled is not.
func (s *Store) SwapWith(
	ctx context.Context, key dedupe.Key, expect dedupe.Expect, next dedupe.Record, with []types.TransactWriteItem,
) (dedupe.Record, error) {
	if len(with) == 0 {
		return s.Swap(ctx, key, expect, next)
	}
	current, err := s.swapWith(ctx, key, expect, next, with)
	if err != nil {
		return current, s.failed("transaction with", err)
	}
	return next, nil
}

func (s *Store) swapWith(
	ctx context.Context, key dedupe.Key, expect dedupe.Expect, next dedupe.Record, with []types.TransactWriteItem,
) (dedupe.Record, error) {
	record, part, err := encodeFor(key, next)
	if err == nil {
		err = s.checkWith(with, record, part)
	}
	if err != nil {
		return dedupe.Record{}, err
	}
	own := s.ownWrites(expect, record, part)
	in := &dynamodb.TransactWriteItemsInput{ClientRequestToken: aws.String(tokenOf(next)), TransactItems: append(own, with...)}
	for try := 1; ; try++ {
		err := s.transact(ctx, in)
		cancelled, ok := errors.AsType[*types.TransactionCanceledException](err)
		if !ok {
			return s.uncancelled(ctx, expect, next, err)
		}
		current, err := s.cancelled(ctx, expect, next, cancelled, len(own))
		if c, ok := errors.AsType[*CancelledError](err); !ok || c.Code != reasonConflict || try == conflictTries || !pause(ctx, try) {
			return current, err
		}
	}
}

// ownWrites are the record, first, and a result apart. The result is in the transaction and not before it: alone it would show that
// the handler returned, and here that proves nothing.
func (s *Store) ownWrites(expect dedupe.Expect, record, part item) []types.TransactWriteItem {
	c := conditionOf(expect)
	own := []types.TransactWriteItem{{Put: &types.Put{
		TableName: &s.table, Item: record,
		ConditionExpression: &c.expression, ExpressionAttributeNames: c.names, ExpressionAttributeValues: c.values,
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	}}}
	if part != nil {
		own = append(own, types.TransactWriteItem{Put: &types.Put{TableName: &s.table, Item: part}})
	}
	return own
}

// tokenOf is the same for every repeat of one write. DynamoDB remembers it for ten minutes (API reference of TransactWriteItems); a
// repeat that comes later meets its own revision.
func tokenOf(next dedupe.Record) string {
	sum := sha256.Sum256([]byte("claimonce transaction 1\x00" + next.Revision + "\x00" + next.Key.StoreID()))
	return base64.RawURLEncoding.EncodeToString(sum[:24]) // 32 characters, of 36 allowed
}

func (s *Store) transact(ctx context.Context, in *dynamodb.TransactWriteItemsInput) error {
	err := s.bare(ctx, func(ctx context.Context) error {
		_, err := s.client.TransactWriteItems(ctx, in)
		return err
	})
	coded, ok := errors.AsType[smithy.APIError](err)
	if !ok {
		return err
	}
	// Of which write they speak is not said.
	switch coded.ErrorCode() {
	case "ValidationException":
		return fmt.Errorf("%w: a write beside the record is malformed, or the table is not as it should be, which Check explains: %w", dedupe.ErrSetup, err)
	case "ResourceNotFoundException":
		return fmt.Errorf("%w: one of its tables is not there (%s): %w", dedupe.ErrSetup, strings.Join(tablesOf(in.TransactItems), ", "), err)
	case "AccessDeniedException":
		return fmt.Errorf("the credentials lack a permission: a transaction needs dynamodb:PutItem on the records' table, and for each "+
			"other write its own, for example UpdateItem or ConditionCheckItem: %w", err)
	}
	return s.explained(err)
}

func tablesOf(writes []types.TransactWriteItem) []string {
	var names []string
	for _, w := range writes {
		if table, _ := target(w); !slices.Contains(names, table) {
			names = append(names, table)
		}
	}
	return names
}

// uncancelled is for every other answer. All but one leave it open whether the transaction landed.
func (s *Store) uncancelled(ctx context.Context, expect dedupe.Expect, next dedupe.Record, err error) (dedupe.Record, error) {
	if _, mismatch := errors.AsType[*types.IdempotentParameterMismatchException](err); mismatch {
		return s.byRecord(ctx, expect, next, fmt.Errorf("%w: this write of the record was sent before with other writes beside it: "+
			"give the same ones in every repeat: %w", dedupe.ErrSetup, err))
	}
	return dedupe.Record{}, err
}

// byRecord lets the record say what happened: only if it still is as expected, nothing was written, and the error counts.
func (s *Store) byRecord(ctx context.Context, expect dedupe.Expect, next dedupe.Record, unwritten error) (dedupe.Record, error) {
	it, err := s.get(ctx, next.Key.StoreID())
	if err != nil {
		return dedupe.Record{}, fmt.Errorf("%v; whether it was written cannot be read: %w", unwritten, err)
	}
	var rec dedupe.Record
	if len(it) > 0 {
		if rec, _, err = decode(next.Key, it); err != nil {
			return dedupe.Record{}, err
		}
	}
	if expect.Met(rec) {
		return dedupe.Record{}, unwritten
	}
	return s.conflictWith(ctx, next, it)
}

// A transaction that was met is over within milliseconds; when many meet on one item, this spreads them.
const (
	conflictTries = 4
	conflictPause = 40 * time.Millisecond
)

// pause waits longer after each try; false if ctx ended first.
func pause(ctx context.Context, try int) bool {
	most := conflictPause << try
	t := time.NewTimer(most/4 + rand.N(3*most/4)) //nolint:gosec // spreads load, guards nothing
	defer t.Stop()
	select {
	case <-t.C:
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}
