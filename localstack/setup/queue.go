package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/aws/smithy-go"
)

// queueAPI is the part of the SQS client that is used.
type queueAPI interface {
	GetQueueUrl(context.Context, *sqs.GetQueueUrlInput, ...func(*sqs.Options)) (*sqs.GetQueueUrlOutput, error)
	CreateQueue(context.Context, *sqs.CreateQueueInput, ...func(*sqs.Options)) (*sqs.CreateQueueOutput, error)
	GetQueueAttributes(context.Context, *sqs.GetQueueAttributesInput, ...func(*sqs.Options)) (*sqs.GetQueueAttributesOutput, error)
}

// queue is one queue as it is wanted.
type queue struct {
	role, name string
	attributes map[string]string
}

// redrive is the RedrivePolicy attribute. SQS takes the count as a number or a string and gives back either.
type redrive struct {
	Target string      `json:"deadLetterTargetArn"`
	Count  json.Number `json:"maxReceiveCount"`
}

// ensureQueues makes the dead-letter queue first, since the queue's redrive policy names it.
func ensureQueues(ctx context.Context, api queueAPI, o options, found *report) error {
	target, err := ensureQueue(ctx, api, queue{role: "dead-letter queue", name: o.dlq, attributes: map[string]string{
		"MessageRetentionPeriod": "1209600", // 14 days, the longest there is
	}}, found)
	if err != nil {
		return err
	}
	policy, err := json.Marshal(redrive{Target: target, Count: json.Number(strconv.Itoa(o.maxReceives))})
	if err != nil {
		return err
	}
	_, err = ensureQueue(ctx, api, queue{role: "queue", name: o.queue, attributes: map[string]string{
		"MessageRetentionPeriod":        "345600", // 4 days
		"ReceiveMessageWaitTimeSeconds": "20",     // long polling for whoever does not ask for it
		"VisibilityTimeout":             "60",     // the framework's lease; it renews both together
		"RedrivePolicy":                 string(policy),
	}}, found)
	return err
}

// ensureQueue creates a queue that is not there, compares one that is, and returns its ARN.
func ensureQueue(ctx context.Context, api queueAPI, want queue, found *report) (string, error) {
	if strings.HasSuffix(want.name, fifo) {
		want.attributes["FifoQueue"] = "true"
	}
	url, created, err := urlOrCreate(ctx, api, want)
	if err != nil {
		return "", fmt.Errorf("%s %s: %w", want.role, want.name, err)
	}
	got, err := api.GetQueueAttributes(ctx, &sqs.GetQueueAttributesInput{
		QueueUrl:       &url,
		AttributeNames: []types.QueueAttributeName{types.QueueAttributeNameAll},
	})
	if err != nil {
		return "", fmt.Errorf("%s %s: reading its attributes: %w", want.role, want.name, err)
	}
	arn := got.Attributes["QueueArn"]
	if arn == "" {
		return "", fmt.Errorf("%s %s: the server names no QueueArn for %s", want.role, want.name, url)
	}
	var differences []string
	if !created { // on AWS, what a new queue was created with may take a minute to be read back
		differences = compare(want.attributes, got.Attributes)
	}
	found.add(want.role+" "+want.name, url, created, differences)
	return arn, nil
}

// urlOrCreate looks before it creates: CreateQueue refuses an existing queue whose attributes differ without naming them.
func urlOrCreate(ctx context.Context, api queueAPI, want queue) (url string, created bool, err error) {
	url, err = queueURL(ctx, api, want.name)
	if err == nil || !missing(err) {
		return url, false, err
	}
	out, err := api.CreateQueue(ctx, &sqs.CreateQueueInput{QueueName: &want.name, Attributes: want.attributes})
	if err == nil {
		return value(out.QueueUrl), true, nil
	}
	if _, raced := errors.AsType[*types.QueueNameExists](err); raced { // another run of this program was faster
		url, err = queueURL(ctx, api, want.name)
		return url, false, err
	}
	return "", false, fmt.Errorf("creating it: %w", err)
}

func queueURL(ctx context.Context, api queueAPI, name string) (string, error) {
	out, err := api.GetQueueUrl(ctx, &sqs.GetQueueUrlInput{QueueName: &name})
	if err != nil {
		return "", fmt.Errorf("looking for it: %w", err)
	}
	return value(out.QueueUrl), nil
}

// missing tells by type and by code: some servers still answer with the code of the older protocol, without the type.
func missing(err error) bool {
	if _, ok := errors.AsType[*types.QueueDoesNotExist](err); ok {
		return true
	}
	coded, ok := errors.AsType[smithy.APIError](err)
	return ok && strings.HasSuffix(coded.ErrorCode(), "NonExistentQueue")
}

// compare names every wanted attribute that is not what is there, in a fixed order.
func compare(want, got map[string]string) []string {
	var differences []string
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if name == string(types.QueueAttributeNameRedrivePolicy) {
			differences = append(differences, compareRedrive(want[name], got[name])...)
			continue
		}
		if got[name] != want[name] {
			differences = append(differences, fmt.Sprintf("%s is %s, wanted %s", name, shown(got[name]), want[name]))
		}
	}
	return differences
}

func compareRedrive(wantJSON, gotJSON string) []string {
	var want, got redrive
	if err := json.Unmarshal([]byte(wantJSON), &want); err != nil {
		return []string{"RedrivePolicy: " + err.Error()}
	}
	if gotJSON == "" {
		return []string{"RedrivePolicy is not set, wanted " + wantJSON}
	}
	if err := json.Unmarshal([]byte(gotJSON), &got); err != nil {
		return []string{fmt.Sprintf("RedrivePolicy %s cannot be read: %v", gotJSON, err)}
	}
	var differences []string
	if got.Target != want.Target {
		differences = append(differences, fmt.Sprintf("deadLetterTargetArn is %s, wanted %s", shown(got.Target), want.Target))
	}
	if got.Count != want.Count {
		differences = append(differences, fmt.Sprintf("maxReceiveCount is %s, wanted %s", shown(got.Count.String()), want.Count))
	}
	return differences
}

func shown(text string) string {
	if text == "" {
		return "not set"
	}
	return text
}

func value(p *string) string {
	if p == nil {
		return ""
	}
	return *p
}
