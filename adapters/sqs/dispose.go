package sqs

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/claimonce/claimonce/consumer"
)

// hide sets for how long a message stays hidden from now.
type hide struct {
	handle  string
	seconds int32
}

var errNoReceipt = errors.New("the message was not received by this source")

// Ack implements [consumer.Source]: it waits until the delete is confirmed.
func (s *Source) Ack(ctx context.Context, m *consumer.Message) error {
	r, ok := m.Receipt.(receipt)
	if !ok {
		return fmt.Errorf("sqs: delete: %w", errNoReceipt)
	}
	return s.explain("delete from", s.deletes.do(ctx, r.handle))
}

// Nack implements [consumer.Source].
func (s *Source) Nack(ctx context.Context, m *consumer.Message, delay time.Duration) error {
	return s.setHidden(ctx, "hand back to", m, delay)
}

// Extend implements [consumer.Extender].
func (s *Source) Extend(ctx context.Context, m *consumer.Message) error {
	return s.setHidden(ctx, "extend the visibility in", m, s.Visibility())
}

// setHidden never asks for more than SQS gives: twelve hours in all after the receive.
func (s *Source) setHidden(ctx context.Context, what string, m *consumer.Message, d time.Duration) error {
	r, ok := m.Receipt.(receipt)
	if !ok {
		return fmt.Errorf("sqs: %s: %w", what, errNoReceipt)
	}
	left := maxVisibility - time.Since(r.received) - time.Second
	d = max(min(d, left), 0)
	seconds := int32((d + time.Second - 1) / time.Second) //nolint:gosec // at most twelve hours
	return s.explain(what, s.hides.do(ctx, hide{r.handle, seconds}))
}

func (s *Source) deleteBatch(ctx context.Context, handles []string) []error {
	return eachUntilDone(ctx, handles, func(ctx context.Context, handles []string) ([]types.BatchResultErrorEntry, error) {
		in := &sqs.DeleteMessageBatchInput{QueueUrl: &s.url}
		for i, h := range handles {
			in.Entries = append(in.Entries, types.DeleteMessageBatchRequestEntry{Id: position(i), ReceiptHandle: aws.String(h)})
		}
		out, err := s.client.DeleteMessageBatch(ctx, in)
		if err != nil {
			return nil, err
		}
		return out.Failed, nil
	})
}

func (s *Source) hideBatch(ctx context.Context, hides []hide) []error {
	return eachUntilDone(ctx, hides, func(ctx context.Context, hides []hide) ([]types.BatchResultErrorEntry, error) {
		in := &sqs.ChangeMessageVisibilityBatchInput{QueueUrl: &s.url}
		for i, h := range hides {
			in.Entries = append(in.Entries, types.ChangeMessageVisibilityBatchRequestEntry{
				Id: position(i), ReceiptHandle: aws.String(h.handle), VisibilityTimeout: h.seconds,
			})
		}
		out, err := s.client.ChangeMessageVisibilityBatch(ctx, in)
		if err != nil {
			return nil, err
		}
		return out.Failed, nil
	})
}

// position makes entry ids. A message id would not do: SQS can deliver a message twice into one batch, and refuses a batch
// with equal ids as a whole.
func position(i int) *string { return aws.String(strconv.Itoa(i)) }

// entryTries is how often an entry is sent.
const entryTries = 5

// eachUntilDone sends the entries that failed through no fault of theirs again. A batch can be answered with status 200 and
// failed entries in it.
func eachUntilDone[T any](
	ctx context.Context, values []T, call func(context.Context, []T) ([]types.BatchResultErrorEntry, error),
) []error {
	errs := make([]error, len(values))
	open := make([]int, len(values)) // positions in values of what is still to be sent
	for i := range open {
		open[i] = i
	}
	for try := 1; len(open) > 0; try++ {
		batch := make([]T, 0, len(open))
		for _, i := range open {
			batch = append(batch, values[i])
		}
		failed, err := call(ctx, batch)
		if err != nil { // the SDK has repeated it already
			for _, i := range open {
				errs[i] = err
			}
			return errs
		}
		for _, i := range open {
			errs[i] = nil
		}
		var again []int
		for _, f := range failed {
			p, err := strconv.Atoi(aws.ToString(f.Id))
			if err != nil || p < 0 || p >= len(open) {
				continue
			}
			errs[open[p]] = &entryError{code: aws.ToString(f.Code), message: aws.ToString(f.Message)}
			if !f.SenderFault {
				again = append(again, open[p])
			}
		}
		if try == entryTries || len(again) == 0 || !pause(ctx, try) {
			return errs
		}
		open = again
	}
	return errs
}

func pause(ctx context.Context, try int) bool {
	d := 100 * time.Millisecond << (try - 1)
	t := time.NewTimer(d/2 + rand.N(d/2)) //nolint:gosec // spreads load, guards nothing
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
