package awstest_test

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	ddbtypes "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/claimonce/claimonce/awstest"
)

// rig is a server and the SDK's clients of it. What a test asks for in vain ends the test.
type rig struct {
	*testing.T

	server *awstest.Server
	cfg    aws.Config
	sqs    *sqs.Client
	dynamo *dynamodb.Client
}

func newRig(t *testing.T) *rig {
	t.Helper()
	server := awstest.New(awstest.Config{})
	return rigOf(t, server, configOf(server))
}

func configOf(server *awstest.Server) aws.Config {
	return aws.Config{
		Region: "us-east-1", Credentials: credentials.NewStaticCredentialsProvider("test", "test", ""),
		HTTPClient: server.Client(), BaseEndpoint: aws.String("http://aws.invalid"),
	}
}

func rigOf(t *testing.T, server *awstest.Server, cfg aws.Config) *rig {
	t.Helper()
	return &rig{t, server, cfg, sqs.NewFromConfig(cfg), dynamodb.NewFromConfig(cfg)}
}

// bubble runs a test on fake time.
func bubble(t *testing.T, f func(r *rig)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) { f(newRig(t)) })
}

// pairs makes a map of names and values in turn.
func pairs(list ...string) map[string]string {
	m := map[string]string{}
	for i := 0; i < len(list); i += 2 {
		m[list[i]] = list[i+1]
	}
	return m
}

func (r *rig) queue(name string, attributes ...string) (url string) {
	r.Helper()
	out, err := r.sqs.CreateQueue(r.Context(), &sqs.CreateQueueInput{QueueName: &name, Attributes: pairs(attributes...)})
	if err != nil {
		r.Fatalf("CreateQueue %s %v: %v", name, attributes, err)
	}
	return *out.QueueUrl
}

// attributes gives those that are named; all without names.
func (r *rig) attributes(url string, names ...types.QueueAttributeName) map[string]string {
	r.Helper()
	if len(names) == 0 {
		names = []types.QueueAttributeName{types.QueueAttributeNameAll}
	}
	out, err := r.sqs.GetQueueAttributes(r.Context(), &sqs.GetQueueAttributesInput{QueueUrl: &url, AttributeNames: names})
	if err != nil {
		r.Fatalf("GetQueueAttributes %v: %v", names, err)
	}
	return out.Attributes
}

func (r *rig) setAttributes(url string, attributes ...string) error {
	_, err := r.sqs.SetQueueAttributes(r.Context(), &sqs.SetQueueAttributesInput{QueueUrl: &url, Attributes: pairs(attributes...)})
	return err
}

func (r *rig) arn(url string) string {
	r.Helper()
	return r.attributes(url, types.QueueAttributeNameQueueArn)["QueueArn"]
}

// counts are visible/in flight/delayed.
func (r *rig) counts(url string) string {
	r.Helper()
	a := r.attributes(url)
	const prefix = "ApproximateNumberOfMessages"
	return a[prefix] + "/" + a[prefix+"NotVisible"] + "/" + a[prefix+"Delayed"]
}

func (r *rig) wantCounts(url, want string) {
	r.Helper()
	if got := r.counts(url); got != want {
		r.Errorf("got %s messages visible/in flight/delayed, want %s", got, want)
	}
}

func (r *rig) trySend(url, body string, change ...func(*sqs.SendMessageInput)) (*sqs.SendMessageOutput, error) {
	in := &sqs.SendMessageInput{QueueUrl: &url, MessageBody: &body}
	for _, f := range change {
		f(in)
	}
	return r.sqs.SendMessage(r.Context(), in)
}

func (r *rig) send(url, body string, change ...func(*sqs.SendMessageInput)) *sqs.SendMessageOutput {
	r.Helper()
	out, err := r.trySend(url, body, change...)
	if err != nil {
		r.Fatalf("SendMessage %q: %v", body, err)
	}
	return out
}

type receiving = func(*sqs.ReceiveMessageInput)

func atMost(n int32) receiving {
	return func(in *sqs.ReceiveMessageInput) { in.MaxNumberOfMessages = n }
}

