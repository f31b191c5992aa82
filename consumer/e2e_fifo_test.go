package consumer_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/claimonce/claimonce/awstest"
	"github.com/claimonce/claimonce/consumer"
	"github.com/claimonce/claimonce/dedupe"
)

// inFIFOCloud runs a test with a rig between a FIFO queue and a table.
func inFIFOCloud(t *testing.T, f func(t *testing.T, r *rig)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.cloud = newCloud(t, awstest.New(awstest.Config{}), "work")
		r.cloud.useFIFO("30", 1000)
		f(t, r)
	})
}

// useFIFO makes the cloud's queue a FIFO queue.
func (c *cloud) useFIFO(visibility string, maxReceives int) {
	c.t.Helper()
	c.dead = c.makeQueue("work-dead.fifo", map[string]string{"FifoQueue": "true", "MessageRetentionPeriod": "1209600"})
	policy, err := json.Marshal(map[string]any{"deadLetterTargetArn": c.arn(c.dead), "maxReceiveCount": maxReceives})
	if err != nil {
		c.t.Fatal(err)
	}
	c.queue = c.makeQueue("work.fifo", map[string]string{"FifoQueue": "true", "VisibilityTimeout": visibility, "RedrivePolicy": string(policy)})
}

// toGroup sends messages to a group in order, each with the key that is named, under deduplication ids of their own.
func (c *cloud) toGroup(group string, keys ...string) (ids []string) {
	c.t.Helper()
	for _, key := range keys {
		ids = append(ids, c.deduplicated(group, key, rand.Text()))
	}
	return ids
}

func (c *cloud) deduplicated(group, key, id string) string {
	c.t.Helper()
	out, err := c.sqs.SendMessage(c.t.Context(), &sqs.SendMessageInput{
		QueueUrl: &c.queue, MessageBody: aws.String(`{"amount":1}`), MessageGroupId: &group, MessageDeduplicationId: &id,
		MessageAttributes: map[string]types.MessageAttributeValue{consumer.DefaultKeyAttribute: stringValue(key)},
	})
	if err != nil {
		c.t.Fatal(err)
	}
	return *out.MessageId
}

// extensionsFail lets no visibility of 30 s be extended; hand-backs go through.
func (c *cloud) extensionsFail() (remove func()) {
	f := awstest.FailBefore("ChangeMessageVisibilityBatch", http.StatusInternalServerError, "InternalError")
	f.Match = func(call awstest.Call) bool { return strings.Contains(string(call.Body), `"VisibilityTimeout":30`) }
	return c.server.Inject(f)
}

// SQS-08: the handler ends a second after the visibility did, and the FIFO queue refuses the delete. The record was completed before:
// a failed ack, no failed handler. No attempt is burned, and the redelivery is replayed.
func TestSQS08_FIFODeleteByAnExpiredHandle(t *testing.T) {
	inFIFOCloud(t, func(t *testing.T, r *rig) {
		remove := r.cloud.extensionsFail()
		r.handle = func(ctx context.Context, op *dedupe.Operation, _ order) (string, error) {
			if op.Key().ID == "a1" {
				return "done", wait(context.WithoutCancel(ctx), 31*time.Second)
			}
			return "done", nil
		}
		ids := r.cloud.toGroup("a", "a1", "a2")
		w := r.start()
		elapse(32 * time.Second)
		r.cloud.wantState(keyOf("a1"), dedupe.StateCompleted)
		ran := slices.IndexFunc(r.told(ids[0]), func(e consumer.Event) bool { return e.Ran })
		if e := r.told(ids[0])[ran]; e.Disposition != consumer.Acked || !errors.Is(e.Err, consumer.ErrNotHeld) {
			t.Errorf("told %+v, want an ack that failed since the message was no longer held", e)
		}
		remove()
		elapse(2 * time.Minute)
		if h := w.Health(); h.DisposeFailures == 0 {
			t.Errorf("health %+v, want the failed ack counted", h)
		}
		w.stop()
		for i, id := range []string{"a1", "a2"} {
			r.wantRuns(id, 1)
			if rec := r.cloud.wantState(keyOf(id), dedupe.StateCompleted); rec.Attempt != 1 {
				t.Errorf("%d attempts of %s are counted, want 1", rec.Attempt, id)
			}
			es := r.told(ids[i])
			if e := es[len(es)-1]; i == 0 && !e.Replayed {
				t.Errorf("told %+v at last, want a replay", e)
			}
		}
		r.cloud.wantEmpty()
	})
}

