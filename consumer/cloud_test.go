package consumer_test

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	adapter "github.com/claimonce/claimonce/adapters/sqs"
	"github.com/claimonce/claimonce/awstest"
	"github.com/claimonce/claimonce/consumer"
	"github.com/claimonce/claimonce/dedupe"
	"github.com/claimonce/claimonce/store/dynamo"
)

const table = "claimonce"

// cloud is SQS and DynamoDB in the process, reached by the real adapter, the real store and the AWS SDK, on the bubble's clock.
type cloud struct {
	t      *testing.T
	server *awstest.Server
	cfg    aws.Config
	sqs    *sqs.Client
	dynamo *dynamodb.Client
	queue  string // URLs
	dead   string
	access adapter.Config // each worker's, to the queue
}

// inCloud runs a test with a rig between a real queue and a real table.
func inCloud(t *testing.T, f func(t *testing.T, r *rig)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.cloud = newCloud(t, awstest.New(awstest.Config{}), "work")
		f(t, r)
	})
}

func newCloud(t *testing.T, server *awstest.Server, name string) *cloud {
	t.Helper()
	cfg := aws.Config{
		Region: "eu-west-1", Credentials: credentials.NewStaticCredentialsProvider("test", "test", ""),
		HTTPClient: server.Client(), BaseEndpoint: aws.String("http://aws.invalid"),
	}
	c := &cloud{t: t, server: server, cfg: cfg, sqs: sqs.NewFromConfig(cfg), dynamo: dynamodb.NewFromConfig(cfg)}
	c.dead = c.makeQueue(name+"-dead", map[string]string{"MessageRetentionPeriod": "1209600"})
	policy, err := json.Marshal(map[string]any{"deadLetterTargetArn": c.arn(c.dead), "maxReceiveCount": 1000})
	if err != nil {
		t.Fatal(err)
	}
	c.queue = c.makeQueue(name, map[string]string{"VisibilityTimeout": "30", "RedrivePolicy": string(policy)})
	c.makeTable()
	return c
}

// plugged is the same cloud, reached over a connection that can be cut.
func (c *cloud) plugged() (*cloud, *plug) {
	p := &plug{base: c.server.Client(), cut: make(chan struct{})}
	own := *c
	own.cfg.HTTPClient = p
	own.sqs, own.dynamo = sqs.NewFromConfig(own.cfg), dynamodb.NewFromConfig(own.cfg)
	return &own, p
}

// plug is a connection. While it is out every call fails, those under way too.
type plug struct {
	base *http.Client

	mu  sync.Mutex
	cut chan struct{} // closed while it is out
}

func (p *plug) out() <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.cut
}

func (p *plug) pull() { close(p.cut) }

func (p *plug) put() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cut = make(chan struct{})
}

func (p *plug) Do(r *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	out := p.out()
	go func() {
		select {
		case <-out:
			cancel()
		case <-ctx.Done():
		}
	}()
	select {
	case <-out:
		return nil, errBroken
	default:
		return p.base.Do(r.WithContext(ctx)) // the in-memory answer is whole: it outlives the context
	}
}

func (c *cloud) makeQueue(name string, attributes map[string]string) (url string) {
	c.t.Helper()
	out, err := c.sqs.CreateQueue(c.t.Context(), &sqs.CreateQueueInput{QueueName: &name, Attributes: attributes})
	if err != nil {
		c.t.Fatal(err)
	}
	return *out.QueueUrl
}

func (c *cloud) arn(url string) string {
	c.t.Helper()
	out, err := c.sqs.GetQueueAttributes(c.t.Context(), &sqs.GetQueueAttributesInput{
		QueueUrl: &url, AttributeNames: []types.QueueAttributeName{types.QueueAttributeNameQueueArn},
	})
	if err != nil {
		c.t.Fatal(err)
	}
	return out.Attributes["QueueArn"]
}

