package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"maps"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/aws/smithy-go"
)

// fakeSQS keeps queues by name. untyped answers as servers do that know only the older protocol's error codes.
type fakeSQS struct {
	queues  map[string]map[string]string
	created []string
	untyped bool
	raced   bool
}

func (f *fakeSQS) GetQueueUrl(_ context.Context, in *sqs.GetQueueUrlInput, _ ...func(*sqs.Options)) (*sqs.GetQueueUrlOutput, error) {
	if _, ok := f.queues[*in.QueueName]; ok {
		url := "http://sqs.test/" + *in.QueueName
		return &sqs.GetQueueUrlOutput{QueueUrl: &url}, nil
	}
	if f.untyped {
		return nil, &smithy.GenericAPIError{Code: "AWS.SimpleQueueService.NonExistentQueue"}
	}
	return nil, &types.QueueDoesNotExist{}
}

func (f *fakeSQS) CreateQueue(_ context.Context, in *sqs.CreateQueueInput, _ ...func(*sqs.Options)) (*sqs.CreateQueueOutput, error) {
	attributes := maps.Clone(in.Attributes)
	attributes["QueueArn"] = "arn:aws:sqs:us-east-1:000000000000:" + *in.QueueName
	f.queues[*in.QueueName] = attributes
	if f.raced {
		return nil, &types.QueueNameExists{}
	}
	f.created = append(f.created, *in.QueueName)
	url := "http://sqs.test/" + *in.QueueName
	return &sqs.CreateQueueOutput{QueueUrl: &url}, nil
}

func (f *fakeSQS) GetQueueAttributes(_ context.Context, in *sqs.GetQueueAttributesInput, _ ...func(*sqs.Options)) (*sqs.GetQueueAttributesOutput, error) {
	return &sqs.GetQueueAttributesOutput{Attributes: f.queues[strings.TrimPrefix(*in.QueueUrl, "http://sqs.test/")]}, nil
}

func ensured(t *testing.T, api queueAPI, args ...string) report {
	t.Helper()
	o, err := parse(args, io.Discard)
	if err != nil {
		t.Fatalf("parse(%q): %v", args, err)
	}
	var found report
	if err := ensureQueues(t.Context(), api, o, &found); err != nil {
		t.Fatalf("ensureQueues(%q): %v", args, err)
	}
	return found
}

func TestQueuesAreCreatedOnce(t *testing.T) {
	t.Parallel()
	for name, api := range map[string]*fakeSQS{
		"typed error":         {queues: map[string]map[string]string{}},
		"untyped error":       {queues: map[string]map[string]string{}, untyped: true},
		"another run creates": {queues: map[string]map[string]string{}, raced: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for range 2 {
				found := ensured(t, api, "-queue", "pay")
				if err := found.err(); err != nil {
					t.Errorf("a fresh queue differs: %v", err)
				}
			}
			if want := 2; !api.raced && len(api.created) != want {
				t.Errorf("created %q over two runs, want %d queues", api.created, want)
			}
			policy := api.queues["pay"]["RedrivePolicy"]
			if want := `{"deadLetterTargetArn":"arn:aws:sqs:us-east-1:000000000000:pay-dlq","maxReceiveCount":100}`; policy != want {
				t.Errorf("got RedrivePolicy %s, want %s", policy, want)
			}
		})
	}
}

func TestFIFOQueueHasFIFODeadLetterQueue(t *testing.T) {
	t.Parallel()
	api := &fakeSQS{queues: map[string]map[string]string{}}
	ensured(t, api, "-queue", "pay.fifo")
	for _, name := range []string{"pay.fifo", "pay-dlq.fifo"} {
		if got := api.queues[name]["FifoQueue"]; got != "true" {
			t.Errorf("FifoQueue of %s: got %q, want \"true\"", name, got)
		}
	}
}

func TestEveryDifferenceIsNamedAndNothingChanged(t *testing.T) {
	t.Parallel()
	theirs := map[string]string{
		"QueueArn":                      "arn:aws:sqs:us-east-1:000000000000:pay",
		"MessageRetentionPeriod":        "345600",
		"ReceiveMessageWaitTimeSeconds": "0",
		"VisibilityTimeout":             "30",
		"RedrivePolicy":                 `{"deadLetterTargetArn":"arn:aws:sqs:us-east-1:000000000000:other","maxReceiveCount":"3"}`,
	}
	api := &fakeSQS{queues: map[string]map[string]string{"pay": maps.Clone(theirs)}}
	found := ensured(t, api, "-queue", "pay")
	err := found.err()
	if err == nil {
		t.Fatal("got no error for a queue that differs in four settings")
	}
	for _, want := range []string{
		"queue pay: ReceiveMessageWaitTimeSeconds is 0, wanted 20",
		"queue pay: VisibilityTimeout is 30, wanted 60",
		"queue pay: deadLetterTargetArn is arn:aws:sqs:us-east-1:000000000000:other, wanted arn:aws:sqs:us-east-1:000000000000:pay-dlq",
		"queue pay: maxReceiveCount is 3, wanted 100",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("the error lacks %q:\n%v", want, err)
		}
	}
	if strings.Contains(err.Error(), "MessageRetentionPeriod") {
		t.Errorf("the error names a setting that is as wanted:\n%v", err)
	}
	if !maps.Equal(api.queues["pay"], theirs) {
		t.Errorf("the existing queue was changed: got %v, want %v", api.queues["pay"], theirs)
	}
	var out bytes.Buffer
	found.print(&out)
	if want := "queue pay: exists, differs, http://sqs.test/pay\n"; !strings.HasSuffix(out.String(), want) {
		t.Errorf("got output %q, want it to end in %q", out.String(), want)
	}
}

func TestRedriveCountAsTextEqualsNumber(t *testing.T) {
	t.Parallel()
	got := compareRedrive(`{"deadLetterTargetArn":"a","maxReceiveCount":100}`, `{"maxReceiveCount":"100","deadLetterTargetArn":"a"}`)
	if len(got) > 0 {
		t.Errorf("got differences %q, want none", got)
	}
}

func TestFailureOtherThanAbsenceCreatesNothing(t *testing.T) {
	t.Parallel()
	cause := errors.New("throttled")
	var found report
	o, err := parse(nil, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	err = ensureQueues(t.Context(), failing{cause}, o, &found)
	if !errors.Is(err, cause) {
		t.Errorf("got error %v, want it to wrap %v", err, cause)
	}
}

// failing refuses to look and panics if asked for anything else.
type failing struct{ err error }

func (f failing) GetQueueUrl(context.Context, *sqs.GetQueueUrlInput, ...func(*sqs.Options)) (*sqs.GetQueueUrlOutput, error) {
	return nil, f.err
}

func (failing) CreateQueue(context.Context, *sqs.CreateQueueInput, ...func(*sqs.Options)) (*sqs.CreateQueueOutput, error) {
	panic("created a queue although it is unknown whether one exists")
}

func (failing) GetQueueAttributes(context.Context, *sqs.GetQueueAttributesInput, ...func(*sqs.Options)) (*sqs.GetQueueAttributesOutput, error) {
	panic("read attributes of a queue that was not found")
}
