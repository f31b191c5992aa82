package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	awssqs "github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	memsource "github.com/claimonce/claimonce/adapters/memory"
	"github.com/claimonce/claimonce/adapters/sqs"
	"github.com/claimonce/claimonce/awstest"
	"github.com/claimonce/claimonce/consumer"
	"github.com/claimonce/claimonce/dedupe"
	"github.com/claimonce/claimonce/store/dynamo"
	memstore "github.com/claimonce/claimonce/store/memory"
)

// parts are what a run is wired of.
type parts struct {
	source consumer.Source
	store  dedupe.Store
	send   func(context.Context, []request) (ids []string, err error)
	where  string // for people
}

func newLabel() string { return strings.ToLower(rand.Text()[:8]) }

// wire picks the parts: in this process, unless a flag or the SDK's environment names a server.
func wire(ctx context.Context, o options) (parts, error) {
	if o.ledger != "" && (o.store == "memory" || o.table == "" && !endpointSet("DYNAMODB")) {
		return parts{}, errors.New("-ledger keeps the provider's refunds over runs, but the records are in this process and end with it: " +
			"a second run would pay again; use -table or AWS_ENDPOINT_URL with it")
	}
	local := &embedded{}
	p := parts{}
	var where [2]string
	var err error
	switch o.source {
	case "memory":
		p.source, p.send = memoryQueue()
		where[0] = "messages in memory"
	case "sqs":
		p.source, p.send, where[0], err = sqsQueue(ctx, o, local)
	default:
		err = fmt.Errorf("-source %q is not known; use sqs or memory", o.source)
	}
	if err != nil {
		return p, err
	}
	switch o.store {
	case "memory":
		p.store, where[1] = memstore.New(), "records in memory"
	case "dynamo":
		p.store, where[1], err = dynamoTable(ctx, o, local)
	default:
		err = fmt.Errorf("-store %q is not known; use dynamo or memory", o.store)
	}
	p.where = where[0] + ", " + where[1]
	return p, err
}

// embedded is SQS and DynamoDB in this process, made when first needed.
type embedded struct{ server *awstest.Server }

func (e *embedded) config() aws.Config {
	if e.server == nil {
		e.server = awstest.New(awstest.Config{})
	}
	return aws.Config{
		Region: "us-east-1", Credentials: credentials.NewStaticCredentialsProvider("embedded", "embedded", ""),
		HTTPClient: e.server.Client(), BaseEndpoint: aws.String("http://embedded.invalid"),
	}
}

// endpointSet: the environment names a server for a service, so the example may use its default names there. Without one it
// never touches an AWS account unless a flag names what to use.
func endpointSet(service string) bool {
	return os.Getenv("AWS_ENDPOINT_URL") != "" || os.Getenv("AWS_ENDPOINT_URL_"+service) != ""
}

func sqsQueue(ctx context.Context, o options, local *embedded) (consumer.Source, sender, string, error) {
	if o.queueURL == "" && !endpointSet("SQS") {
		client := awssqs.NewFromConfig(local.config())
		url, err := makeQueue(ctx, client)
		if err != nil {
			return nil, nil, "", err
		}
		src, err := sqs.New(client, url, sqs.Config{})
		return src, sendSQS(client, url), "an SQS queue in this process", err
	}
	cfg, err := config.LoadDefaultConfig(ctx)
	if err != nil {
		return nil, nil, "", err
	}
	client := awssqs.NewFromConfig(cfg)
	url := o.queueURL
	if url == "" {
		out, err := client.GetQueueUrl(ctx, &awssqs.GetQueueUrlInput{QueueName: aws.String(defaultQueue)})
		if err != nil {
			return nil, nil, "", fmt.Errorf("the queue %s: %w; make it with go run ./localstack/setup", defaultQueue, err)
		}
		url = aws.ToString(out.QueueUrl)
	}
	// A worker of its own would say sqs.Open(ctx, url). This one ends as soon as its input is done, and some local servers hand
	// the next run's messages to the poll that it leaves behind: a short poll leaves none.
	src, err := sqs.New(client, url, sqs.Config{WaitTime: time.Second})
	return src, sendSQS(client, url), "the SQS queue " + url, err
}

