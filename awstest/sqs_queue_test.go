package awstest_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

func (r *rig) create(name string, attributes ...string) error {
	_, err := r.sqs.CreateQueue(r.Context(), &sqs.CreateQueueInput{QueueName: &name, Attributes: pairs(attributes...)})
	return err
}

func TestCreateQueue(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	q := r.queue("q", "VisibilityTimeout", "7")
	if want := "http://aws.invalid/000000000000/q"; q != want {
		t.Errorf("got URL %s, want %s", q, want)
	}
	for _, again := range []string{r.queue("q"), r.queue("q", "VisibilityTimeout", "7"), r.queue("q", "DelaySeconds", "0")} {
		if again != q {
			t.Errorf("created again: got URL %s, want %s", again, q)
		}
	}
	typed[*types.QueueNameExists](t, r.create("q", "VisibilityTimeout", "8"))
	if got := r.attributes(q, "VisibilityTimeout")["VisibilityTimeout"]; got != "7" {
		t.Errorf("a refused create changed the visibility timeout to %s", got)
	}
	for _, name := range []string{"a b", "a.b", "a/b", "é", strings.Repeat("a", 81), "a.fifo"} {
		coded(t, r.create(name), "InvalidParameterValue", "1 to 80")
	}
	r.queue(strings.Repeat("a", 80))
	typed[*types.InvalidAttributeName](t, r.create("x", "Nope", "1"))
}

func TestNumbersOfAQueueAreBounded(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	q := r.queue("q")
	for name, bounds := range map[string][2]string{
		"VisibilityTimeout": {"-1", "43201"}, "DelaySeconds": {"-1", "901"}, "MaximumMessageSize": {"1023", "1048577"},
		"MessageRetentionPeriod": {"59", "1209601"}, "ReceiveMessageWaitTimeSeconds": {"-1", "21"},
	} {
		before := r.attributes(q)[name]
		for _, v := range append(bounds[:], "", "ten", "1.5") {
			typed[*types.InvalidAttributeValue](t, r.setAttributes(q, name, v))
			typed[*types.InvalidAttributeValue](t, r.create("x", name, v))
		}
		if got := r.attributes(q)[name]; got != before {
			t.Errorf("refused values changed %s from %s to %s", name, before, got)
		}
	}
	_, err := r.sqs.GetQueueUrl(t.Context(), &sqs.GetQueueUrlInput{QueueName: aws.String("x")})
	typed[*types.QueueDoesNotExist](t, err) // a refused create makes nothing
}

func TestSetQueueAttributesIsAllOrNothing(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	q := r.queue("q")
	typed[*types.InvalidAttributeName](t, r.setAttributes(q, "DelaySeconds", "5", "Nope", "1"))
	if got := r.attributes(q, "DelaySeconds"); !maps.Equal(got, pairs("DelaySeconds", "0")) {
		t.Errorf("got %v, want the delay of before alone", got)
	}
}

func TestQueueAttributes(t *testing.T) {
	bubble(t, func(r *rig) {
		q := r.queue("q", "VisibilityTimeout", "11")
		time.Sleep(time.Minute)
		r.must(r.setAttributes(q, "DelaySeconds", "3"))
		r.send(q, "m")
		want := map[string]string{
			"ApproximateNumberOfMessages": "0", "ApproximateNumberOfMessagesDelayed": "1", "ApproximateNumberOfMessagesNotVisible": "0",
			"CreatedTimestamp": "946684800", "LastModifiedTimestamp": "946684860", "DelaySeconds": "3", "MaximumMessageSize": "1048576",
			"MessageRetentionPeriod": "345600", "QueueArn": "arn:aws:sqs:us-east-1:000000000000:q", "ReceiveMessageWaitTimeSeconds": "0",
			"SqsManagedSseEnabled": "true", "VisibilityTimeout": "11",
		}
		if got := r.attributes(q); !maps.Equal(got, want) {
			r.Errorf("got %v\nwant %v", got, want)
		}
		if got := r.attributes(q, "VisibilityTimeout", "QueueArn"); len(got) != 2 || got["VisibilityTimeout"] != "11" {
			r.Errorf("got %v, want the two that were asked for", got)
		}
		_, err := r.sqs.GetQueueAttributes(r.Context(), &sqs.GetQueueAttributesInput{QueueUrl: &q, AttributeNames: []types.QueueAttributeName{"Nope"}})
		typed[*types.InvalidAttributeName](r.T, err)
	})
}

