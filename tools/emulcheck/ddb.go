package main

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

type (
	value = types.AttributeValue
	item  = map[string]value
)

func str(v string) value    { return &types.AttributeValueMemberS{Value: v} }
func num(v int64) value     { return digits(strconv.FormatInt(v, 10)) }
func digits(v string) value { return &types.AttributeValueMemberN{Value: v} }
func bin(v []byte) value    { return &types.AttributeValueMemberB{Value: v} }
func list(v ...value) value { return &types.AttributeValueMemberL{Value: v} }

func text(i item, name string) string {
	if v, ok := i[name].(*types.AttributeValueMemberS); ok {
		return v.Value
	}
	return ""
}

func number(i item, name string) string {
	if v, ok := i[name].(*types.AttributeValueMemberN); ok {
		return v.Value
	}
	return ""
}

// tables asks DynamoDB, all cases about one table and in order.
type tables struct {
	client *dynamodb.Client
	table  string
	now    int64 // Unix seconds
}

func newTables(url string) *tables {
	return &tables{client: dynamodb.NewFromConfig(config(url)), table: fmt.Sprintf("dedup-%d", time.Now().UnixNano()), now: time.Now().Unix()}
}

func (w *tables) cases() []testCase {
	return slices.Concat(
		w.tableCases(), w.claimCases(), w.updateCases(), w.transactCases(), w.batchCases(), w.queryCases(),
		w.partiqlCases(), w.edgesCases(), w.typesCases(), w.refusalsCases(), w.raceCases(), w.endCases(),
	)
}

func (w *tables) name() *string { return &w.table }

func (w *tables) get(ctx context.Context, pk string) (item, error) {
	out, err := w.client.GetItem(ctx, &dynamodb.GetItemInput{TableName: w.name(), Key: item{"pk": str(pk)}, ConsistentRead: aws.Bool(true)})
	if err != nil {
		return nil, err
	}
	return out.Item, nil
}

func (w *tables) put(ctx context.Context, i item) error {
	_, err := w.client.PutItem(ctx, &dynamodb.PutItemInput{TableName: w.name(), Item: i})
	return err
}

// definition has a sparse index with a sort key.
func (w *tables) definition() *dynamodb.CreateTableInput {
	return &dynamodb.CreateTableInput{
		TableName: w.name(), BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{
			{AttributeName: aws.String("pk"), AttributeType: types.ScalarAttributeTypeS},
			{AttributeName: aws.String("gpk"), AttributeType: types.ScalarAttributeTypeS},
			{AttributeName: aws.String("gsk"), AttributeType: types.ScalarAttributeTypeN},
		},
		KeySchema: []types.KeySchemaElement{{AttributeName: aws.String("pk"), KeyType: types.KeyTypeHash}},
		GlobalSecondaryIndexes: []types.GlobalSecondaryIndex{{
			IndexName: aws.String("gsi1"),
			KeySchema: []types.KeySchemaElement{
				{AttributeName: aws.String("gpk"), KeyType: types.KeyTypeHash},
				{AttributeName: aws.String("gsk"), KeyType: types.KeyTypeRange},
			},
			Projection: &types.Projection{ProjectionType: types.ProjectionTypeAll},
		}},
	}
}

// claim may take what nobody has, what has expired and what was abandoned.
func (w *tables) claim(pk, owner string, now, locked, expires int64) *dynamodb.PutItemInput {
	return &dynamodb.PutItemInput{
		TableName: w.name(),
		Item: item{
			"pk": str(pk), "status": str("ip"), "owner": str(owner), "locked_until": num(locked),
			"expires_at": num(expires), "attempts": num(1),
		},
		ConditionExpression:                 aws.String("attribute_not_exists(pk) OR expires_at <= :now OR (#s = :ip AND locked_until <= :now)"),
		ExpressionAttributeNames:            map[string]string{"#s": "status"},
		ExpressionAttributeValues:           item{":now": num(now), ":ip": str("ip")},
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	}
}

// completion is an update that only the owner may do.
func (w *tables) completion(pk, owner string) *dynamodb.UpdateItemInput {
	return &dynamodb.UpdateItemInput{
		TableName: w.name(), Key: item{"pk": str(pk)},
		ConditionExpression:      aws.String("#o = :o AND #s = :ip"),
		UpdateExpression:         aws.String("SET #s = :done, hist = list_append(if_not_exists(hist, :empty), :h), fin = :t REMOVE locked_until ADD attempts :one"),
		ExpressionAttributeNames: map[string]string{"#s": "status", "#o": "owner"},
		ExpressionAttributeValues: item{
			":o": str(owner), ":ip": str("ip"), ":done": str("done"), ":empty": list(), ":h": list(str("e1")), ":t": num(w.now), ":one": num(1),
		},
		ReturnValues:                        types.ReturnValueAllNew,
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	}
}

// counted adds to a counter in a transaction with a token.
func (w *tables) counted(token string, n int64) *dynamodb.TransactWriteItemsInput {
	return &dynamodb.TransactWriteItemsInput{ClientRequestToken: &token, TransactItems: []types.TransactWriteItem{{Update: &types.Update{
		TableName: w.name(), Key: item{"pk": str("t3")}, UpdateExpression: aws.String("ADD n :one"), ExpressionAttributeValues: item{":one": num(n)},
	}}}}
}