// SQS-11: a job of seven minutes whose key is sent again after six, when the queue no longer recognises even the same deduplication
// id. Two workers; the key alone keeps the second from running.
func TestSQS11_FIFOSameKeyAfterTheDeduplicationInterval(t *testing.T) {
	for name, second := range map[string]struct{ group, id string }{
		"same group, same id":   {"a", "id"},
		"same group, other id":  {"a", "other"},
		"other group, same id":  {"b", "id"},
		"other group, other id": {"b", "other"},
	} {
		t.Run(name, func(t *testing.T) {
			inFIFOCloud(t, func(t *testing.T, r *rig) {
				r.handle = func(ctx context.Context, _ *dedupe.Operation, _ order) (string, error) {
					return "done", wait(ctx, 7*time.Minute)
				}
				first := r.cloud.deduplicated("a", "k", "id")
				workers := []*worker{r.start(), r.start()}
				elapse(6 * time.Minute)
				again := r.cloud.deduplicated(second.group, "k", second.id)
				if again == first {
					t.Fatal("the queue took the second message for the first: this test is of nothing")
				}
				elapse(30 * time.Second)
				r.cloud.wantState(keyOf("k"), dedupe.StateInProgress)
				for _, e := range r.told(again) {
					if e.Disposition != consumer.Nacked || e.Outcome != dedupe.OutcomeBusy {
						t.Errorf("told %+v while the first runs, want it busy", e)
					}
				}
				elapse(20 * time.Minute)
				for _, w := range workers {
					w.stop()
				}
				r.wantRuns("k", 1)
				es := r.told(again)
				if e := es[len(es)-1]; e.Disposition != consumer.Acked || !e.Replayed {
					t.Errorf("told %+v of the second message at last, want a replay", e)
				}
				if rec := r.cloud.record(keyOf("k")); rec.Attempt != 1 {
					t.Errorf("%d attempts, want 1", rec.Attempt)
				}
				r.cloud.wantEmpty()
			})
		})
	}
}

// SQS-12: a head that fails for good stands in the way of its own group only, for as long as its attempts last, and that shows.
func TestSQS12_FIFOPoisonStopsItsGroupForABoundedTime(t *testing.T) {
	inFIFOCloud(t, func(t *testing.T, r *rig) {
		r.cfg.Ledger.AttemptBound, r.cfg.Backoff, r.cfg.BackoffMax = 3, 20*time.Second, 20*time.Second
		var failed time.Time
		r.handle = func(_ context.Context, op *dedupe.Operation, _ order) (string, error) {
			if op.Key().ID == "a1" {
				failed = time.Now()
				return "", dedupe.RetryAfter(errPlain, 20*time.Second)
			}
			return "done", nil
		}
		began := time.Now()
		r.cloud.toGroup("A", "a1", "a2")
		r.cloud.toGroup("B", "b1", "b2")
		w := r.start()
		elapse(5 * time.Second)
		if got := of(r.order(), "b"); !slices.Equal(got, []string{"b1", "b2"}) {
			t.Errorf("the other group ran %q at first, want both", got)
		}
		if h := w.Health(); h.BlockedGroups != 1 || h.BlockedSince.Sub(began) > time.Second {
			t.Errorf("%d groups blocked since %v, want one since %v", h.BlockedGroups, h.BlockedSince, began)
		}
		elapse(55 * time.Second)
		if h := w.Health(); h.BlockedGroups != 0 || !h.BlockedSince.IsZero() {
			t.Errorf("%d groups blocked since %v after the head is a dead letter", h.BlockedGroups, h.BlockedSince)
		}
		w.stop()
		if got := of(r.order(), "a"); !slices.Equal(got, []string{"a1", "a1", "a1", "a2"}) {
			t.Errorf("the group ran %q, want three attempts, then the next", got)
		}
		if stall := failed.Sub(began); stall > 45*time.Second {
			t.Errorf("the group stood for %v, want two back-offs of 20 s", stall)
		}
		m := r.cloud.wantDead(consumer.ReasonExhausted, `{"amount":1}`)
		if m.Group != "A" {
			t.Errorf("the dead letter is in group %q, want A", m.Group)
		}
		if left := r.cloud.left(); len(left) != 0 {
			t.Errorf("left %+v", left)
		}
	})
}

