package consumer_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	adapter "github.com/claimonce/claimonce/adapters/sqs"
	"github.com/claimonce/claimonce/consumer"
	"github.com/claimonce/claimonce/dedupe"
)

// OPS-07: outcomes are remembered for 15 minutes, but a message can come back for 4 days, and from the dead-letter queue for 14: the worker
// does not start, and says why.
func TestOPS07_ShortWindowIsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		dead string // retention of the dead-letter queue in seconds
		want []string
	}{
		"dead-letter queue keeps longer": {"1209600", []string{"window of 15m0s", "longest redelivery of 336h0m0s", "margin of 5s", "= 336h0m10s"}},
		"queue keeps longer":             {"60", []string{"window of 15m0s", "longest redelivery of 96h0m0s", "= 96h0m10s"}},
	} {
		t.Run(name, func(t *testing.T) {
			inCloud(t, func(t *testing.T, r *rig) {
				r.cloud.set(r.cloud.dead, "MessageRetentionPeriod", c.dead)
				r.cfg.Ledger.Window = 15 * time.Minute
				r.cloud.keyed("k", `{"amount":1}`)
				err := r.consumer().Run(t.Context())
				if !errors.Is(err, consumer.ErrSetup) {
					t.Errorf("got %v, want a set-up error", err)
				}
				for _, want := range append(c.want, "raise Ledger.Window", "shorten the queue's retention", "AcceptShortWindow") {
					if err == nil || !strings.Contains(err.Error(), want) {
						t.Errorf("got %v, want it to say %q", err, want)
					}
				}
				if n := r.cloud.server.Count("ReceiveMessage"); n != 0 {
					t.Errorf("%d receives, want none", n)
				}
				r.wantNothingRan()
			})
		})
	}
}

func (c *cloud) set(url, name, v string) {
	c.t.Helper()
	in := &sqs.SetQueueAttributesInput{QueueUrl: &url, Attributes: map[string]string{name: v}}
	if _, err := c.sqs.SetQueueAttributes(c.t.Context(), in); err != nil {
		c.t.Fatal(err)
	}
}

// shortWindow accepts a window of 15 minutes, and gives what is logged.
func (r *rig) shortWindow() *page {
	log := &page{}
	r.cfg.Logger = slog.New(slog.NewTextHandler(log, nil))
	r.cfg.Ledger.Window, r.cfg.AcceptShortWindow = 15*time.Minute, "copies are harmless here"
	return log
}

// OPS-07 with the override: the reason is logged, and the copy that comes at 20 minutes is told and dead-lettered as too old, by its
// time of sending, not run again.
func TestOPS07_LateCopyWithTheOverride(t *testing.T) {
	inCloud(t, func(t *testing.T, r *rig) {
		log := r.shortWindow()
		r.cloud.keyed("k", `{"amount":1}`)
		late := r.cloud.keyed("k", `{"amount":1}`)
		r.cloud.hide(t, late, 20*time.Minute)
		w := r.start()
		elapse(10 * time.Minute)
		r.wantRuns("k", 1)
		elapse(15 * time.Minute)
		w.stop()
		r.wantRuns("k", 1)
		if e := r.first(late); e.Reason != consumer.ReasonOlderThanWindow || e.Disposition != consumer.DeadLettered || !errors.Is(e.Err, dedupe.ErrOlderThanWindow) {
			t.Errorf("told %+v of the late copy, want it too old", e)
		}
		detail := r.cloud.wantDead(consumer.ReasonOlderThanWindow, `{"amount":1}`).Attributes[adapter.AttributeDetail]
		for _, want := range []string{"2000-01-01T00:00:00Z", "14m50s"} {
			if !strings.Contains(detail, want) {
				t.Errorf("got detail %q, want %q in it", detail, want)
			}
		}
		if got := log.String(); !strings.Contains(got, `reason="copies are harmless here"`) || !strings.Contains(got, "longest_redelivery=336h0m0s") {
			t.Errorf("the override is not logged with its reason: %s", got)
		}
	})
}

// hide takes a message out of sight, as a worker does that dies with it.
func (c *cloud) hide(t *testing.T, id string, d time.Duration) {
	t.Helper()
	for {
		out, err := c.sqs.ReceiveMessage(t.Context(), &sqs.ReceiveMessageInput{QueueUrl: &c.queue, MaxNumberOfMessages: 10, VisibilityTimeout: 1})
		if err != nil || len(out.Messages) == 0 {
			t.Fatalf("message %s does not come: %v", id, err)
		}
		for _, m := range out.Messages {
			timeout := int32(0)
			if *m.MessageId == id {
				timeout = int32(d / time.Second)
			}
			in := &sqs.ChangeMessageVisibilityInput{QueueUrl: &c.queue, ReceiptHandle: m.ReceiptHandle, VisibilityTimeout: timeout}
			if _, err := c.sqs.ChangeMessageVisibility(t.Context(), in); err != nil {
				t.Fatal(err)
			}
			if timeout > 0 {
				return
			}
		}
	}
}

