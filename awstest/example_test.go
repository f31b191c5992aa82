package awstest_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/claimonce/claimonce/awstest"
)

// A worker that deletes what it has handled. Here a delete is applied and its answer lost; the SDK repeats it, and nothing is
// delivered twice.
func ExampleServer() {
	server := awstest.New(awstest.Config{})
	client := sqs.NewFromConfig(aws.Config{
		Region:       "us-east-1",
		Credentials:  credentials.NewStaticCredentialsProvider("test", "test", ""),
		HTTPClient:   server.Client(),
		BaseEndpoint: aws.String("http://aws.invalid"),
	})
	ctx := context.Background()
	queue, err := client.CreateQueue(ctx, &sqs.CreateQueueInput{QueueName: aws.String("orders")})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, body := range []string{"refund 1", "refund 2"} {
		if _, err := client.SendMessage(ctx, &sqs.SendMessageInput{QueueUrl: queue.QueueUrl, MessageBody: &body}); err != nil {
			fmt.Println(err)
			return
		}
	}
	server.Inject(awstest.DropAnswer("DeleteMessage").Once())
	work(ctx, client, *queue.QueueUrl, func(body string) { fmt.Println("handled", body) })
	fmt.Println(len(server.Messages("orders")), "messages left,", server.Count("DeleteMessage"), "deletes")
	// Output:
	// handled refund 1
	// handled refund 2
	// 0 messages left, 3 deletes
}

// work handles what a queue holds; it stands for the program under test.
func work(ctx context.Context, client *sqs.Client, queue string, handle func(body string)) {
	for {
		out, err := client.ReceiveMessage(ctx, &sqs.ReceiveMessageInput{QueueUrl: &queue, MaxNumberOfMessages: 10})
		if err != nil || len(out.Messages) == 0 {
			return
		}
		for _, m := range out.Messages {
			handle(*m.Body)
			if _, err := client.DeleteMessage(ctx, &sqs.DeleteMessageInput{QueueUrl: &queue, ReceiptHandle: m.ReceiptHandle}); err != nil {
				return
			}
		}
	}
}

// A handler that outlasts the visibility timeout: half a minute that passes at once.
func TestWorkerInFakeTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t) // made in the bubble
		queue := r.queue("orders", "VisibilityTimeout", "30")
		r.send(queue, "refund")
		var mu sync.Mutex // fake time puts the two in order, but synchronises nothing
		var handled []string
		handle := func(body string) {
			mu.Lock()
			defer mu.Unlock()
			handled = append(handled, body)
		}
		slow := func(body string) {
			time.Sleep(31 * time.Second)
			handle(body)
		}
		var first sync.WaitGroup
		first.Go(func() { work(t.Context(), r.sqs, queue, slow) })
		time.Sleep(30 * time.Second)
		work(t.Context(), r.sqs, queue, handle)
		first.Wait()
		if got := strings.Join(handled, ", "); got != "refund, refund" {
			t.Errorf("handled %s, want the refund twice", got)
		}
	})
}
