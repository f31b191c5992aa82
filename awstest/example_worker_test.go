package awstest_test

import (
	"context"
	"sync/atomic"
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

type refund struct {
	Charge string `json:"charge"`
}

// A whole worker on fake time: one refund is asked for twice, the provider takes longer than the visibility timeout, and the answer to
// the completion is lost on the way. The provider is asked once, and nothing is left in the queue. Two minutes pass in no time.
func TestRefundWorker(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		server := awstest.New(awstest.Config{}) // in the bubble, so that it has the bubble's clock
		cfg := aws.Config{
			Region: "us-east-1", Credentials: credentials.NewStaticCredentialsProvider("test", "test", ""),
			HTTPClient: server.Client(), BaseEndpoint: aws.String("http://aws.invalid"),
		}
		queueClient, tableClient := sqs.NewFromConfig(cfg), dynamodb.NewFromConfig(cfg)
		queue, err := queueClient.CreateQueue(t.Context(), &sqs.CreateQueueInput{QueueName: aws.String("refunds")})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := dynamo.Setup(t.Context(), tableClient, "claimonce"); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			_, err := queueClient.SendMessage(t.Context(), &sqs.SendMessageInput{
				QueueUrl: queue.QueueUrl, MessageBody: aws.String(`{"charge":"ch_42"}`),
				MessageAttributes: map[string]types.MessageAttributeValue{
					"Idempotency-Key": {DataType: aws.String("String"), StringValue: aws.String("7d1f00c0-ffee-4bad-8bad-c0ffee0ddba1")},
				},
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		var paid atomic.Int32
		pay := func(ctx context.Context, op *dedupe.Operation, _ refund) (string, error) {
			if _, err := op.Begin(ctx, "pay-back"); err != nil {
				return "", err
			}
			time.Sleep(90 * time.Second) // the provider; the visibility timeout is 30 s
			paid.Add(1)
			server.Inject(awstest.DropAnswer("PutItem").Once()) // hits the completion, or a renewal before it
			return "re_1", nil
		}
		source, err := adapter.New(queueClient, *queue.QueueUrl, adapter.Config{})
		if err != nil {
			t.Fatal(err)
		}
		store, err := dynamo.New(tableClient, "claimonce", dynamo.Config{})
		if err != nil {
			t.Fatal(err)
		}
		worker, err := consumer.New("refund", source, store, consumer.JSON(pay), consumer.Config{OnAbandoned: dedupe.RerunUnlessBegun})
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- worker.Run(ctx) }()
		time.Sleep(10 * time.Minute)
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
		if n := paid.Load(); n != 1 {
			t.Errorf("the provider was asked %d times, want once", n)
		}
		if left := server.Queue("refunds").Messages; len(left) != 0 {
			t.Errorf("the queue still holds %d messages, want none", len(left))
		}
		if records := server.Table("claimonce").Items; len(records) != 1 {
			t.Errorf("the table holds %d records, want one for both messages", len(records))
		}
	})
}
