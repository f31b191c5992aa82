package consumer_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	adapter "github.com/claimonce/claimonce/adapters/sqs"
	"github.com/claimonce/claimonce/consumer"
	"github.com/claimonce/claimonce/dedupe"
)

// maxReceives sets the queue's own bound of deliveries.
func (c *cloud) maxReceives(n int) {
	c.t.Helper()
	policy, err := json.Marshal(map[string]any{"deadLetterTargetArn": c.arn(c.dead), "maxReceiveCount": n})
	if err != nil {
		c.t.Fatal(err)
	}
	_, err = c.sqs.SetQueueAttributes(c.t.Context(), &sqs.SetQueueAttributesInput{
		QueueUrl: &c.queue, Attributes: map[string]string{"RedrivePolicy": string(policy)},
	})
	if err != nil {
		c.t.Fatal(err)
	}
}

// On a queue as teams have it, whose policy moves a message away after three receives, only what fails three times is moved, by the queue
// itself. Then the usual mode is switched on, and knows what was completed.
func TestObserveOnlyInTheCloud(t *testing.T) {
	inCloud(t, func(t *testing.T, r *rig) {
		r.cloud.maxReceives(3)
		r.cfg.OnAbandoned, r.cfg.ObserveOnly = dedupe.RerunUnlessBegun, "a trial"
		r.handle = func(ctx context.Context, op *dedupe.Operation, o order) (string, error) {
			if _, err := op.Begin(ctx, "charge"); err != nil {
				return "", err
			}
			if o.Amount == 13 {
				return "", errPlain
			}
			return "done", wait(ctx, 20*time.Second) // longer than a third of the visibility
		}
		w := r.start()
		for range 3 {
			r.cloud.keyed("k", `{"amount":1}`)
			r.cloud.keyed("k", `{"amount":2}`)
			r.cloud.send(`{"amount":1}`, map[string]types.MessageAttributeValue{})
		}
		r.cloud.keyed("poison", `{"amount":13}`)
		r.cloud.keyed("garbled", `no JSON`)
		elapse(5 * time.Minute)
		w.stop()
		if n := len(r.order()); n != 9+3 {
			t.Errorf("handlers ran %d times, want once for each message and three times for the poisoned one", n)
		}
		if left, dead := r.cloud.left(), r.cloud.letters(); len(left) != 0 || len(dead) != 2 {
			t.Errorf("%d messages are left and %d dead, want none and the two that fail", len(left), len(dead))
		}
		for _, m := range r.cloud.letters() {
			if m.Attributes[adapter.AttributeReason] != "" {
				t.Errorf("a dead letter of claimonce's own: %+v", m)
			}
		}
		n := w.Counts()
		if n.WouldHave.Withheld[consumer.ReasonMissingKey] != 3 || n.WouldHave.Withheld[consumer.ReasonKeyReuse] != 3 || n.Nacked != 6 {
			t.Errorf("counts\n%s", n)
		}
		done := r.cloud.record(keyOf("k"))
		if done.State != dedupe.StateCompleted {
			t.Fatalf("the record is %s, want it completed", done.State)
		}

		r.cfg.ObserveOnly = ""
		r.cloud.maxReceives(100)
		before := len(r.order())
		one, other := r.cloud.keyed("k", `{"amount":1}`), r.cloud.keyed("k", `{"amount":2}`)
		r.work(time.Minute)
		if len(r.order()) != before {
			t.Error("the usual mode ran what was completed while it was observed")
		}
		if a, b := r.first(one), r.first(other); a.Replayed == b.Replayed || a.Reason+b.Reason != consumer.ReasonKeyReuse {
			t.Errorf("told %+v and %+v, want one replayed and the other refused", a, b)
		}
	})
}