// OPS-07: the window begins with the completion, not with the claim: a copy sent while the handler ran is still known 20 minutes after
// the claim.
func TestOPS07_ExpiryCountsFromTheCompletion(t *testing.T) {
	inCloud(t, func(t *testing.T, r *rig) {
		r.shortWindow()
		r.handle = func(ctx context.Context, _ *dedupe.Operation, _ order) (string, error) {
			return "done", wait(ctx, 10*time.Minute)
		}
		began := time.Now()
		r.cloud.keyed("k", `{"amount":1}`)
		w := r.start()
		elapse(20 * time.Minute)
		if rec := r.cloud.wantState(keyOf("k"), dedupe.StateCompleted); rec.ExpiresAt.Before(began.Add(25 * time.Minute)) {
			t.Errorf("the record expires %v after the claim, want 15 minutes after its completion at 10", rec.ExpiresAt.Sub(began))
		}
		copied := r.cloud.keyed("k", `{"amount":1}`)
		elapse(time.Minute)
		w.stop()
		r.wantRuns("k", 1)
		if e := r.first(copied); !e.Replayed {
			t.Errorf("told %+v of the copy, want it replayed", e)
		}
	})
}

// S34: the retention counts from the sending, and so does the age: what a queue delays is no younger when it comes.
func TestDelayedMessageIsAsOldAsItsSending(t *testing.T) {
	inCloud(t, func(t *testing.T, r *rig) {
		r.cloud.set(r.cloud.queue, "DelaySeconds", "900")
		r.shortWindow()
		id := r.cloud.keyed("k", `{"amount":1}`)
		w := r.start()
		elapse(16 * time.Minute)
		w.stop()
		r.wantNothingRan()
		if e := r.first(id); e.Reason != consumer.ReasonOlderThanWindow {
			t.Errorf("told %+v, want it too old: 15 minutes are more than the window less its margins", e)
		}
	})
}

// S34: a dead letter of ours that is moved back has a new time by SQS, and is as old as before.
func TestOldDeadLetterThatIsMovedBack(t *testing.T) {
	for name, c := range map[string]struct {
		after  time.Duration
		accept string
		runs   int
	}{
		"young":            {14 * 24 * time.Hour, "", 1},
		"old":              {15 * 24 * time.Hour, "", 0},
		"accepted by name": {15 * 24 * time.Hour, "settled by hand", 1},
	} {
		t.Run(name, func(t *testing.T) {
			inCloud(t, func(t *testing.T, r *rig) {
				r.cfg.AcceptOlderThanWindow = c.accept
				r.cfg.Tenant = consumer.TenantAttribute("Tenant") // a mistake that is mended later
				r.cloud.keyed("k", `{"amount":1}`)
				r.work(time.Minute)
				r.wantNothingRan()
				dead := r.cloud.takeDead(t)
				r.cfg.Tenant = consumer.Tenant{}
				elapse(c.after)
				if _, err := r.cloud.sqs.SendMessage(t.Context(), &sqs.SendMessageInput{
					QueueUrl: &r.cloud.queue, MessageBody: dead.Body, MessageAttributes: dead.MessageAttributes,
				}); err != nil {
					t.Fatal(err)
				}
				w := r.start()
				elapse(time.Minute)
				w.stop()
				r.wantRuns("k", c.runs)
				r.wantTooOld(w, c.accept != "")
				if c.runs == 0 {
					r.cloud.wantDead(consumer.ReasonOlderThanWindow, `{"amount":1}`)
				}
			})
		})
	}
}

// wantTooOld: a delivery that was accepted although it is too old is told and counted as such.
func (r *rig) wantTooOld(w *worker, want bool) {
	r.t.Helper()
	if got := w.Counts().TooOld; (got == 1) != want || got > 1 {
		r.t.Errorf("counted %d, want one: %v", got, want)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if e := r.events[len(r.events)-1]; e.TooOld != want {
		r.t.Errorf("told %+v, want it too old and accepted: %v", e, want)
	}
}

// takeDead takes the only dead letter away.
func (c *cloud) takeDead(t *testing.T) types.Message {
	t.Helper()
	out, err := c.sqs.ReceiveMessage(t.Context(), &sqs.ReceiveMessageInput{QueueUrl: &c.dead, MessageAttributeNames: []string{"All"}})
	if err != nil || len(out.Messages) != 1 {
		t.Fatalf("got %+v, %v, want one dead letter", out, err)
	}
	in := &sqs.DeleteMessageInput{QueueUrl: &c.dead, ReceiptHandle: out.Messages[0].ReceiptHandle}
	if _, err := c.sqs.DeleteMessage(t.Context(), in); err != nil {
		t.Fatal(err)
	}
	return out.Messages[0]
}
