package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

// raceCases let consumers compete.
func (w *queues) raceCases() []testCase {
	return []testCase{
		{"sqs.race_8_consumers_no_double", w.race8ConsumersNoDouble},
	}
}

func (w *queues) race8ConsumersNoDouble(ctx context.Context) error {
	q, err := w.fresh(ctx, map[string]string{"VisibilityTimeout": "60"})
	if err != nil {
		return err
	}
	const total, consumers = 1000, 8
	if err := each(total/10, func(i int) error { return w.sendTen(ctx, q, i) }); err != nil {
		return err
	}
	var mu sync.Mutex
	seen := map[string]int{}
	err = each(consumers, func(int) error {
		return w.drain(ctx, q, func(body string) {
			mu.Lock()
			defer mu.Unlock()
			seen[body]++
		})
	})
	if err != nil {
		return err
	}
	double := 0
	for _, n := range seen {
		if n > 1 {
			double++
		}
	}
	if len(seen) != total || double != 0 {
		return fmt.Errorf("saw %d of %d, %d more than once", len(seen), total, double)
	}
	v, err := w.counters(ctx, q)
	if err == nil && v != "0/0/0" {
		err = fmt.Errorf("counters at the end %s", v)
	}
	return err
}

// each runs n calls at once and joins their errors.
func each(n int, f func(i int) error) error {
	errs := make([]error, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { errs[i] = f(i) })
	}
	wg.Wait()
	return errors.Join(errs...)
}

func (w *queues) sendTen(ctx context.Context, queue string, batch int) error {
	var entries []types.SendMessageBatchRequestEntry
	for i := range 10 {
		entries = append(entries, types.SendMessageBatchRequestEntry{Id: aws.String(strconv.Itoa(i)), MessageBody: aws.String(fmt.Sprintf("%d-%d", batch, i))})
	}
	_, err := w.client.SendMessageBatch(ctx, &sqs.SendMessageBatchInput{QueueUrl: &queue, Entries: entries})
	return err
}

// drain receives and deletes until nothing comes for a second.
func (w *queues) drain(ctx context.Context, queue string, see func(body string)) error {
	for {
		messages, err := w.receive(ctx, queue, 10, 1)
		if err != nil || len(messages) == 0 {
			return err
		}
		var entries []types.DeleteMessageBatchRequestEntry
		for i, m := range messages {
			see(*m.Body)
			entries = append(entries, types.DeleteMessageBatchRequestEntry{Id: aws.String(strconv.Itoa(i)), ReceiptHandle: m.ReceiptHandle})
		}
		if _, err := w.client.DeleteMessageBatch(ctx, &sqs.DeleteMessageBatchInput{QueueUrl: &queue, Entries: entries}); err != nil {
			return err
		}
	}
}
