package main

import (
	"context"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

// sentOnce: within five minutes a message of the same deduplication id is accepted and not delivered, be the first one deleted or not.
func sentOnce(ctx context.Context, w *world) error {
	q, err := w.fifo(ctx)
	if err != nil {
		return err
	}
	for _, body := range []string{"first", "second"} {
		if _, err := q.send(ctx, body, group("a", "same")); err != nil {
			return err
		}
	}
	m, err := q.one(ctx, 60)
	if err != nil {
		return err
	}
	if got := aws.ToString(m.Body); got != "first" {
		return seen("the message that came is the %s", got)
	}
	if err := q.remove(ctx, m); err != nil {
		return err
	}
	if err := q.none(ctx, "after one of two with the same id was deleted", 2); err != nil {
		return err
	}
	if _, err := q.send(ctx, "third", group("a", "same")); err != nil {
		return err
	}
	return q.none(ctx, "a third one with the same id, after the first was deleted", 2)
}

// dedupInQueue: by default the id counts in the whole queue, across groups.
func dedupInQueue(ctx context.Context, w *world) error { return w.dedupAcross(ctx, 1) }

// dedupInGroup: with the scope messageGroup the id counts in its group only.
func dedupInGroup(ctx context.Context, w *world) error {
	return w.dedupAcross(ctx, 2, "DeduplicationScope", "messageGroup", "FifoThroughputLimit", "perMessageGroupId")
}

func (w *world) dedupAcross(ctx context.Context, want int, attributes ...string) error {
	q, err := w.fifo(ctx, attributes...)
	if err != nil {
		return err
	}
	for _, g := range []string{"a", "b"} {
		if _, err := q.send(ctx, g, group(g, "same")); err != nil {
			return err
		}
	}
	if _, err := q.several(ctx, want, 60); err != nil {
		return err
	}
	return q.none(ctx, "after as many messages as there should be", 2)
}

// dedupByContent: with ContentBasedDeduplication the body alone decides, not the attributes.
func dedupByContent(ctx context.Context, w *world) error {
	q, err := w.fifo(ctx, "ContentBasedDeduplication", "true")
	if err != nil {
		return err
	}
	without := func(in *sqs.SendMessageInput) { in.MessageDeduplicationId = nil }
	for _, c := range []struct{ body, key string }{{"x", "1"}, {"x", "2"}, {"y", "1"}} {
		if _, err := q.send(ctx, c.body, group("a"), without, attributes(map[string]types.MessageAttributeValue{"k": stringValue(c.key)})); err != nil {
			return err
		}
	}
	ms, err := q.several(ctx, 2, 60)
	if err != nil {
		return err
	}
	if got := strings.Join(bodies(ms), ""); got != "xy" {
		return seen("what came is %q", got)
	}
	return q.none(ctx, "after one message for each body", 2)
}

// idsOf128: group and deduplication ids have up to 128 characters.
func idsOf128(ctx context.Context, w *world) error {
	q, err := w.fifo(ctx)
	if err != nil {
		return err
	}
	long := "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"
	long += strings.Repeat("x", 128-len(long))
	if _, err := q.send(ctx, "x", group(long, long)); codeOf(err) != "" {
		return seen("ids of 128 characters were refused: %v", err)
	} else if err != nil {
		return err
	}
	_, err = q.send(ctx, "x", group("a", long+"x"))
	return refused("a deduplication id of 129 characters", err, "InvalidParameterValue")
}
