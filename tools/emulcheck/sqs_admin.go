package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

// adminCases are about queues themselves; the first make the queue that later ones ask about.
func (w *queues) adminCases() []testCase {
	return []testCase{
		{"sqs.create_standard_get_url", w.createStandardGetURL},
		{"sqs.queue_url_points_here", w.queueURLPointsHere},
		{"sqs.create_same_attrs_idempotent", w.createSameAttrsIdempotent},
		{"sqs.create_other_attrs_QueueNameExists", w.createOtherAttrsQueueNameExists},
		{"sqs.missing_queue_typed_error", w.missingQueueTypedError},
		{"sqs.receive_missing_queue_typed_error", w.receiveMissingQueueTypedError},
		{"sqs.fifo_needs_suffix", w.fifoNeedsSuffix},
		{"sqs.counters", w.countersTell},
		{"sqs.purge", w.purge},
		{"sqs.tags_and_list", w.tagsAndList},
		{"sqs.set_attributes", w.setAttributes},
	}
}

func (w *queues) createStandardGetURL(ctx context.Context) error {
	name := "std" + w.unique
	q, err := w.create(ctx, name, map[string]string{"VisibilityTimeout": "7"})
	if err != nil {
		return err
	}
	o, err := w.client.GetQueueUrl(ctx, &sqs.GetQueueUrlInput{QueueName: &name})
	if err != nil {
		return err
	}
	if aws.ToString(o.QueueUrl) != q || q == "" {
		return fmt.Errorf("create says %q, get says %q", q, aws.ToString(o.QueueUrl))
	}
	return nil
}

func (w *queues) queueURLPointsHere(ctx context.Context) error {
	q, err := w.create(ctx, "std"+w.unique, map[string]string{"VisibilityTimeout": "7"})
	if err != nil {
		return err
	}
	return note{q}
}

func (w *queues) createSameAttrsIdempotent(ctx context.Context) error {
	_, err := w.create(ctx, "std"+w.unique, map[string]string{"VisibilityTimeout": "7"})
	return err
}

func (w *queues) createOtherAttrsQueueNameExists(ctx context.Context) error {
	_, err := w.create(ctx, "std"+w.unique, map[string]string{"VisibilityTimeout": "8"})
	if _, ok := errors.AsType[*types.QueueNameExists](err); !ok {
		return fmt.Errorf("want QueueNameExists, got %v", err)
	}
	return nil
}

func (w *queues) missingQueueTypedError(ctx context.Context) error {
	_, err := w.client.GetQueueUrl(ctx, &sqs.GetQueueUrlInput{QueueName: aws.String("nope" + w.unique)})
	if _, ok := errors.AsType[*types.QueueDoesNotExist](err); !ok {
		return fmt.Errorf("GetQueueUrl: want QueueDoesNotExist, got %v", err)
	}
	return nil
}

func (w *queues) receiveMissingQueueTypedError(ctx context.Context) error {
	q, err := w.fresh(ctx, nil)
	if err != nil {
		return err
	}
	if _, err := w.client.DeleteQueue(ctx, &sqs.DeleteQueueInput{QueueUrl: &q}); err != nil {
		return err
	}
	_, err = w.receive(ctx, q, 1, 0)
	if _, ok := errors.AsType[*types.QueueDoesNotExist](err); !ok {
		return fmt.Errorf("want QueueDoesNotExist, got %v", err)
	}
	return nil
}

func (w *queues) fifoNeedsSuffix(ctx context.Context) error {
	_, err := w.create(ctx, "badfifo"+w.unique, map[string]string{"FifoQueue": "true"})
	if err == nil {
		return errors.New("accepted FifoQueue=true without .fifo")
	}
	return nil
}

func (w *queues) countersTell(ctx context.Context) error {
	q, err := w.fresh(ctx, nil)
	if err != nil {
		return err
	}
	for range 5 {
		if err := w.send(ctx, q, "x"); err != nil {
			return err
		}
	}
	if _, err := w.client.SendMessage(ctx, &sqs.SendMessageInput{QueueUrl: &q, MessageBody: aws.String("d"), DelaySeconds: 60}); err != nil {
		return err
	}
	if _, err := w.receive(ctx, q, 2, 1); err != nil {
		return err
	}
	v, err := w.counters(ctx, q)
	if err == nil && v != "3/2/1" {
		err = fmt.Errorf("visible/notvisible/delayed = %s, want 3/2/1", v)
	}
	return err
}

func (w *queues) purge(ctx context.Context) error {
	q, err := w.fresh(ctx, nil)
	if err != nil {
		return err
	}
	for range 3 {
		if err := w.send(ctx, q, "x"); err != nil {
			return err
		}
	}
	if _, err := w.client.PurgeQueue(ctx, &sqs.PurgeQueueInput{QueueUrl: &q}); err != nil {
		return err
	}
	v, err := w.counters(ctx, q)
	if err == nil && !strings.HasPrefix(v, "0/0/") {
		err = fmt.Errorf("after purge %s", v)
	}
	return err
}

func (w *queues) tagsAndList(ctx context.Context) error {
	q, err := w.fresh(ctx, nil)
	if err != nil {
		return err
	}
	if _, err := w.client.TagQueue(ctx, &sqs.TagQueueInput{QueueUrl: &q, Tags: map[string]string{"a": "b"}}); err != nil {
		return err
	}
	o, err := w.client.ListQueueTags(ctx, &sqs.ListQueueTagsInput{QueueUrl: &q})
	if err != nil {
		return err
	}
	if o.Tags["a"] != "b" {
		return fmt.Errorf("tags %v", o.Tags)
	}
	l, err := w.client.ListQueues(ctx, &sqs.ListQueuesInput{QueueNamePrefix: aws.String("q" + w.unique)})
	if err != nil {
		return err
	}
	if len(l.QueueUrls) == 0 {
		return errors.New("prefix list empty")
	}
	return nil
}

func (w *queues) setAttributes(ctx context.Context) error {
	q, err := w.fresh(ctx, nil)
	if err != nil {
		return err
	}
	if _, err := w.client.SetQueueAttributes(ctx, &sqs.SetQueueAttributesInput{QueueUrl: &q, Attributes: map[string]string{"VisibilityTimeout": "11", "ReceiveMessageWaitTimeSeconds": "1"}}); err != nil {
		return err
	}
	o, err := w.client.GetQueueAttributes(ctx, &sqs.GetQueueAttributesInput{QueueUrl: &q, AttributeNames: []types.QueueAttributeName{"VisibilityTimeout"}})
	if err != nil {
		return err
	}
	if o.Attributes["VisibilityTimeout"] != "11" || len(o.Attributes) != 1 {
		return fmt.Errorf("attributes %v", o.Attributes)
	}
	t := time.Now()
	r, err := w.client.ReceiveMessage(ctx, &sqs.ReceiveMessageInput{QueueUrl: &q})
	if err == nil && (len(r.Messages) != 0 || time.Since(t) < 900*time.Millisecond) {
		err = fmt.Errorf("queue-level wait time not applied (%v)", time.Since(t))
	}
	return err
}
