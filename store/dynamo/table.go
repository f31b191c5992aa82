package dynamo

import (
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// AttentionIndex is the name of the index that holds troubled records only. Its partition key is one of sixteen shards, its sort key
// the time from which a record waits for a person.
const AttentionIndex = "attention"

// tableInput is the one definition of the table: Setup makes it, Check compares with it.
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
			IndexName: aws.String(AttentionIndex),
			KeySchema: []types.KeySchemaElement{
				{AttributeName: aws.String(attrShard), KeyType: types.KeyTypeHash},
				{AttributeName: aws.String(attrAttentionAt), KeyType: types.KeyTypeRange},
			},
			Projection: &types.Projection{ProjectionType: types.ProjectionTypeKeysOnly},
		}},
	}
}

// addIndexInput adds the attention index to a table that lacks it.
func addIndexInput(table string) *dynamodb.UpdateTableInput {
	want := tableInput(table)
	x := want.GlobalSecondaryIndexes[0]
	return &dynamodb.UpdateTableInput{
		TableName: &table, AttributeDefinitions: want.AttributeDefinitions,
		GlobalSecondaryIndexUpdates: []types.GlobalSecondaryIndexUpdate{{
			Create: &types.CreateGlobalSecondaryIndexAction{IndexName: x.IndexName, KeySchema: x.KeySchema, Projection: x.Projection},
		}},
	}
}
