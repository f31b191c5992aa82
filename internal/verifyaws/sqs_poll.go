package main

import (
	"context"
	"time"
)

// waitsWhenEmpty: a long poll of an empty queue is answered, with nothing, when its time is over.
func waitsWhenEmpty(ctx context.Context, w *world) error {
	q, err := w.queue(ctx)
	if err != nil {
		return err
	}
	start := time.Now()
	if err := q.none(ctx, "on an empty queue", 3); err != nil {
		return err
	}
	if took := time.Since(start); took < 2500*time.Millisecond || took > 15*time.Second {
		return seen("a poll of 3 s was answered after %v", took)
	}
	return nil
}

// wakesForSent: a long poll that waits is answered when a message comes.
func wakesForSent(ctx context.Context, w *world) error {
	q, err := w.queue(ctx)
	if err != nil {
		return err
	}
	sent := make(chan error, 1)
	go func() {
		err := pause(ctx, 2*time.Second)
		if err == nil {
			_, err = q.send(ctx, "x")
		}
		sent <- err
	}()
	start := time.Now()
	_, err = q.one(ctx, 30)
	if err := <-sent; err != nil {
		return err
	}
	if err != nil {
		return err
	}
	if took := time.Since(start); took > 15*time.Second {
		return seen("the poll was answered after %v, the message was sent after 2 s", took)
	}
	return nil
}

// pollLimits: a poll waits 20 s and brings 10 messages at most.
func pollLimits(ctx context.Context, w *world) error {
	q, err := w.queue(ctx)
	if err != nil {
		return err
	}
	_, err = q.poll(ctx, 1, 30, pollTime+1)
	if err := refused("a poll of 21 s", err, "InvalidParameterValue"); err != nil {
		return err
	}
	_, err = q.poll(ctx, 11, 30, 0)
	return refused("a poll for 11 messages", err, "InvalidParameterValue", "ReadCountOutOfRange")
}

// missingQueue: calls on a queue that does not exist say so by one of two codes.
func missingQueue(ctx context.Context, w *world) error {
	q, err := w.queue(ctx)
	if err != nil {
		return err
	}
	gone := &queue{w: w, url: q.url + "-gone"}
	_, err = gone.poll(ctx, 1, 30, 0)
	return refused("a poll of a queue that does not exist", err, "QueueDoesNotExist", "NonExistentQueue")
}