// SQS-21: one batch; what is behind the failed message of its group goes back, the other group goes on.
func TestSQS21_FIFOBatchStopsTheFailedGroupOnly(t *testing.T) {
	inFIFOCloud(t, func(t *testing.T, r *rig) {
		r.cfg.Workers = 4
		r.handle = func(_ context.Context, op *dedupe.Operation, _ order) (string, error) {
			if op.Key().ID == "a" && r.ran("a") == 1 {
				return "", dedupe.RetryAfter(errPlain, 5*time.Second)
			}
			return "done", nil
		}
		ids := r.cloud.toGroup("g1", "a", "b", "c")
		r.cloud.toGroup("g2", "d", "e")
		r.cloud.server.ResetCalls()
		w := r.start()
		elapse(2 * time.Second)
		if got := r.order(); len(got) != 3 || !slices.Contains(got, "a") || !slices.Contains(got, "d") || !slices.Contains(got, "e") {
			t.Errorf("ran %q at first, want a, d and e", got)
		}
		head := r.cloud.left()[0].VisibleAt
		for _, m := range r.cloud.left() {
			if m.VisibleAt.Before(head) || m.Receives != 1 {
				t.Errorf("%+v, want it back once and not visible before the head (%v)", m, head)
			}
		}
		elapse(time.Minute)
		w.stop()
		got := slices.DeleteFunc(r.order(), func(id string) bool { return id == "d" || id == "e" })
		if !slices.Equal(got, []string{"a", "a", "b", "c"}) {
			t.Errorf("the group ran %q, want a again, then b and c", got)
		}
		for i, id := range []string{"a", "b", "c"} {
			if rec := r.cloud.wantState(keyOf(id), dedupe.StateCompleted); rec.Attempt != map[bool]int{true: 2, false: 1}[i == 0] {
				t.Errorf("%d attempts of %s", rec.Attempt, id)
			}
			if e := r.first(ids[i]); e.Disposition != consumer.Nacked {
				t.Errorf("told %+v of %s, want it handed back first", e, id)
			}
		}
		r.cloud.wantEmpty()
	})
}

// The delete of a message is answered before the next of its group starts.
func TestFIFODeleteIsAnsweredBeforeTheNextStarts(t *testing.T) {
	inFIFOCloud(t, func(t *testing.T, r *rig) {
		r.cloud.server.Inject(awstest.Delay("DeleteMessageBatch", time.Second, time.Second)) // before and after
		var starts []time.Time
		r.handle = func(context.Context, *dedupe.Operation, order) (string, error) {
			starts = append(starts, time.Now()) // one group: one at a time
			return "done", nil
		}
		r.cloud.toGroup("a", "a1", "a2", "a3")
		r.work(time.Minute)
		for i := 1; i < len(starts); i++ {
			if d := starts[i].Sub(starts[i-1]); d < time.Second {
				t.Errorf("message %d started %v after the one before it, whose delete takes a second", i, d)
			}
		}
		r.cloud.wantEmpty()
	})
}

// SQS-24: a retry in five minutes on a visibility of a minute. The queue waits, not the worker: no slot and no memory is held.
func TestSQS24_FIFODelayIsTheQueues(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.cloud = newCloud(t, awstest.New(awstest.Config{}), "work")
		r.cloud.useFIFO("60", 1000)
		r.cfg.Workers = 1
		var second time.Time
		r.handle = func(_ context.Context, op *dedupe.Operation, _ order) (string, error) {
			if op.Key().ID == "a1" {
				if r.ran("a1") == 1 {
					return "", dedupe.RetryAfter(errPlain, 5*time.Minute)
				}
				second = time.Now()
			}
			return "done", nil
		}
		began := time.Now()
		ids := r.cloud.toGroup("a", "a1", "a2")
		workers := []*worker{r.start(), r.start()}
		elapse(2 * time.Minute)
		r.cloud.toGroup("b", "b1")
		elapse(time.Second)
		r.wantRuns("b1", 1)
		for _, w := range workers {
			if h := w.Health(); h.Held != 0 || h.Running != 0 {
				t.Errorf("health %+v, want nothing held", h)
			}
		}
		for _, m := range r.cloud.left() {
			if m.Receives != 1 || m.VisibleAt.Sub(began) < 5*time.Minute {
				t.Errorf("%+v, want it hidden by the queue for five minutes", m)
			}
		}
		elapse(10 * time.Minute)
		for _, w := range workers {
			w.stop()
		}
		if d := second.Sub(began); d < 5*time.Minute || d > 5*time.Minute+5*time.Second {
			t.Errorf("the second attempt came after %v, want five minutes", d)
		}
		r.wantRuns("a1", 2)
		r.wantRuns("a2", 1)
		if es := r.told(ids[0]); len(es) != 2 {
			t.Errorf("told %+v, want two deliveries", es)
		}
		r.cloud.wantEmpty()
	})
}
