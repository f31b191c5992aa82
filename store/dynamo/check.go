package dynamo

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"

	"github.com/claimonce/claimonce/dedupe"
)

// Check compares the table with what the store needs and names everything that is wrong with it, in one error. Two calls, which take
// the permissions dynamodb:DescribeTable and dynamodb:DescribeTimeToLive.
func (s *Store) Check(ctx context.Context) error {
	rep, err := s.inspect(ctx)
	if forbidden(err) {
		err = s.readable(ctx)
	}
	if err != nil {
		return s.failed("check", err)
	}
	if len(rep.Problems) > 0 {
		return s.unfit(rep.Problems)
	}
	return nil
}

func (s *Store) unfit(problems []string) error {
	return s.failed("check", fmt.Errorf("%w: it cannot be used as it is:\n\t%s", dedupe.ErrSetup, strings.Join(problems, "\n\t")))
}

// forbidden: the credentials are good, but lack the permission.
func forbidden(err error) bool {
	coded, ok := errors.AsType[smithy.APIError](err)
	return ok && coded.ErrorCode() == "AccessDeniedException"
}

// readable is for a role that may not describe the table: a worker needs to read and write items only, and whoever set the table up
// has checked it. One that may not even read is told at once, not when the first message comes.
func (s *Store) readable(ctx context.Context) error {
	_, err := s.get(ctx, "~check") // no record has this id: those begin with a digit
	if forbidden(err) {
		return fmt.Errorf("%w: %w", dedupe.ErrSetup, err)
	}
	return err
}

// inspect finds all problems; its error says that the table cannot be asked about at all.
func (s *Store) inspect(ctx context.Context) (Report, error) {
	var rep Report
	t, err := s.describe(ctx)
	if err != nil {
		return rep, err
	}
	rep.Problems = checkTable(t)
	ttl, err := s.describeTTL(ctx)
	switch {
	case incapable(err):
		rep.Warnings = append(rep.Warnings, warnNoTTL)
	case err != nil:
		return rep, err
	default:
		rep.Problems = append(rep.Problems, checkTTL(ttl)...)
	}
	return rep, nil
}

const (
	warnNoTTL     = "this server has no TTL: expired items stay"
	problemTTLOff = "its TTL is off, so that expired records stay for ever: Setup switches it on for the attribute " + attrExpiresAt
)

func (s *Store) describe(ctx context.Context) (t *types.TableDescription, err error) {
	err = s.call(ctx, func(ctx context.Context) error {
		out, err := s.client.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: &s.table})
		if err == nil {
			t = out.Table
		}
		return err
	})
	return t, err
}

func (s *Store) describeTTL(ctx context.Context) (d *types.TimeToLiveDescription, err error) {
	err = s.call(ctx, func(ctx context.Context) error {
		out, err := s.client.DescribeTimeToLive(ctx, &dynamodb.DescribeTimeToLiveInput{TableName: &s.table})
		if err == nil {
			d = out.TimeToLiveDescription
		}
		return err
	})
	return d, err
}

// incapable: the server does not know the call at all, as some local ones do not.
func incapable(err error) bool {
	api, ok := errors.AsType[smithy.APIError](err)
	return ok && (api.ErrorCode() == "UnknownOperationException" || api.ErrorCode() == "UnknownOperation")
}

func checkTable(t *types.TableDescription) []string {
	var problems []string
	if s := t.TableStatus; s != "" && s != types.TableStatusActive && s != types.TableStatusUpdating {
		problems = append(problems, fmt.Sprintf("its status is %s: wait until it is ACTIVE", s))
	}
	want := tableInput("")
	if got, want := keysOf(t.KeySchema, t.AttributeDefinitions), keysOf(want.KeySchema, want.AttributeDefinitions); got != want {
		problems = append(problems, fmt.Sprintf("its key is %s, not %s, which cannot be changed: use another table", got, want))
	}
	return append(problems, checkIndex(t, want)...)
}

func checkIndex(t *types.TableDescription, want *dynamodb.CreateTableInput) []string {
	keys := keysOf(want.GlobalSecondaryIndexes[0].KeySchema, want.AttributeDefinitions)
	x, ok := attentionIndex(t)
	if !ok {
		return []string{fmt.Sprintf("it has no index %s, which lists what needs a person: Setup adds it (keys %s, projection KEYS_ONLY)", AttentionIndex, keys)}
	}
	var problems []string
	if got := keysOf(x.KeySchema, t.AttributeDefinitions); got != keys {
		problems = append(problems, fmt.Sprintf("the keys of its index %s are %s, not %s: delete the index, then Setup adds it", AttentionIndex, got, keys))
	}
	if x.Projection == nil || x.Projection.ProjectionType != types.ProjectionTypeKeysOnly {
		got := types.ProjectionType("unknown")
		if x.Projection != nil {
			got = x.Projection.ProjectionType
		}
		problems = append(problems, fmt.Sprintf("the projection of its index %s is %s, not KEYS_ONLY, so that every write of a listed record pays for it: "+
			"delete the index, then Setup adds it", AttentionIndex, got))
	}
	return problems
}

func attentionIndex(t *types.TableDescription) (types.GlobalSecondaryIndexDescription, bool) {
	i := slices.IndexFunc(t.GlobalSecondaryIndexes, func(x types.GlobalSecondaryIndexDescription) bool {
		return aws.ToString(x.IndexName) == AttentionIndex
	})
	if i < 0 {
		return types.GlobalSecondaryIndexDescription{}, false
	}
	return t.GlobalSecondaryIndexes[i], true
}

// keysOf writes a key schema down, for example "id (S, HASH)".
func keysOf(schema []types.KeySchemaElement, defs []types.AttributeDefinition) string {
	parts := make([]string, 0, len(schema))
	for _, k := range schema {
		kind := types.ScalarAttributeType("?")
		for _, d := range defs {
			if aws.ToString(d.AttributeName) == aws.ToString(k.AttributeName) {
				kind = d.AttributeType
			}
		}
		parts = append(parts, fmt.Sprintf("%s (%s, %s)", aws.ToString(k.AttributeName), kind, k.KeyType))
	}
	return strings.Join(parts, " and ")
}

func checkTTL(d *types.TimeToLiveDescription) []string {
	switch {
	case ttlIs(d, types.TimeToLiveStatusDisabled, types.TimeToLiveStatusDisabling):
		return []string{problemTTLOff}
	case aws.ToString(d.AttributeName) != attrExpiresAt:
		return []string{fmt.Sprintf("its TTL is on the attribute %s, not %s: what that says would be deleted, and expired records not",
			aws.ToString(d.AttributeName), attrExpiresAt)}
	}
	return nil
}

func ttlIs(d *types.TimeToLiveDescription, statuses ...types.TimeToLiveStatus) bool {
	return d == nil || d.TimeToLiveStatus == "" || slices.Contains(statuses, d.TimeToLiveStatus)
}
