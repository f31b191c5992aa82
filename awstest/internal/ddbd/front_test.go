package ddbd_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/claimonce/claimonce/awstest"
)

// newFront is a client of the whole stack: SDK, front server, DynamoDB.
func newFront(t *testing.T) *dynamodb.Client {
	t.Helper()
	c := dynamodb.New(dynamodb.Options{
		Region: "us-east-1", BaseEndpoint: aws.String("http://aws.invalid"), HTTPClient: awstest.New(awstest.Config{}).Client(),
		Credentials: credentials.NewStaticCredentialsProvider("AKIATEST", "test", ""),
	})
	_, err := c.CreateTable(t.Context(), &dynamodb.CreateTableInput{
		TableName: aws.String("ttt"), BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("pk"), AttributeType: types.ScalarAttributeTypeS}},
		KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("pk"), KeyType: types.KeyTypeHash}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// A lease that runs out is taken over in fake time: no part of the stack waits on a real
// clock.
func TestLeaseRunsOutInFakeTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newFront(t)
		claim := func(owner string) error {
			now := int(time.Now().Unix())
			_, err := c.PutItem(t.Context(), &dynamodb.PutItemInput{
				TableName: aws.String("ttt"), Item: values{"pk": str("k"), "owner": str(owner), "until": num(now + 60)},
				ConditionExpression:                 aws.String("attribute_not_exists(pk) OR #until < :now"),
				ExpressionAttributeNames:            map[string]string{"#until": "until"},
				ExpressionAttributeValues:           values{":now": num(now)},
				ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
			})
			return err
		}
		if err := claim("w1"); err != nil {
			t.Fatal(err)
		}
		held, ok := errors.AsType[*types.ConditionalCheckFailedException](claim("w2"))
		if !ok || text(held.Item["owner"]) != "w1" {
			t.Fatalf("claim of a held key: got %v, want the typed error with the holder", held)
		}
		time.Sleep(61 * time.Second)
		if err := claim("w2"); err != nil {
			t.Errorf("claim after the lease: %v", err)
		}
	})
}

// A repeat of a transaction by its token after minutes is answered and not applied again.
func TestTransactionTokenThroughSDK(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newFront(t)
		add := func(n int) error {
			_, err := c.TransactWriteItems(t.Context(), &dynamodb.TransactWriteItemsInput{
				ClientRequestToken: aws.String("token"),
				TransactItems: []types.TransactWriteItem{{Update: &types.Update{
					TableName: aws.String("ttt"), Key: values{"pk": str("c")},
					UpdateExpression: aws.String("ADD n :n"), ExpressionAttributeValues: values{":n": num(n)},
				}}},
			})
			return err
		}
		if err := add(1); err != nil {
			t.Fatal(err)
		}
		time.Sleep(9 * time.Minute)
		if _, ok := errors.AsType[*types.IdempotentParameterMismatchException](add(2)); !ok {
			t.Error("another request with the token must be refused")
		}
		if err := add(1); err != nil {
			t.Fatal(err)
		}
		got, err := c.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: aws.String("ttt"), Key: values{"pk": str("c")}})
		if n, _ := got.Item["n"].(*types.AttributeValueMemberN); err != nil || n == nil || n.Value != "1" {
			t.Errorf("got %v, %v, want 1", got, err)
		}
	})
}
