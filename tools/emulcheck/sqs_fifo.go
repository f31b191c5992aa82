package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

// fifoCases are about order and deduplication.
func (w *queues) fifoCases() []testCase {
	return []testCase{
		{"sqs.fifo_group_required", w.fifoGroupRequired},
		{"sqs.fifo_order_and_sequence", w.fifoOrderAndSequence},
		{"sqs.fifo_batch_gives_several_of_one_group", w.fifoBatchGivesSeveralOfOneGroup},
		{"sqs.fifo_group_blocked_while_in_flight", w.fifoGroupBlockedWhileInFlight},
		{"sqs.fifo_redelivery_keeps_order", w.fifoRedeliveryKeepsOrder},
		{"sqs.fifo_dedup_id_within_5min", w.fifoDedupIDWithin5min},
		{"sqs.fifo_content_based_dedup", w.fifoContentBasedDedup},
	}
}

func (w *queues) fifoGroupRequired(ctx context.Context) error {
	q, err := w.fresh(ctx, fifo())
	if err != nil {
		return err
	}
	if err := wantCode(w.send(ctx, q, "x"), "MissingParameter", "InvalidParameterValue"); err != nil {
		return err
	}
	_, err = w.sendFIFO(ctx, q, "x", "g", "")
	return wantCode(err, "InvalidParameterValue")
}

func (w *queues) fifoOrderAndSequence(ctx context.Context) error {
	q, err := w.fresh(ctx, fifo())
	if err != nil {
		return err
	}
	var last string
	for i := range 12 {
		o, err := w.sendFIFO(ctx, q, strconv.Itoa(i), "g", fmt.Sprint("d", i))
		if err != nil {
			return err
		}
		sn := fmt.Sprintf("%040s", aws.ToString(o.SequenceNumber))
		if o.SequenceNumber == nil || sn <= last {
			return fmt.Errorf("sequence number %q not growing", aws.ToString(o.SequenceNumber))
		}
		last = sn
	}
	var bodies []string
	for len(bodies) < 12 {
		ms, err := w.receive(ctx, q, 5, 1)
		if err != nil {
			return err
		}
		if len(ms) == 0 {
			return fmt.Errorf("stuck after %v", bodies)
		}
		var es []types.DeleteMessageBatchRequestEntry
		for i, m := range ms {
			bodies = append(bodies, *m.Body)
			if m.Attributes["MessageGroupId"] != "g" || m.Attributes["MessageDeduplicationId"] == "" || m.Attributes["SequenceNumber"] == "" {
				return fmt.Errorf("system attributes %v", m.Attributes)
			}
			es = append(es, types.DeleteMessageBatchRequestEntry{Id: aws.String(strconv.Itoa(i)), ReceiptHandle: m.ReceiptHandle})
		}
		if _, err := w.client.DeleteMessageBatch(ctx, &sqs.DeleteMessageBatchInput{QueueUrl: &q, Entries: es}); err != nil {
			return err
		}
	}
	for i, b := range bodies {
		if b != strconv.Itoa(i) {
			return fmt.Errorf("order %v", bodies)
		}
	}
	return nil
}

func (w *queues) fifoBatchGivesSeveralOfOneGroup(ctx context.Context) error {
	q, err := w.fresh(ctx, fifo())
	if err != nil {
		return err
	}
	for i := range 6 {
		if _, err := w.sendFIFO(ctx, q, strconv.Itoa(i), "g", fmt.Sprint("d", i)); err != nil {
			return err
		}
	}
	ms, err := w.receive(ctx, q, 10, 1)
	if err != nil {
		return err
	}
	if len(ms) < 2 {
		return fmt.Errorf("%d message per receive from one group (AWS: as many as fit)", len(ms))
	}
	return nil
}

