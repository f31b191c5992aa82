package main

import (
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

// line is a FIFO queue that holds n messages of group a, and one of group b after them.
func (w *world) line(ctx context.Context, n int) (*queue, error) {
	q, err := w.fifo(ctx)
	if err != nil {
		return nil, err
	}
	for i := range n {
		if _, err := q.send(ctx, strconv.Itoa(i), group("a")); err != nil {
			return nil, err
		}
	}
	_, err = q.send(ctx, "b", group("b"))
	return q, err
}

// ofGroup are the bodies of one group, in their order.
func ofGroup(ms []message, name string) []string {
	return bodies(slices.DeleteFunc(slices.Clone(ms), func(m message) bool {
		return system(m, types.MessageSystemAttributeNameMessageGroupId) != name
	}))
}

// groupInOrder: messages of a group come in the order of sending, also several of them in one receive.
func groupInOrder(ctx context.Context, w *world) error {
	q, err := w.line(ctx, 5)
	if err != nil {
		return err
	}
	ms, err := q.several(ctx, 6, 60)
	if err != nil {
		return err
	}
	if got := ofGroup(ms, "a"); !slices.Equal(got, []string{"0", "1", "2", "3", "4"}) {
		return seen("the group came as %v", got)
	}
	return nil
}

// groupWaits: while a message of a group is held, none behind it comes, and those of other groups do.
func groupWaits(ctx context.Context, w *world) error {
	q, err := w.line(ctx, 3)
	if err != nil {
		return err
	}
	head, err := q.one(ctx, 60)
	if err != nil {
		return err
	}
	if got := bodies([]message{head}); got[0] != "0" {
		return seen("the first message to come was %v", got)
	}
	other, err := q.several(ctx, 1, 60)
	if err != nil {
		return err
	}
	if got := bodies(other); got[0] != "b" {
		return seen("while the head of a group was held, %v came", got)
	}
	if err := q.none(ctx, "while both groups are held", 2); err != nil {
		return err
	}
	if err := q.remove(ctx, head); err != nil {
		return err
	}
	next, err := q.one(ctx, 60)
	if err == nil && bodies([]message{next})[0] != "1" {
		return seen("after the head was deleted, %v came", bodies([]message{next}))
	}
	return err
}

// backInOrder: messages of a group that are handed back, head first, come again in their order.
func backInOrder(ctx context.Context, w *world) error {
	q, err := w.line(ctx, 3)
	if err != nil {
		return err
	}
	ms, err := q.several(ctx, 4, 60)
	if err != nil {
		return err
	}
	for _, m := range ms {
		if err := q.hide(ctx, m, 0); err != nil {
			return err
		}
	}
	again, err := q.several(ctx, 4, 60)
	if err != nil {
		return err
	}
	if got := ofGroup(again, "a"); !slices.Equal(got, []string{"0", "1", "2"}) {
		return seen("the group came again as %v", got)
	}
	return nil
}

// delayedHead: while a head that was handed back with a delay is hidden, what is behind it does not come.
func delayedHead(ctx context.Context, w *world) error {
	q, err := w.fifo(ctx)
	if err != nil {
		return err
	}
	for _, body := range []string{"0", "1"} {
		if _, err := q.send(ctx, body, group("a")); err != nil {
			return err
		}
	}
	head, err := q.one(ctx, 60)
	if err != nil {
		return err
	}
	if err := q.hide(ctx, head, 6); err != nil {
		return err
	}
	if err := q.none(ctx, "while the head is hidden", 3); err != nil {
		return err
	}
	again, err := q.one(ctx, 60)
	if err == nil && bodies([]message{again})[0] != "0" {
		return seen("%v came before the head", bodies([]message{again}))
	}
	return err
}

// staleOnFIFO: after its visibility has ended a handle of a FIFO queue is accepted or refused as over; once the message was received
// again, the older handle cannot delete it.
func staleOnFIFO(ctx context.Context, w *world) error {
	q, err := w.fifo(ctx)
	if err != nil {
		return err
	}
	if _, err := q.send(ctx, "x", group("a")); err != nil {
		return err
	}
	older, err := q.one(ctx, 1)
	if err != nil {
		return err
	}
	if err := pause(ctx, 2*time.Second); err != nil {
		return err
	}
	newer, err := q.one(ctx, 30)
	if err != nil {
		return err
	}
	if err := overOrDone("deleting with an older handle", q.remove(ctx, older)); err != nil {
		return err
	}
	if err := overOrDone("hiding with an older handle", q.hide(ctx, older, 20)); err != nil {
		return err
	}
	if err := q.hide(ctx, newer, 0); err != nil {
		return seen("after calls with an older handle the newest one no longer counts: %v", err)
	}
	again, err := q.one(ctx, 30)
	if err != nil {
		return err
	}
	return q.remove(ctx, again)
}

// expiredOnFIFO: deleting after the visibility has ended, and before anybody received the message again, is accepted or refused as over.
func expiredOnFIFO(ctx context.Context, w *world) error {
	q, err := w.fifo(ctx)
	if err != nil {
		return err
	}
	if _, err := q.send(ctx, "x", group("a")); err != nil {
		return err
	}
	m, err := q.one(ctx, 1)
	if err != nil {
		return err
	}
	if err := pause(ctx, 3*time.Second); err != nil {
		return err
	}
	return overOrDone("deleting a message whose visibility has ended", q.remove(ctx, m))
}

// fifoAttributes: group, deduplication id and a rising sequence number come with the system attributes.
func fifoAttributes(ctx context.Context, w *world) error {
	q, err := w.fifo(ctx)
	if err != nil {
		return err
	}
	const count = 8 // numbers that are random rise as well, once in 40,320 times
	for i := range count {
		if _, err := q.send(ctx, strconv.Itoa(i), group("a", "d"+strconv.Itoa(i))); err != nil {
			return err
		}
	}
	ms, err := q.several(ctx, count, 60)
	if err != nil {
		return err
	}
	last := ""
	for i, m := range ms {
		n := system(m, types.MessageSystemAttributeNameSequenceNumber)
		if system(m, types.MessageSystemAttributeNameMessageGroupId) != "a" || system(m, types.MessageSystemAttributeNameMessageDeduplicationId) != "d"+strconv.Itoa(i) {
			return seen("message %d has %v", i, m.Attributes)
		}
		if n == "" || len(n) < len(last) || (len(n) == len(last) && n <= last) {
			return seen("message %d has the sequence number %q, the one before had %q", i, n, last)
		}
		last = n
	}
	return nil
}

// groupNeeded: a FIFO queue takes no message without a group, nor one without an id for deduplication.
func groupNeeded(ctx context.Context, w *world) error {
	q, err := w.fifo(ctx)
	if err != nil {
		return err
	}
	_, err = q.send(ctx, "x")
	if err := refused("a message without a group", err, "MissingParameter", "InvalidParameterValue"); err != nil {
		return err
	}
	_, err = q.send(ctx, "x", group("a"), func(in *sqs.SendMessageInput) { in.MessageDeduplicationId = nil })
	return refused("a message without an id for deduplication", err, "InvalidParameterValue", "MissingParameter")
}
