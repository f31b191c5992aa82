package sqs

import (
	"context"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

// hide sets for how long a message stays hidden from now.
type hide struct {
	handle  string
	seconds int32
}

func (s *Source) deleteBatch(ctx context.Context, handles []string, report func(int, error)) {
	s.eachUntilDone(ctx, handles, report, func(ctx context.Context, open []int) (answer, error) {
		in := &sqs.DeleteMessageBatchInput{QueueUrl: &s.url}
		for p, i := range open {
			in.Entries = append(in.Entries, types.DeleteMessageBatchRequestEntry{Id: position(p), ReceiptHandle: &handles[i]})
		}
		out, err := s.client.DeleteMessageBatch(ctx, in)
		if err != nil {
			return answer{}, err
		}
		a := answer{failed: out.Failed}
		for _, e := range out.Successful {
			a.done = append(a.done, aws.ToString(e.Id))
		}
		return a, nil
	})
}

func (s *Source) hideBatch(ctx context.Context, hides []hide, report func(int, error)) {
	handles := make([]string, 0, len(hides))
	for _, h := range hides {
		handles = append(handles, h.handle)
	}
	s.eachUntilDone(ctx, handles, report, func(ctx context.Context, open []int) (answer, error) {
		in := &sqs.ChangeMessageVisibilityBatchInput{QueueUrl: &s.url}
		for p, i := range open {
			in.Entries = append(in.Entries, types.ChangeMessageVisibilityBatchRequestEntry{
				Id: position(p), ReceiptHandle: &hides[i].handle, VisibilityTimeout: hides[i].seconds,
			})
		}
		out, err := s.client.ChangeMessageVisibilityBatch(ctx, in)
		if err != nil {
			return answer{}, err
		}
		a := answer{failed: out.Failed}
		for _, e := range out.Successful {
			a.done = append(a.done, aws.ToString(e.Id))
		}
		return a, nil
	})
}

// position makes entry ids. A message id would not do: SQS can deliver a message twice into one batch, and refuses a batch
// with equal ids as a whole.
func position(i int) *string { return aws.String(strconv.Itoa(i)) }