func dynamoTable(ctx context.Context, o options, local *embedded) (dedupe.Store, string, error) {
	if o.table == "" && !endpointSet("DYNAMODB") {
		client := dynamodb.NewFromConfig(local.config())
		if _, err := dynamo.Setup(ctx, client, defaultTable); err != nil {
			return nil, "", err
		}
		s, err := dynamo.New(client, defaultTable, dynamo.Config{})
		return s, "a DynamoDB table in this process", err
	}
	table := o.table
	if table == "" {
		table = defaultTable
	}
	s, err := dynamo.Open(ctx, table)
	return s, "the DynamoDB table " + table, err
}

// Names that localstack/setup gives by default.
const (
	defaultQueue = "claimonce-refunds"
	defaultTable = "claimonce"
)

// makeQueue makes a queue with dead letters, as localstack/setup does on a server.
func makeQueue(ctx context.Context, client *awssqs.Client) (url string, err error) {
	dead, err := client.CreateQueue(ctx, &awssqs.CreateQueueInput{QueueName: aws.String(defaultQueue + "-dlq")})
	if err != nil {
		return "", err
	}
	attrs, err := client.GetQueueAttributes(ctx, &awssqs.GetQueueAttributesInput{
		QueueUrl: dead.QueueUrl, AttributeNames: []types.QueueAttributeName{types.QueueAttributeNameQueueArn},
	})
	if err != nil {
		return "", err
	}
	out, err := client.CreateQueue(ctx, &awssqs.CreateQueueInput{QueueName: aws.String(defaultQueue), Attributes: map[string]string{
		"VisibilityTimeout": "60",
		"RedrivePolicy":     fmt.Sprintf(`{"deadLetterTargetArn":%q,"maxReceiveCount":"100"}`, attrs.Attributes["QueueArn"]),
	}})
	if err != nil {
		return "", err
	}
	return aws.ToString(out.QueueUrl), nil
}

type sender = func(context.Context, []request) ([]string, error)

// sendSQS sends as a producer would: key and tenant as attributes, and when the operation was made.
func sendSQS(client *awssqs.Client, url string) sender {
	return func(ctx context.Context, reqs []request) ([]string, error) {
		in := &awssqs.SendMessageBatchInput{QueueUrl: &url}
		for i, r := range reqs {
			e := types.SendMessageBatchRequestEntry{
				Id: aws.String(strconv.Itoa(i)), MessageBody: aws.String(string(r.payload())),
				MessageAttributes: map[string]types.MessageAttributeValue{},
			}
			for name, v := range r.Attributes {
				e.MessageAttributes[name] = types.MessageAttributeValue{DataType: aws.String("String"), StringValue: aws.String(v)}
			}
			in.Entries = append(in.Entries, e)
		}
		out, err := client.SendMessageBatch(ctx, in)
		if err != nil {
			return nil, err
		}
		if len(out.Failed) > 0 {
			return nil, fmt.Errorf("%d of %d messages were refused: %s", len(out.Failed), len(reqs), aws.ToString(out.Failed[0].Message))
		}
		var ids []string
		for _, s := range out.Successful {
			ids = append(ids, aws.ToString(s.MessageId))
		}
		return ids, nil
	}
}

// memoryQueue is the same without SQS.
func memoryQueue() (consumer.Source, sender) {
	q := memsource.New(memsource.Config{})
	return q.Source(), func(_ context.Context, reqs []request) ([]string, error) {
		var msgs []memsource.Message
		for _, r := range reqs {
			msgs = append(msgs, memsource.Message{Attributes: r.Attributes, Body: r.payload()})
		}
		return q.Send(msgs...), nil
	}
}
