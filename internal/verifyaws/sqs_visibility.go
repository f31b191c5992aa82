package main

import (
	"context"
	"strconv"
	"time"
)

// received gives a queue and a message of it that is hidden for some seconds.
func (w *world) received(ctx context.Context, visibility int32) (*queue, message, error) {
	q, err := w.queue(ctx)
	if err != nil {
		return nil, message{}, err
	}
	if _, err := q.send(ctx, "x"); err != nil {
		return nil, message{}, err
	}
	m, err := q.one(ctx, visibility)
	return q, m, err
}

// hiddenAsAsked: the visibility that a receive names counts for what it brings, not the queue's own.
func hiddenAsAsked(ctx context.Context, w *world) error {
	q, _, err := w.received(ctx, 4) // a queue's own is 30 s
	if err != nil {
		return err
	}
	if err := q.none(ctx, "within its visibility", 2); err != nil {
		return err
	}
	start := time.Now()
	m, err := q.one(ctx, 30)
	if err != nil {
		return err
	}
	if took := time.Since(start); took > 12*time.Second || receives(m) != "2" {
		return seen("it came back %v after the end of its visibility of 4 s, at receive %s", took, receives(m))
	}
	return nil
}

// extended: a change of visibility counts from the call, and may prolong as well as shorten.
func extended(ctx context.Context, w *world) error {
	q, m, err := w.received(ctx, 4)
	if err != nil {
		return err
	}
	if err := q.hide(ctx, m, 10); err != nil {
		return err
	}
	if err := q.none(ctx, "within the longer visibility", 6); err != nil {
		return err
	}
	_, err = q.one(ctx, 30)
	return err
}

// givenBack: a visibility of 0 makes a message receivable at once.
func givenBack(ctx context.Context, w *world) error {
	q, m, err := w.received(ctx, 600)
	if err != nil {
		return err
	}
	if err := q.hide(ctx, m, 0); err != nil {
		return err
	}
	_, err = q.one(ctx, 30)
	return err
}

const twelveHours = 43200

// twelveHoursInAll: what would end later than 12 hours after the receipt is refused, with a code and a text that do not say that the handle
// is over, and the message stays held.
func twelveHoursInAll(ctx context.Context, w *world) error {
	q, m, err := w.received(ctx, 60)
	if err != nil {
		return err
	}
	if err := pause(ctx, 3*time.Second); err != nil {
		return err
	}
	err = q.hide(ctx, m, twelveHours)
	if e := refused("a visibility that ends 12 h and 3 s after the receipt", err, "InvalidParameterValue"); e != nil {
		return e
	}
	if handleIsOver(err) {
		return seen("the adapter would take the refusal for a lost message: %v", err)
	}
	if err := q.hide(ctx, m, twelveHours-60); err != nil { // what is left, and a margin
		return seen("after the refusal the message could not be hidden for less: %v", err)
	}
	return q.remove(ctx, m)
}

// beyondTwelveHours: more than 12 hours is refused by a receive as well.
func beyondTwelveHours(ctx context.Context, w *world) error {
	q, m, err := w.received(ctx, 60)
	if err != nil {
		return err
	}
	if err := refused("a visibility of 43,201 s", q.hide(ctx, m, twelveHours+1), "InvalidParameterValue"); err != nil {
		return err
	}
	_, err = q.poll(ctx, 1, twelveHours+1, 0)
	return refused("a receive with a visibility of 43,201 s", err, "InvalidParameterValue")
}

// wakesForExpired: a long poll that waits is answered when a hidden message becomes visible.
func wakesForExpired(ctx context.Context, w *world) error {
	q, _, err := w.received(ctx, 3)
	if err != nil {
		return err
	}
	start := time.Now()
	if _, err := q.one(ctx, 30); err != nil {
		return err
	}
	if took := time.Since(start); took > 15*time.Second {
		return seen("the poll was answered after %v, the message was visible after 3 s", took)
	}
	return nil
}

// settingsAreTold: GetQueueAttributes gives the settings as they were made, as text.
func settingsAreTold(ctx context.Context, w *world) error {
	want := map[string]string{"VisibilityTimeout": "77", "MessageRetentionPeriod": "1209600", "MaximumMessageSize": "2048"}
	var list []string
	for name, v := range want {
		list = append(list, name, v)
	}
	q, err := w.queue(ctx, list...)
	if err != nil {
		return err
	}
	got, err := q.attributes(ctx)
	if err != nil {
		return err
	}
	for name, v := range want {
		if got[name] != v {
			return seen("%s was set to %s and is told as %q", name, v, got[name])
		}
	}
	plain, err := w.queue(ctx)
	if err != nil {
		return err
	}
	if got, err = plain.attributes(ctx); err != nil {
		return err
	}
	for name, v := range map[string]string{"VisibilityTimeout": "30", "MessageRetentionPeriod": "345600", "MaximumMessageSize": strconv.Itoa(largest)} {
		if got[name] != v {
			return seen("%s of a new queue is %q, not %s", name, got[name], v)
		}
	}
	return nil
}
