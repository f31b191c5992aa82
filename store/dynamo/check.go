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
)

// Check compares the table with what the store needs and names everything that is wrong with it, in one error. Two calls.
func (s *Store) Check(ctx context.Context) error {
	rep, err := inspect(ctx, s.client, s.table)
	if err != nil {
		return err
	}
	if len(rep.Problems) > 0 {
		return fmt.Errorf("dynamo: the table %s cannot be used as it is:\n\t%s", s.table, strings.Join(rep.Problems, "\n\t"))
	}
	return nil
}

// inspect describes a table; its error says that it cannot be asked at all.
func inspect(ctx context.Context, client *dynamodb.Client, table string) (Report, error) {
	region := client.Options().Region
	out, err := client.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: &table})
	if _, missing := errors.AsType[*types.ResourceNotFoundException](err); missing {
		return Report{}, fmt.Errorf("dynamo: there is no table %s in region %s: check the name and the region, or make it with "+
			"go run github.com/claimonce/claimonce/localstack/setup -table %s: %w", table, region, table, err)
	}
	if err != nil {
		return Report{}, fmt.Errorf("dynamo: the table %s in region %s cannot be asked about (it takes the permission dynamodb:DescribeTable): %w", table, region, err)
	}
	var rep Report
	bad := func(format string, args ...any) { rep.Problems = append(rep.Problems, fmt.Sprintf(format, args...)) }
	t := out.Table
	if t.TableStatus != "" && t.TableStatus != types.TableStatusActive && t.TableStatus != types.TableStatusUpdating {
		bad("its status is %s; wait until it is ACTIVE", t.TableStatus)
	}
	if got := keysOf(t.KeySchema, t.AttributeDefinitions); got != attrID+" S HASH" {
		bad("its key is %q, not the string %s alone; make a new table", got, attrID)
	}
	checkIndex(t, bad)
	if err := checkTTL(ctx, client, table, &rep, bad); err != nil {
		return rep, err
	}
	return rep, nil
}

func checkIndex(t *types.TableDescription, bad func(string, ...any)) {
	i := slices.IndexFunc(t.GlobalSecondaryIndexes, func(x types.GlobalSecondaryIndexDescription) bool {
		return aws.ToString(x.IndexName) == AttentionIndex
	})
	if i < 0 {
		bad("it has no index %s, which lists what needs a person: add it with keys %s (S) and %s (N), projection KEYS_ONLY", AttentionIndex, attrShard, attrAttentionAt)
		return
	}
	x := t.GlobalSecondaryIndexes[i]
	want := attrShard + " S HASH, " + attrAttentionAt + " N RANGE"
	if got := keysOf(x.KeySchema, t.AttributeDefinitions); got != want {
		bad("the keys of its index %s are %q, not %q", AttentionIndex, got, want)
	}
	if x.Projection != nil && x.Projection.ProjectionType != types.ProjectionTypeKeysOnly {
		bad("its index %s projects %s, not KEYS_ONLY: it would cost a unit for every write of a troubled record", AttentionIndex, x.Projection.ProjectionType)
	}
}

// keysOf writes a key schema down as "name type kind, …".
func keysOf(schema []types.KeySchemaElement, defs []types.AttributeDefinition) string {
	var parts []string
	for _, k := range schema {
		kind := types.ScalarAttributeType("?")
		for _, d := range defs {
			if aws.ToString(d.AttributeName) == aws.ToString(k.AttributeName) {
				kind = d.AttributeType
			}
		}
		parts = append(parts, fmt.Sprintf("%s %s %s", aws.ToString(k.AttributeName), kind, k.KeyType))
	}
	return strings.Join(parts, ", ")
}

func checkTTL(ctx context.Context, client *dynamodb.Client, table string, rep *Report, bad func(string, ...any)) error {
	out, err := client.DescribeTimeToLive(ctx, &dynamodb.DescribeTimeToLiveInput{TableName: &table})
	switch {
	case incapable(err):
		rep.Warnings = append(rep.Warnings, "this server has no TTL: expired items stay")
		return nil
	case err != nil:
		return fmt.Errorf("dynamo: the TTL of the table %s cannot be asked about (it takes the permission dynamodb:DescribeTimeToLive): %w", table, err)
	}
	d := out.TimeToLiveDescription
	on := d != nil && (d.TimeToLiveStatus == types.TimeToLiveStatusEnabled || d.TimeToLiveStatus == types.TimeToLiveStatusEnabling)
	switch {
	case !on:
		bad("its TTL is off: switch it on for the attribute %s, else expired records stay for ever", attrExpiresAt)
	case aws.ToString(d.AttributeName) != attrExpiresAt:
		bad("its TTL is on the attribute %s, not %s: it would delete what must stay", aws.ToString(d.AttributeName), attrExpiresAt)
	}
	return nil
}