func longPoll(seconds int32) receiving {
	return func(in *sqs.ReceiveMessageInput) { in.WaitTimeSeconds = seconds }
}

func hiddenFor(seconds int32) receiving {
	return func(in *sqs.ReceiveMessageInput) { in.VisibilityTimeout = seconds }
}

// tryReceive asks for ten messages with all attributes, and for what change says.
func (r *rig) tryReceive(ctx context.Context, url string, change ...receiving) ([]types.Message, error) {
	in := &sqs.ReceiveMessageInput{
		QueueUrl: &url, MaxNumberOfMessages: 10, MessageAttributeNames: []string{"All"},
		MessageSystemAttributeNames: []types.MessageSystemAttributeName{types.MessageSystemAttributeNameAll},
	}
	for _, f := range change {
		f(in)
	}
	out, err := r.sqs.ReceiveMessage(ctx, in)
	if err != nil {
		return nil, err
	}
	return out.Messages, nil
}

func (r *rig) receive(url string, change ...receiving) []types.Message {
	r.Helper()
	got, err := r.tryReceive(r.Context(), url, change...)
	if err != nil {
		r.Fatalf("ReceiveMessage: %v", err)
	}
	return got
}

// one receives exactly one message.
func (r *rig) one(url string, change ...receiving) types.Message {
	r.Helper()
	got := r.receive(url, change...)
	if len(got) != 1 {
		r.Fatalf("got messages %q, want one", bodies(got))
	}
	return got[0]
}

func (r *rig) wantBodies(got []types.Message, want ...string) {
	r.Helper()
	if fmt.Sprint(bodies(got)) != fmt.Sprint(want) {
		r.Errorf("got messages %q, want %q", bodies(got), want)
	}
}

func bodies(list []types.Message) []string {
	var out []string
	for _, m := range list {
		out = append(out, *m.Body)
	}
	return out
}

func receives(m types.Message) int {
	n, _ := strconv.Atoi(m.Attributes["ApproximateReceiveCount"])
	return n
}

func (r *rig) delete(url string, handle *string) error {
	_, err := r.sqs.DeleteMessage(r.Context(), &sqs.DeleteMessageInput{QueueUrl: &url, ReceiptHandle: handle})
	return err
}

func (r *rig) hide(url string, handle *string, seconds int32) error {
	_, err := r.sqs.ChangeMessageVisibility(r.Context(), &sqs.ChangeMessageVisibilityInput{
		QueueUrl: &url, ReceiptHandle: handle, VisibilityTimeout: seconds,
	})
	return err
}

func (r *rig) must(err error) {
	r.Helper()
	if err != nil {
		r.Fatal(err)
	}
}

// table makes a table with the partition key pk, a string.
func (r *rig) table(name string) {
	r.Helper()
	_, err := r.dynamo.CreateTable(r.Context(), &dynamodb.CreateTableInput{
		TableName: &name, BillingMode: ddbtypes.BillingModePayPerRequest,
		AttributeDefinitions: []ddbtypes.AttributeDefinition{{AttributeName: aws.String("pk"), AttributeType: ddbtypes.ScalarAttributeTypeS}},
		KeySchema:            []ddbtypes.KeySchemaElement{{AttributeName: aws.String("pk"), KeyType: ddbtypes.KeyTypeHash}},
	})
	r.must(err)
}

func item(pk string) map[string]ddbtypes.AttributeValue {
	return map[string]ddbtypes.AttributeValue{"pk": &ddbtypes.AttributeValueMemberS{Value: pk}}
}

func (r *rig) put(ctx context.Context, table, pk string) error {
	_, err := r.dynamo.PutItem(ctx, &dynamodb.PutItemInput{TableName: &table, Item: item(pk)})
	return err
}

func (r *rig) has(table, pk string, consistent bool) bool {
	r.Helper()
	out, err := r.dynamo.GetItem(r.Context(), &dynamodb.GetItemInput{TableName: &table, Key: item(pk), ConsistentRead: &consistent})
	r.must(err)
	return out.Item != nil
}

// queueName is the last part of a queue's URL.
func queueName(url string) string { return url[strings.LastIndexByte(url, '/')+1:] }