// Each operation says with the SDK's own type that there is no such queue.
func TestQueueThatDoesNotExist(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	q := r.queue("q")
	_, err := r.sqs.DeleteQueue(t.Context(), &sqs.DeleteQueueInput{QueueUrl: &q})
	r.must(err)
	ctx, handle := t.Context(), aws.String("x")
	for name, call := range map[string]func(url *string) error{
		"SendMessage":      func(u *string) error { _, err := r.trySend(*u, "m"); return err },
		"SendMessageBatch": func(u *string) error { _, err := r.sendBatch(*u, entries(1)...); return err },
		"ReceiveMessage":   func(u *string) error { _, err := r.tryReceive(ctx, *u, longPoll(20)); return err },
		"DeleteMessage":    func(u *string) error { return r.delete(*u, handle) },
		"ChangeMessageVisibility": func(u *string) error {
			return r.hide(*u, handle, 1)
		},
		"DeleteMessageBatch": func(u *string) error {
			_, err := r.sqs.DeleteMessageBatch(ctx, &sqs.DeleteMessageBatchInput{QueueUrl: u, Entries: []types.DeleteMessageBatchRequestEntry{{Id: handle, ReceiptHandle: handle}}})
			return err
		},
		"ChangeMessageVisibilityBatch": func(u *string) error {
			_, err := r.sqs.ChangeMessageVisibilityBatch(ctx, &sqs.ChangeMessageVisibilityBatchInput{QueueUrl: u, Entries: []types.ChangeMessageVisibilityBatchRequestEntry{{Id: handle, ReceiptHandle: handle}}})
			return err
		},
		"GetQueueUrl": func(*string) error {
			_, err := r.sqs.GetQueueUrl(ctx, &sqs.GetQueueUrlInput{QueueName: aws.String("q")})
			return err
		},
		"GetQueueAttributes": func(u *string) error {
			_, err := r.sqs.GetQueueAttributes(ctx, &sqs.GetQueueAttributesInput{QueueUrl: u})
			return err
		},
		"SetQueueAttributes": func(u *string) error { return r.setAttributes(*u, "DelaySeconds", "1") },
		"DeleteQueue": func(u *string) error {
			_, err := r.sqs.DeleteQueue(ctx, &sqs.DeleteQueueInput{QueueUrl: u})
			return err
		},
		"PurgeQueue": func(u *string) error {
			_, err := r.sqs.PurgeQueue(ctx, &sqs.PurgeQueueInput{QueueUrl: u})
			return err
		},
		"ListQueueTags": func(u *string) error {
			_, err := r.sqs.ListQueueTags(ctx, &sqs.ListQueueTagsInput{QueueUrl: u})
			return err
		},
		"TagQueue": func(u *string) error {
			_, err := r.sqs.TagQueue(ctx, &sqs.TagQueueInput{QueueUrl: u, Tags: pairs("a", "b")})
			return err
		},
		"UntagQueue": func(u *string) error {
			_, err := r.sqs.UntagQueue(ctx, &sqs.UntagQueueInput{QueueUrl: u, TagKeys: []string{"a"}})
			return err
		},
		"ListDeadLetterSourceQueues": func(u *string) error {
			_, err := r.sqs.ListDeadLetterSourceQueues(ctx, &sqs.ListDeadLetterSourceQueuesInput{QueueUrl: u})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) { typed[*types.QueueDoesNotExist](t, call(&q)) })
	}
	typed[*types.QueueDoesNotExist](t, r.delete("http://aws.invalid/111111111111/"+queueName(r.queue("q")), handle)) // another account's
	r.wantCounts(r.queue("q"), "0/0/0")
}

func TestPurgeQueue(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	q := r.queue("q")
	r.send(q, "in flight")
	m := r.one(q)
	r.send(q, "visible")
	r.send(q, "delayed", delayed(5))
	_, err := r.sqs.PurgeQueue(t.Context(), &sqs.PurgeQueueInput{QueueUrl: &q})
	r.must(err)
	r.wantCounts(q, "0/0/0")
	r.must(r.delete(q, m.ReceiptHandle))
	r.send(q, "after")
	r.wantBodies(r.receive(q), "after")
}

func TestTags(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	out, err := r.sqs.CreateQueue(t.Context(), &sqs.CreateQueueInput{QueueName: aws.String("q"), Tags: pairs("a", "1", "b", "2")})
	r.must(err)
	_, err = r.sqs.TagQueue(t.Context(), &sqs.TagQueueInput{QueueUrl: out.QueueUrl, Tags: pairs("b", "3", "c", "4")})
	r.must(err)
	_, err = r.sqs.UntagQueue(t.Context(), &sqs.UntagQueueInput{QueueUrl: out.QueueUrl, TagKeys: []string{"a", "none"}})
	r.must(err)
	tags, err := r.sqs.ListQueueTags(t.Context(), &sqs.ListQueueTagsInput{QueueUrl: out.QueueUrl})
	r.must(err)
	if !maps.Equal(tags.Tags, pairs("b", "3", "c", "4")) {
		t.Errorf("got tags %v, want b 3 and c 4", tags.Tags)
	}
}

func TestListQueues(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for _, name := range []string{"b2", "a1", "b1", "b3", "c1"} {
		r.queue(name)
	}
	list := func(in *sqs.ListQueuesInput) (string, *string) {
		out, err := r.sqs.ListQueues(t.Context(), in)
		r.must(err)
		var names []string
		for _, url := range out.QueueUrls {
			names = append(names, queueName(url))
		}
		return strings.Join(names, " "), out.NextToken
	}
	if got, next := list(&sqs.ListQueuesInput{}); got != "a1 b1 b2 b3 c1" || next != nil {
		t.Errorf("got %s, next %v", got, next)
	}
	var pages []string
	in := &sqs.ListQueuesInput{QueueNamePrefix: aws.String("b"), MaxResults: aws.Int32(2)}
	for {
		got, next := list(in)
		pages = append(pages, got)
		if in.NextToken = next; next == nil {
			break
		}
	}
	if !slices.Equal(pages, []string{"b1 b2", "b3"}) {
		t.Errorf("got pages %q, want b1 b2 and b3", pages)
	}
	_, err := r.sqs.ListQueues(t.Context(), &sqs.ListQueuesInput{MaxResults: aws.Int32(1001)})
	coded(t, err, "InvalidParameterValue", "MaxResults")
}
