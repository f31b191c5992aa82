package dynamo

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
)

// AttentionIndex is the name of the index that holds troubled records only.
const AttentionIndex = "attention"

// tableInput is the one definition of the table.
func tableInput(table string) *dynamodb.CreateTableInput {
	return &dynamodb.CreateTableInput{
		TableName: &table, BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{
			{AttributeName: aws.String(attrID), AttributeType: types.ScalarAttributeTypeS},
			{AttributeName: aws.String(attrShard), AttributeType: types.ScalarAttributeTypeS},
			{AttributeName: aws.String(attrAttentionAt), AttributeType: types.ScalarAttributeTypeN},
		},
		KeySchema: []types.KeySchemaElement{{AttributeName: aws.String(attrID), KeyType: types.KeyTypeHash}},
		GlobalSecondaryIndexes: []types.GlobalSecondaryIndex{{
			IndexName: aws.String(AttentionIndex), KeySchema: indexKeys(),
			Projection: &types.Projection{ProjectionType: types.ProjectionTypeKeysOnly},
		}},
	}
}

func indexKeys() []types.KeySchemaElement {
	return []types.KeySchemaElement{
		{AttributeName: aws.String(attrShard), KeyType: types.KeyTypeHash},
		{AttributeName: aws.String(attrAttentionAt), KeyType: types.KeyTypeRange},
	}
}

// A Report says what [Setup] found or did.
type Report struct {
	Created  bool
	Problems []string // of a table that existed; nothing of it was changed
	Warnings []string // what the server cannot do, for example TTL
}

// setupTime bounds the wait for a new table.
const setupTime = 2 * time.Minute

// Setup makes the table with its index and TTL, and waits until it can be used. A table that exists is compared, not changed.
func Setup(ctx context.Context, client *dynamodb.Client, table string) (Report, error) {
	_, err := client.CreateTable(ctx, tableInput(table))
	if _, exists := errors.AsType[*types.ResourceInUseException](err); exists {
		return inspect(ctx, client, table)
	}
	if err != nil {
		return Report{}, fmt.Errorf("dynamo: creating the table %s: %w", table, err)
	}
	rep := Report{Created: true}
	if err := dynamodb.NewTableExistsWaiter(client).Wait(ctx, &dynamodb.DescribeTableInput{TableName: &table}, setupTime); err != nil {
		return rep, fmt.Errorf("dynamo: waiting for the table %s: %w", table, err)
	}
	_, err = client.UpdateTimeToLive(ctx, &dynamodb.UpdateTimeToLiveInput{
		TableName:               &table,
		TimeToLiveSpecification: &types.TimeToLiveSpecification{AttributeName: aws.String(attrExpiresAt), Enabled: aws.Bool(true)},
	})
	switch {
	case incapable(err):
		rep.Warnings = append(rep.Warnings, "this server has no TTL: expired items stay")
	case err != nil:
		return rep, fmt.Errorf("dynamo: switching TTL on for the table %s: %w", table, err)
	}
	return rep, nil
}

// incapable: the server does not know the call at all, as some local ones do not.
func incapable(err error) bool {
	api, ok := errors.AsType[smithy.APIError](err)
	return ok && (api.ErrorCode() == "UnknownOperationException" || api.ErrorCode() == "UnknownOperation")
}
