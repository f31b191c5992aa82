package dynamo

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// A Report says what [Setup] found and did.
type Report struct {
	Created  bool     // the table was not there
	Added    []string // what was missing from a table that existed
	Problems []string // what is otherwise than it should be; nothing of it was changed
	Warnings []string // what the server cannot do, for example TTL
}

// Setup makes the table (billed on demand) with its index and TTL, and waits until it can be used. It may be run again at any time: of a
// table that exists, what is missing is added, so that an interrupted run is finished by the next one, and what differs is reported
// in Problems and left alone. ctx bounds the wait, which takes some seconds on AWS and longer where an index is added to a
// large table.
func Setup(ctx context.Context, client *dynamodb.Client, table string) (Report, error) {
	s, err := New(client, table, Config{})
	if err != nil {
		return Report{}, err
	}
	rep, err := s.setup(ctx)
	if err != nil {
		return rep, s.failed("set up", err)
	}
	return rep, nil
}

func (s *Store) setup(ctx context.Context) (Report, error) {
	var rep Report
	_, err := s.client.CreateTable(ctx, tableInput(s.table))
	if _, exists := errors.AsType[*types.ResourceInUseException](err); err != nil && !exists {
		return rep, fmt.Errorf("creating it: %w", err)
	}
	rep.Created = err == nil
	if err := s.active(ctx); err != nil {
		return rep, err
	}
	t, err := s.describe(ctx)
	if err != nil {
		return rep, err
	}
	if ours := tableInput(""); keysOf(t.KeySchema, t.AttributeDefinitions) != keysOf(ours.KeySchema, ours.AttributeDefinitions) {
		rep.Problems = checkTable(t)
		return rep, nil // somebody else's table: nothing is added to it
	}
	if err := s.addIndex(ctx, t, &rep); err != nil {
		return rep, err
	}
	able, err := s.addTTL(ctx, &rep)
	if err != nil {
		return rep, err
	}
	left, err := s.inspect(ctx)
	rep.Problems, rep.Warnings = left.Problems, left.Warnings
	if !able { // what it cannot do is no problem of this table
		rep.Problems = slices.DeleteFunc(rep.Problems, func(p string) bool { return p == problemTTLOff })
		rep.Warnings = []string{warnNoTTL}
	}
	return rep, err
}

func (s *Store) addIndex(ctx context.Context, t *types.TableDescription, rep *Report) error {
	if _, ok := attentionIndex(t); ok {
		return nil
	}
	if _, err := s.client.UpdateTable(ctx, addIndexInput(s.table)); err != nil {
		return fmt.Errorf("adding the index %s: %w", AttentionIndex, err)
	}
	rep.Added = append(rep.Added, "index "+AttentionIndex)
	return s.active(ctx)
}

// addTTL switches TTL on where it is off; able is false where the server has none. Some know only the question, not the switch.
func (s *Store) addTTL(ctx context.Context, rep *Report) (able bool, err error) {
	d, err := s.describeTTL(ctx)
	if incapable(err) {
		return false, nil
	}
	if err != nil || !ttlIs(d, types.TimeToLiveStatusDisabled) {
		return true, err
	}
	err = s.call(ctx, func(ctx context.Context) error {
		_, err := s.client.UpdateTimeToLive(ctx, &dynamodb.UpdateTimeToLiveInput{
			TableName:               &s.table,
			TimeToLiveSpecification: &types.TimeToLiveSpecification{AttributeName: aws.String(attrExpiresAt), Enabled: aws.Bool(true)},
		})
		return err
	})
	switch {
	case incapable(err):
		return false, nil
	case err != nil:
		return true, fmt.Errorf("switching TTL on: %w", err)
	case !rep.Created:
		rep.Added = append(rep.Added, "TTL on "+attrExpiresAt)
	}
	return true, nil
}

// active waits for the table and its indexes. A table just created may not be found for a moment: DescribeTable is eventually
// consistent (see its API reference).
func (s *Store) active(ctx context.Context) error {
	for wait := 100 * time.Millisecond; ; wait = min(2*wait, 5*time.Second) {
		t, err := s.describe(ctx)
		if _, missing := errors.AsType[*types.ResourceNotFoundException](err); err != nil && !missing {
			return err
		}
		if err == nil && ready(t) {
			return nil
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return fmt.Errorf("it did not become ACTIVE in time: %w", ctx.Err())
		}
	}
}

func ready(t *types.TableDescription) bool {
	for _, x := range t.GlobalSecondaryIndexes {
		if x.IndexStatus != "" && x.IndexStatus != types.IndexStatusActive {
			return false
		}
	}
	return t.TableStatus == types.TableStatusActive
}
