package awstest_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/claimonce/claimonce/awstest"
)

func clientsOf(server *awstest.Server) (*sqs.Client, *dynamodb.Client) {
	cfg := aws.Config{
		Region: "us-east-1", Credentials: credentials.NewStaticCredentialsProvider("test", "test", ""),
		HTTPClient: server.Client(), BaseEndpoint: aws.String("http://aws.invalid"),
	}
	return sqs.NewFromConfig(cfg), dynamodb.NewFromConfig(cfg)
}

func makeTable(ctx context.Context, client *dynamodb.Client, name string) error {
	_, err := client.CreateTable(ctx, &dynamodb.CreateTableInput{
		TableName: &name, BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("id"), AttributeType: types.ScalarAttributeTypeS}},
		KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("id"), KeyType: types.KeyTypeHash}},
	})
	return err
}

// A claim is written and its answer lost. The SDK repeats the call and loses against its own first try: whoever takes that for
// another worker never runs the operation. The item that comes with the refusal tells.
func ExampleDropAnswer() {
	ctx, server := context.Background(), awstest.New(awstest.Config{})
	_, client := clientsOf(server)
	if err := makeTable(ctx, client, "claims"); err != nil {
		fmt.Println(err)
		return
	}
	server.Inject(awstest.DropAnswer("PutItem").Once())
	_, err := client.PutItem(ctx, &dynamodb.PutItemInput{
		TableName:                           aws.String("claims"),
		Item:                                map[string]types.AttributeValue{"id": &types.AttributeValueMemberS{Value: "refund 42"}, "owner": &types.AttributeValueMemberS{Value: "me"}},
		ConditionExpression:                 aws.String("attribute_not_exists(id)"),
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	})
	if lost, ok := errors.AsType[*types.ConditionalCheckFailedException](err); ok {
		fmt.Println("lost against", lost.Item["owner"].(*types.AttributeValueMemberS).Value)
	}
	fmt.Println(server.Count("PutItem"), "calls")
	// Output:
	// lost against me
	// 2 calls
}

// A hook looks at the moment between two calls: here at what is in flight while a delete is under way.
func ExampleFault() {
	ctx, server := context.Background(), awstest.New(awstest.Config{})
	client, _ := clientsOf(server)
	queue, err := client.CreateQueue(ctx, &sqs.CreateQueueInput{QueueName: aws.String("orders")})
	if err != nil {
		fmt.Println(err)
		return
	}
	if _, err := client.SendMessage(ctx, &sqs.SendMessageInput{QueueUrl: queue.QueueUrl, MessageBody: aws.String("refund 1")}); err != nil {
		fmt.Println(err)
		return
	}
	remove := server.Inject(awstest.Fault{Operation: "DeleteMessage", Before: func(context.Context, awstest.Call) {
		fmt.Println(server.Queue("orders").InFlight, "in flight before the delete")
	}})
	defer remove()
	work(ctx, client, *queue.QueueUrl, func(body string) { fmt.Println("handled", body) })
	fmt.Println(server.Queue("orders").InFlight, "after it")
	// Output:
	// handled refund 1
	// 1 in flight before the delete
	// 0 after it
}

// Other processes reach the server over a socket of the loopback interface, with any SDK. What they store is seen here.
func ExampleServer_Listen() {
	server := awstest.New(awstest.Config{})
	listener, err := server.Listen("127.0.0.1:0")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = listener.Close() }()
	client := dynamodb.NewFromConfig(aws.Config{
		Region: "us-east-1", Credentials: credentials.NewStaticCredentialsProvider("test", "test", ""),
		BaseEndpoint: aws.String(listener.URL()), // what another process is given as AWS_ENDPOINT_URL
	})
	if err := makeTable(context.Background(), client, "claims"); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(server.Table("claims").Exists)
	// Output: true
}

// Items are in Go's own types, and looking at them is no call.
func ExampleServer_Table() {
	ctx, server := context.Background(), awstest.New(awstest.Config{})
	_, client := clientsOf(server)
	if err := makeTable(ctx, client, "claims"); err != nil {
		fmt.Println(err)
		return
	}
	_, err := client.ExecuteStatement(ctx, &dynamodb.ExecuteStatementInput{
		Statement: aws.String(`INSERT INTO claims VALUE {'id': 'refund 42', 'attempt': 1, 'steps': ['charged']}`),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, record := range server.Table("claims").Items {
		fmt.Println(record["id"], record["attempt"], record["steps"])
	}
	// Output: refund 42 1 [charged]
}
