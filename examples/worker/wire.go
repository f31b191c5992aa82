package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"maps"
	"os"
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
	if err := o.validate(); err != nil {
		return parts{}, err
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
	cfg := sqs.Config{}
	suffix, kind := "", "SQS queue"
	if o.fifo {
		suffix, kind = fifoSuffix, "SQS FIFO queue"
	}
	if o.sns {
		cfg.Envelope = sqs.SNS
		kind += " behind an SNS topic"
	}
	if o.queueURL == "" && !endpointSet("SQS") {
		client := awssqs.NewFromConfig(local.config())
		url, err := makeQueue(ctx, client, suffix)
		if err != nil {
			return nil, nil, "", err
		}
		src, err := sqs.New(client, url, cfg)
		return src, sendSQS(client, url, o), "an " + kind + " in this process", err
	}
	env, err := config.LoadDefaultConfig(ctx)
	if err != nil {
		return nil, nil, "", err
	}
	client := awssqs.NewFromConfig(env)
	url := o.queueURL
	if url == "" {
		name := defaultQueue + suffix
		out, err := client.GetQueueUrl(ctx, &awssqs.GetQueueUrlInput{QueueName: &name})
		if err != nil {
			return nil, nil, "", fmt.Errorf("the queue %s: %w; make it with go run ./localstack/setup -queue %s", name, err, name)
		}
		url = aws.ToString(out.QueueUrl)
	}
	// A worker of its own would say sqs.Open(ctx, url). This one ends as soon as its input is done, and some local servers hand
	// the next run's messages to the poll that it leaves behind: a short poll leaves none.
	cfg.WaitTime = time.Second
	src, err := sqs.New(client, url, cfg)
	return src, sendSQS(client, url, o), "the " + kind + " " + url, err
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
	fifoSuffix   = ".fifo"
)

// makeQueue makes a queue with dead letters, as localstack/setup does on a server.
func makeQueue(ctx context.Context, client *awssqs.Client, suffix string) (url string, err error) {
	dead, err := client.CreateQueue(ctx, &awssqs.CreateQueueInput{
		QueueName: aws.String(defaultQueue + "-dlq" + suffix), Attributes: kindOf(suffix, nil),
	})
	if err != nil {
		return "", err
	}
	attrs, err := client.GetQueueAttributes(ctx, &awssqs.GetQueueAttributesInput{
		QueueUrl: dead.QueueUrl, AttributeNames: []types.QueueAttributeName{types.QueueAttributeNameQueueArn},
	})
	if err != nil {
		return "", err
	}
	out, err := client.CreateQueue(ctx, &awssqs.CreateQueueInput{
		QueueName: aws.String(defaultQueue + suffix), Attributes: kindOf(suffix, map[string]string{
			"VisibilityTimeout": "60",
			"RedrivePolicy":     fmt.Sprintf(`{"deadLetterTargetArn":%q,"maxReceiveCount":"100"}`, attrs.Attributes["QueueArn"]),
		}),
	})
	if err != nil {
		return "", err
	}
	return aws.ToString(out.QueueUrl), nil
}

// kindOf adds what makes a queue FIFO. It cannot be asked of a standard queue, not even with the value false.
func kindOf(suffix string, attrs map[string]string) map[string]string {
	all := map[string]string{}
	maps.Copy(all, attrs)
	if suffix == fifoSuffix {
		all["FifoQueue"] = "true"
	}
	return all
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
