package main

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// pollCases are about long polling.
func (w *queues) pollCases() []testCase {
	return []testCase{
		{"sqs.long_poll_waits_full_time_when_empty", w.longPollWaitsFullTimeWhenEmpty},
		{"sqs.long_poll_wakes_on_send", w.longPollWakesOnSend},
		{"sqs.long_poll_wakes_on_visibility_expiry", w.longPollWakesOnVisibilityExpiry},
		{"sqs.cancelled_long_poll_loses_nothing", w.cancelledLongPollLosesNothing},
	}
}

func (w *queues) longPollWaitsFullTimeWhenEmpty(ctx context.Context) error {
	q, err := w.fresh(ctx, nil)
	if err != nil {
		return err
	}
	t := time.Now()
	ms, err := w.receive(ctx, q, 10, 2)
	if err != nil {
		return err
	}
	if d := time.Since(t); len(ms) != 0 || d < 1900*time.Millisecond || d > 3500*time.Millisecond {
		return fmt.Errorf("%d messages after %v", len(ms), d)
	}
	return nil
}

func (w *queues) longPollWakesOnSend(ctx context.Context) error {
	q, err := w.fresh(ctx, nil)
	if err != nil {
		return err
	}
	sent := make(chan time.Time, 1)
	go func() {
		wait(ctx, 500*time.Millisecond)
		sent <- time.Now()
		_ = w.send(ctx, q, "wake")
	}()
	ms, err := w.receive(ctx, q, 10, 10)
	if err != nil {
		return err
	}
	d := time.Since(<-sent)
	if len(ms) != 1 || d > 1500*time.Millisecond {
		return fmt.Errorf("%d messages, %v after send", len(ms), d)
	}
	return nil
}

func (w *queues) longPollWakesOnVisibilityExpiry(ctx context.Context) error {
	q, err := w.fresh(ctx, map[string]string{"VisibilityTimeout": "1"})
	if err != nil {
		return err
	}
	if err := w.send(ctx, q, "x"); err != nil {
		return err
	}
	if ms, err := w.receive(ctx, q, 1, 1); err != nil || len(ms) != 1 {
		return fmt.Errorf("first receive %d %v", len(ms), err)
	}
	t := time.Now()
	ms, err := w.receive(ctx, q, 1, 6)
	if err != nil {
		return err
	}
	if d := time.Since(t); len(ms) != 1 || d > 3*time.Second || d < 700*time.Millisecond {
		return fmt.Errorf("%d messages after %v (want 1 after about 1 s)", len(ms), d)
	}
	return nil
}

func (w *queues) cancelledLongPollLosesNothing(ctx context.Context) error {
	q, err := w.fresh(ctx, map[string]string{"VisibilityTimeout": "30"})
	if err != nil {
		return err
	}
	for range 3 {
		cctx, cancel := context.WithTimeout(ctx, 300*time.Millisecond)
		_, err = w.receive(cctx, q, 10, 10)
		cancel()
		if err == nil {
			return errors.New("receive on empty queue returned before it was cancelled")
		}
	}
	wait(ctx, 200*time.Millisecond)
	if err := w.send(ctx, q, "x"); err != nil {
		return err
	}
	ms, err := w.receive(ctx, q, 10, 3)
	if err != nil {
		return err
	}
	if len(ms) != 1 || receives(ms[0]) != "1" {
		return fmt.Errorf("%d messages: the dead poll took it", len(ms))
	}
	return nil
}
