package consumer_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	adapter "github.com/claimonce/claimonce/adapters/sqs"
	"github.com/claimonce/claimonce/consumer"
	"github.com/claimonce/claimonce/dedupe"
)

// SQS-17: a message with exactly ten attributes whose handler fails for good is dead-lettered with its key, under whatever short names
// key and tenant are; moved back as it is it runs, with all ten.
func TestSQS17_TenAttributesThroughAWorker(t *testing.T) {
	inCloud(t, func(t *testing.T, r *rig) {
		r.cfg.KeyAttribute, r.cfg.Tenant, r.cfg.CreatedAtAttribute, r.cfg.OldKeyAttribute = "K", consumer.TenantAttribute("T"), "C", "O"
		r.cfg.Ledger.AttemptBound = 1
		attrs := map[string]types.MessageAttributeValue{
			"K": stringValue("k"), "T": stringValue("t"), "C": stringValue(time.Now().UTC().Format(time.RFC3339)), "O": stringValue("k"),
		}
		for i := range 6 {
			attrs[fmt.Sprint("Another-attribute-", i)] = stringValue(strings.Repeat("v", 50))
		}
		seen := 0
		r.handle = func(ctx context.Context, _ *dedupe.Operation, _ order) (string, error) {
			m := consumer.FromContext(ctx)
			for name, want := range attrs {
				if got, _, err := m.Attribute(name); err != nil || got != *want.StringValue {
					t.Errorf("the handler got %s %q, %v, want %q", name, got, err, *want.StringValue)
				}
			}
			if seen++; seen == 1 {
				return "", dedupe.NotCommitted(errPlain)
			}
			return "done", nil
		}
		r.cloud.send(`{"amount":1}`, attrs)
		r.work(time.Minute)
		r.wantRuns("k", 1)
		dead := r.cloud.takeDead(t)
		if len(dead.MessageAttributes) != 10 || !strings.Contains(*dead.MessageAttributes[adapter.AttributeAll].StringValue, consumer.ReasonExhausted) {
			t.Errorf("got attributes %v, want ten and the reason", dead.MessageAttributes)
		}
		for _, name := range []string{"K", "T", "C", "O"} {
			if _, ok := dead.MessageAttributes[name]; !ok {
				t.Errorf("%s was taken in although another would do", name)
			}
		}
		in := &sqs.SendMessageInput{QueueUrl: &r.cloud.queue, MessageBody: dead.Body, MessageAttributes: dead.MessageAttributes}
		if _, err := r.cloud.sqs.SendMessage(t.Context(), in); err != nil {
			t.Fatal(err)
		}
		r.work(time.Minute)
		r.wantRuns("k", 2)
		r.cloud.wantState(dedupe.Key{Tenant: "t", Operation: operation, ID: "k"}, dedupe.StateCompleted)
		r.cloud.wantEmpty()
	})
}

// LIF-10: the queue answers a long poll with ten messages 200 ms after the stop. They are given back at once, whatever the visibility, so
// that another worker has them within seconds, and no record is left behind.
func TestLIF10_PollThatIsAnsweredAfterTheStop(t *testing.T) {
	inCloud(t, func(t *testing.T, r *rig) {
		r.cloud.access.Visibility = 10 * time.Minute
		r.cfg.Drain = 5 * time.Second
		one := r.start()
		elapse(5 * time.Second) // in the middle of a poll
		stopped := make(chan time.Duration, 1)
		go func() { stopped <- one.stop() }()
		elapse(200 * time.Millisecond)
		var keys []string
		for i := range 10 {
			keys = append(keys, fmt.Sprint("k", i))
			r.cloud.keyed(keys[i], `{"amount":1}`)
		}
		if took := <-stopped; took > 5*time.Second {
			t.Errorf("the stop took %v", took)
		}
		r.wantNothingRan()
		for _, k := range keys {
			r.cloud.wantState(keyOf(k), dedupe.StateAbsent)
		}
		two := r.start()
		elapse(2 * time.Second)
		for _, k := range keys {
			r.wantRuns(k, 1)
		}
		two.stop()
		r.cloud.wantEmpty()
	})
}
