package sqsd_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/claimonce/claimonce/awstest/internal/sqsd"
)

func operations() []string {
	return []string{
		"SendMessage", "SendMessageBatch", "ReceiveMessage", "DeleteMessage", "DeleteMessageBatch", "ChangeMessageVisibility",
		"ChangeMessageVisibilityBatch", "CreateQueue", "GetQueueUrl", "ListQueues", "PurgeQueue", "GetQueueAttributes", "SetQueueAttributes",
		"TagQueue", "UntagQueue", "ListQueueTags", "ListDeadLetterSourceQueues", "StartMessageMoveTask", "CancelMessageMoveTask",
		"ListMessageMoveTasks", "DeleteQueue", "AddPermission",
	}
}

// No request makes the server panic, and whatever it answers is JSON.
func FuzzCall(f *testing.F) {
	for _, body := range []string{
		`{}`, `null`, `[]`, `{"QueueUrl":"q"}`, `{"QueueUrl":"http://host/000000000000/q.fifo","MessageBody":"x","MessageGroupId":"g","MessageDeduplicationId":"d"}`,
		`{"QueueUrl":"q","MessageBody":"x","MessageAttributes":{"a":{"DataType":"String","StringValue":"v"}},"MessageSystemAttributes":{"AWSTraceHeader":{"DataType":"String"}}}`,
		`{"QueueUrl":"q","Entries":[{"Id":"a","MessageBody":"x"},{"Id":"b","ReceiptHandle":"cSBpZCAx","VisibilityTimeout":5}]}`,
		`{"QueueName":"z","Attributes":{"RedrivePolicy":"{\"deadLetterTargetArn\":\"arn:aws:sqs:us-east-1:000000000000:q\",\"maxReceiveCount\":\"1\"}"}}`,
		`{"QueueUrl":"q","ReceiptHandle":"cSBpZCAx","VisibilityTimeout":null,"AttributeNames":["All"]}`,
		`{"QueueUrl":"q","Attributes":{"RedriveAllowPolicy":"{\"redrivePermission\":\"byQueue\"}","VisibilityTimeout":"1e3"}}`,
		`{"SourceArn":"arn:aws:sqs:us-east-1:000000000000:dead","MaxResults":-1}`, `{"QueueUrl":"q","TagKeys":["a"],"Tags":{"a":"b"}}`,
	} {
		for op := range operations() {
			f.Add(op, body)
		}
	}
	f.Fuzz(func(t *testing.T, op int, body string) {
		if strings.Contains(body, "Wait") {
			t.Skip("would take real time")
		}
		svc := sqsd.New("us-east-1", "000000000000").At("host")
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		dead := `{"QueueName":"q","Attributes":{"RedrivePolicy":"{\"deadLetterTargetArn\":\"arn:aws:sqs:us-east-1:000000000000:dead\",\"maxReceiveCount\":1}","VisibilityTimeout":"0"}}`
		for _, c := range [][2]string{
			{"CreateQueue", `{"QueueName":"dead"}`},
			{"CreateQueue", dead},
			{"CreateQueue", `{"QueueName":"q.fifo","Attributes":{"FifoQueue":"true"}}`},
			{"SendMessage", `{"QueueUrl":"q","MessageBody":"x"}`},
		} {
			if _, err := svc.Call(ctx, c[0], []byte(c[1])); err != nil {
				t.Fatal(c, err)
			}
		}
		all := operations()
		for range 2 { // what the first call left behind must not break the second
			out, refusal := svc.Call(ctx, all[(op%len(all)+len(all))%len(all)], []byte(body))
			if refusal != nil && (refusal.Status != 400 || refusal.Code == "" || refusal.Message == "") {
				t.Errorf("%s %s: refused with %+v", all[(op%len(all)+len(all))%len(all)], body, refusal)
			}
			if _, err := json.Marshal(out); err != nil {
				t.Error(err)
			}
		}
	})
}