func (c *cloud) makeTable() {
	c.t.Helper()
	rep, err := dynamo.Setup(c.t.Context(), c.dynamo, table)
	if err != nil || len(rep.Problems) > 0 {
		c.t.Fatalf("the table cannot be made: %v %q", err, rep.Problems)
	}
}

func (c *cloud) dropTable() {
	c.t.Helper()
	if _, err := c.dynamo.DeleteTable(c.t.Context(), &dynamodb.DeleteTableInput{TableName: aws.String(table)}); err != nil {
		c.t.Fatal(err)
	}
}

// source is a worker's own access to the queue.
func (c *cloud) source() consumer.Source {
	c.t.Helper()
	s, err := adapter.New(c.sqs, c.queue, c.access)
	if err != nil {
		c.t.Fatal(err)
	}
	return s
}

func (c *cloud) records() *dynamo.Store {
	c.t.Helper()
	s, err := dynamo.New(c.dynamo, table, dynamo.Config{})
	if err != nil {
		c.t.Fatal(err)
	}
	return s
}

// send sends a message and returns its id.
func (c *cloud) send(body string, attributes map[string]types.MessageAttributeValue) string {
	c.t.Helper()
	out, err := c.sqs.SendMessage(c.t.Context(), &sqs.SendMessageInput{QueueUrl: &c.queue, MessageBody: &body, MessageAttributes: attributes})
	if err != nil {
		c.t.Fatal(err)
	}
	return *out.MessageId
}

// keyed sends a message with a key, and with further attributes as pairs of name and value.
func (c *cloud) keyed(key, body string, pairs ...string) string {
	c.t.Helper()
	attrs := map[string]types.MessageAttributeValue{}
	for p := range slices.Chunk(append([]string{consumer.DefaultKeyAttribute, key}, pairs...), 2) {
		attrs[p[0]] = stringValue(p[1])
	}
	return c.send(body, attrs)
}

func stringValue(s string) types.MessageAttributeValue {
	return types.MessageAttributeValue{DataType: aws.String("String"), StringValue: &s}
}

func (c *cloud) left() []awstest.Message    { return c.server.Messages(queueName(c.queue)) }
func (c *cloud) letters() []awstest.Message { return c.server.Messages(queueName(c.dead)) }

func queueName(url string) string {
	for i := len(url) - 1; i >= 0; i-- {
		if url[i] == '/' {
			return url[i+1:]
		}
	}
	return url
}

func (c *cloud) record(key dedupe.Key) dedupe.Record {
	c.t.Helper()
	rec, err := c.records().Load(c.t.Context(), key)
	if err != nil {
		c.t.Fatal(err)
	}
	return rec
}

func (c *cloud) wantState(key dedupe.Key, want dedupe.State) dedupe.Record {
	c.t.Helper()
	rec := c.record(key)
	if rec.State != want {
		c.t.Errorf("record %s is %s, want %s", key.ID, rec.State, want)
	}
	return rec
}

// wantEmpty: every message was deleted, none is a dead letter.
func (c *cloud) wantEmpty() {
	c.t.Helper()
	if got := c.left(); len(got) != 0 {
		c.t.Errorf("%d messages are left in the queue, the first %+v", len(got), got[0])
	}
	if got := c.letters(); len(got) != 0 {
		c.t.Errorf("%d dead letters, the first %+v", len(got), got[0])
	}
}

// wantDead: there is one dead letter, with a reason and the whole message.
func (c *cloud) wantDead(reason, body string) awstest.Message {
	c.t.Helper()
	for _, m := range c.letters() {
		if m.Attributes[adapter.AttributeReason] == reason && m.Body == body {
			return m
		}
	}
	c.t.Errorf("no dead letter with the reason %q and the body %s among %+v", reason, body, c.letters())
	return awstest.Message{}
}

// operations lists the calls from a time on, of the kinds that are named.
func (c *cloud) operations(kinds ...string) (names []string, at []time.Time) {
	for _, call := range c.server.Calls() {
		if slices.Contains(kinds, call.Operation) {
			names, at = append(names, call.Operation), append(at, call.Time)
		}
	}
	return names, at
}