func (w *queues) fifoGroupBlockedWhileInFlight(ctx context.Context) error {
	q, err := w.fresh(ctx, fifo())
	if err != nil {
		return err
	}
	for i := range 3 {
		for _, g := range []string{"A", "B"} {
			if _, err := w.sendFIFO(ctx, q, fmt.Sprint(g, i), g, fmt.Sprint(g, i)); err != nil {
				return err
			}
		}
	}
	m1, err := w.receive(ctx, q, 1, 1)
	if err != nil || len(m1) != 1 {
		return fmt.Errorf("receive %d %v", len(m1), err)
	}
	g1 := m1[0].Attributes["MessageGroupId"]
	m2, err := w.receive(ctx, q, 10, 1)
	if err != nil {
		return err
	}
	for _, m := range m2 {
		if m.Attributes["MessageGroupId"] == g1 {
			return fmt.Errorf("group %s delivered while in flight", g1)
		}
	}
	if len(m2) == 0 {
		return errors.New("other group blocked too")
	}
	if m3, err := w.receive(ctx, q, 10, 0); err != nil || (len(m2) == 3 && len(m3) != 0) {
		return fmt.Errorf("third receive %d %v", len(m3), err)
	}
	if err := w.remove(ctx, q, m1[0].ReceiptHandle); err != nil {
		return err
	}
	m4, err := w.receive(ctx, q, 10, 2)
	if err != nil {
		return err
	}
	if len(m4) == 0 || *m4[0].Body != g1+"1" {
		return fmt.Errorf("after delete: %d messages", len(m4))
	}
	return nil
}

func (w *queues) fifoRedeliveryKeepsOrder(ctx context.Context) error {
	q, err := w.fresh(ctx, fifo())
	if err != nil {
		return err
	}
	for i := range 3 {
		if _, err := w.sendFIFO(ctx, q, strconv.Itoa(i), "g", fmt.Sprint("d", i)); err != nil {
			return err
		}
	}
	m1, err := w.receive(ctx, q, 1, 1)
	if err != nil || len(m1) != 1 {
		return fmt.Errorf("receive %d %v", len(m1), err)
	}
	if _, err := w.client.ChangeMessageVisibility(ctx, &sqs.ChangeMessageVisibilityInput{QueueUrl: &q, ReceiptHandle: m1[0].ReceiptHandle, VisibilityTimeout: 0}); err != nil {
		return err
	}
	m2, err := w.receive(ctx, q, 1, 2)
	if err != nil {
		return err
	}
	if len(m2) != 1 || *m2[0].Body != "0" {
		return fmt.Errorf("after release got %v", m2)
	}
	return nil
}

func (w *queues) fifoDedupIDWithin5min(ctx context.Context) error {
	q, err := w.fresh(ctx, fifo())
	if err != nil {
		return err
	}
	o1, err := w.sendFIFO(ctx, q, "a", "g", "same")
	if err != nil {
		return err
	}
	o2, err := w.sendFIFO(ctx, q, "a", "g", "same")
	if err != nil {
		return err
	}
	if aws.ToString(o1.MessageId) != aws.ToString(o2.MessageId) {
		return errors.New("duplicate send got another MessageId")
	}
	ms, err := w.receive(ctx, q, 10, 1)
	if err != nil || len(ms) != 1 {
		return fmt.Errorf("%d messages %v", len(ms), err)
	}
	if err := w.remove(ctx, q, ms[0].ReceiptHandle); err != nil {
		return err
	}
	if _, err := w.sendFIFO(ctx, q, "a", "g", "same"); err != nil { // still deduplicated after delete
		return err
	}
	ms, err = w.receive(ctx, q, 10, 1)
	if err == nil && len(ms) != 0 {
		err = errors.New("dedup id forgotten after delete")
	}
	return err
}

func (w *queues) fifoContentBasedDedup(ctx context.Context) error {
	q, err := w.fresh(ctx, map[string]string{"FifoQueue": "true", "ContentBasedDeduplication": "true"})
	if err != nil {
		return err
	}
	for range 2 {
		if _, err := w.sendFIFO(ctx, q, "same body", "g", ""); err != nil {
			return err
		}
	}
	ms, err := w.receive(ctx, q, 10, 1)
	if err == nil && len(ms) != 1 {
		err = fmt.Errorf("%d messages", len(ms))
	}
	return err
}
