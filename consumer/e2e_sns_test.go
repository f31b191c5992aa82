package consumer_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	adapter "github.com/claimonce/claimonce/adapters/sqs"
	"github.com/claimonce/claimonce/consumer"
	"github.com/claimonce/claimonce/dedupe"
)

// notification is a message as SNS delivers it without raw delivery.
func notification(t *testing.T, key, body string) string {
	t.Helper()
	text, err := json.Marshal(map[string]any{
		"Type": "Notification", "MessageId": "b2f1", "TopicArn": "arn:aws:sns:eu-west-1:000000000000:work", "Message": body,
		"Timestamp": time.Now().UTC().Format("2006-01-02T15:04:05.000Z"), "SignatureVersion": "1", "Signature": "EXAMPLE",
		"MessageAttributes": map[string]any{consumer.DefaultKeyAttribute: map[string]string{"Type": "String", "Value": key}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// SQS-14: one publish as a notification and as a raw message: the second one is a duplicate of the first, whichever comes first.
func TestSQS14_NotificationAndRawMessageAreOne(t *testing.T) {
	const body = "{\"amount\": 1, \"note\": \"<\u00e9>\"}"
	for name, rawFirst := range map[string]bool{"notification first": false, "raw first": true} {
		t.Run(name, func(t *testing.T) {
			inCloud(t, func(t *testing.T, r *rig) {
				r.cloud.access.Envelope = adapter.SNS
				sends := []func() string{
					func() string { return r.cloud.send(notification(t, "k", body), nil) },
					func() string { return r.cloud.keyed("k", body) },
				}
				if rawFirst {
					sends[0], sends[1] = sends[1], sends[0]
				}
				first := sends[0]()
				w := r.start()
				elapse(5 * time.Second)
				digest := r.cloud.wantState(keyOf("k"), dedupe.StateCompleted).Fingerprint
				second := sends[1]()
				elapse(5 * time.Second)
				w.stop()
				r.wantRuns("k", 1)
				if e := r.first(first); e.Disposition != consumer.Acked || !e.Ran {
					t.Errorf("told %+v of the first, want it run", e)
				}
				if e := r.first(second); e.Disposition != consumer.Acked || !e.Replayed || e.Outcome != dedupe.OutcomeReplay {
					t.Errorf("told %+v of the second, want it replayed", e)
				}
				if got := r.cloud.record(keyOf("k")).Fingerprint; got != digest {
					t.Errorf("the fingerprint changed from %v to %v", digest, got)
				}
				r.cloud.wantEmpty()
			})
		})
	}
}

// SQS-14, the other half: another request under the same key is refused in a notification as it is outside of one.
func TestSQS14_OtherRequestInANotification(t *testing.T) {
	inCloud(t, func(t *testing.T, r *rig) {
		r.cloud.access.Envelope = adapter.SNS
		r.cloud.keyed("k", `{"amount":1}`)
		w := r.start()
		elapse(5 * time.Second)
		other := notification(t, "k", `{"amount":2}`)
		r.cloud.send(other, nil)
		elapse(5 * time.Second)
		w.stop()
		r.wantRuns("k", 1)
		r.cloud.wantDead(consumer.ReasonKeyReuse, other)
	})
}

// SQS-14: with envelopes off a notification is never run without its key, and the refusal says what it most likely is.
func TestSQS14_NotificationWithEnvelopesOff(t *testing.T) {
	for name, c := range map[string]struct {
		tenant consumer.Tenant
		reason string
	}{
		"key":    {consumer.Tenant{}, consumer.ReasonMissingKey},
		"tenant": {consumer.TenantAttribute("Tenant"), consumer.ReasonMissingTenant},
	} {
		t.Run(name, func(t *testing.T) {
			inCloud(t, func(t *testing.T, r *rig) {
				r.cfg.Tenant = c.tenant
				body := notification(t, "k", `{"amount":1}`)
				r.cloud.send(body, nil)
				r.work(5 * time.Second)
				r.wantNothingRan()
				detail := r.cloud.wantDead(c.reason, body).Attributes[adapter.AttributeDetail]
				if !strings.Contains(detail, "looks like an SNS envelope: set sqs.Config.Envelope to sqs.SNS, or switch raw message delivery") {
					t.Errorf("got detail %q, want the hint", detail)
				}
			})
		})
	}
}

// A notification that can be read in two ways runs neither way.
func TestAmbiguousNotificationIsNeverRun(t *testing.T) {
	inCloud(t, func(t *testing.T, r *rig) {
		r.cloud.access.Envelope = adapter.SNS
		body := strings.Replace(notification(t, "k", `{"amount":1}`), "{", `{"Message":"{\"amount\":2}",`, 1)
		r.cloud.keyed("k", body)
		r.work(5 * time.Second)
		r.wantNothingRan()
		r.cloud.wantDead(consumer.ReasonMalformedBody, body)
	})
}

// What a topic held back for longer than the window is too old, however new it is in the queue.
func TestOldNotificationIsRefused(t *testing.T) {
	inCloud(t, func(t *testing.T, r *rig) {
		r.cloud.access.Envelope = adapter.SNS
		body := notification(t, "k", `{"amount":1}`)
		elapse(16 * 24 * time.Hour)
		r.cloud.send(body, nil)
		r.work(5 * time.Second)
		r.wantNothingRan()
		r.cloud.wantDead(consumer.ReasonOlderThanWindow, body)
	})
}
