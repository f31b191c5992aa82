package dynamo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/claimonce/claimonce/dedupe"
)

func (s *Store) swap(ctx context.Context, key dedupe.Key, expect dedupe.Expect, next dedupe.Record) (dedupe.Record, error) {
	record, part, err := encodeFor(key, next)
	if err != nil {
		return dedupe.Record{}, err
	}
	if part != nil {
		// First: a completion must never point to a result that is not there. After a crash in between, the part alone shows
		// that the handler returned without an error.
		if err := s.put(ctx, &dynamodb.PutItemInput{TableName: &s.table, Item: part}); err != nil {
			return dedupe.Record{}, err
		}
	}
	c := conditionOf(expect)
	err = s.put(ctx, &dynamodb.PutItemInput{
		TableName: &s.table, Item: record,
		ConditionExpression: &c.expression, ExpressionAttributeNames: c.names, ExpressionAttributeValues: c.values,
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	})
	if refused, ok := errors.AsType[*types.ConditionalCheckFailedException](err); ok {
		return s.conflict(ctx, expect, next, refused)
	}
	return dedupe.Record{}, err
}

// encodeFor is [items] of what may be written under a key.
func encodeFor(key dedupe.Key, next dedupe.Record) (record, part item, err error) {
	if err := storable(key); err != nil {
		return nil, nil, err
	}
	if next.Key != key {
		return nil, nil, errors.New("the record has another key than the one to be written")
	}
	return items(next)
}

// storable refuses what the SDK would change without a word: two keys that differ only in bytes that are no UTF-8 would be one.
func storable(key dedupe.Key) error {
	id := key.StoreID()
	switch {
	case !utf8.ValidString(id):
		return fmt.Errorf("%w: it is not valid UTF-8", dedupe.ErrMalformedKey)
	case len(id) > idLimit:
		return fmt.Errorf("%w: with its scope it has %d bytes, DynamoDB allows %d", dedupe.ErrMalformedKey, len(id), idLimit)
	}
	return nil
}

// condition is the whole of what DynamoDB decides.
type condition struct {
	expression string
	names      map[string]string
	values     item
}

// conditionOf filters expires_at itself, since TTL deletes hours late. An item of a newer schema is never replaced, not even an
// expired one: what a newer release means by expires_at is not known here.
func conditionOf(expect dedupe.Expect) condition {
	c := condition{
		names:  map[string]string{"#schema": attrSchema}, // a reserved word
		values: item{":schema": numberValue(dedupe.SchemaVersion)},
	}
	if revision, ok := expect.Revision(); ok {
		c.expression = attrRevision + " = :revision AND #schema <= :schema"
		c.values[":revision"] = textValue(revision)
		return c
	}
	c.expression = "attribute_not_exists(" + attrID + ") OR (" + attrExpiresAt + " <= :t AND #schema <= :schema)"
	c.values[":t"] = numberValue(expect.ExpiredBy())
	return c
}

// conflict gives what is stored. It does not judge whose it is: a repeat by the SDK that lost against its own first try ends here too,
// and the ledger knows its own revision.
func (s *Store) conflict(
	ctx context.Context, expect dedupe.Expect, next dedupe.Record, refused *types.ConditionalCheckFailedException,
) (dedupe.Record, error) {
	it, err := s.refusing(ctx, expect, next.Key, refused)
	if err != nil {
		return dedupe.Record{}, err
	}
	return s.conflictWith(ctx, next, it)
}

// conflictWith is a conflict with an item, empty for none.
func (s *Store) conflictWith(ctx context.Context, next dedupe.Record, it item) (dedupe.Record, error) {
	if len(it) == 0 {
		return dedupe.Record{}, dedupe.ErrConflict
	}
	rec, where, err := decode(next.Key, it)
	switch {
	case err != nil:
		return dedupe.Record{}, err
	case rec.Revision == next.Revision:
		rec.Result = next.Clone().Result // its own write: no need to fetch what was just written
	case where != nil:
		if err := s.fetch(ctx, &rec, *where); err != nil {
			return dedupe.Record{}, err
		}
	}
	return rec, dedupe.ErrConflict
}

// refusing is the item that refused a write. A server that brings none with the refusal is asked for it, consistently: an older state
// could say that nothing is there. One that is known to bring items has none where it brings none and a revision was expected.
func (s *Store) refusing(
	ctx context.Context, expect dedupe.Expect, key dedupe.Key, refused *types.ConditionalCheckFailedException,
) (item, error) {
	if len(refused.Item) > 0 {
		s.bringsItems.Store(true)
		return refused.Item, nil
	}
	if _, ok := expect.Revision(); ok && s.bringsItems.Load() {
		return nil, nil
	}
	return s.get(ctx, key.StoreID())
}

func (s *Store) load(ctx context.Context, key dedupe.Key) (dedupe.Record, error) {
	if err := storable(key); err != nil {
		return dedupe.Record{}, err
	}
	it, err := s.get(ctx, key.StoreID())
	if err != nil || len(it) == 0 {
		return dedupe.Record{}, err
	}
	rec, where, err := decode(key, it)
	if err == nil && where != nil {
		err = s.fetch(ctx, &rec, *where)
	}
	return rec, err
}

// fetch completes a record whose result is kept apart. One that is gone, or not the one that was written, is said to be unavailable:
// the operation is completed all the same.
func (s *Store) fetch(ctx context.Context, rec *dedupe.Record, where pointer) error {
	it, err := s.get(ctx, where.id)
	if err != nil {
		return fmt.Errorf("reading the result: %w", err)
	}
	d := &decoder{item: it}
	if res, _ := d.result(); d.err == nil && res != nil && bytes.Equal(digestOf(*res), where.digest) {
		rec.Result = res
		return nil
	}
	rec.Result.Headers, rec.Result.Body, rec.Result.Unavailable = nil, nil, true
	return nil
}
