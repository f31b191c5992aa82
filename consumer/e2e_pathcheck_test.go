package consumer_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	adapter "github.com/claimonce/claimonce/adapters/sqs"
	"github.com/claimonce/claimonce/consumer"
)

// sendCheck sends a check as an application's producer does, but for the attributes that a bridge strips.
func (c *cloud) sendCheck(check *consumer.PathCheck, stripped ...string) {
	c.t.Helper()
	attrs := map[string]types.MessageAttributeValue{}
	for _, a := range check.Attributes() {
		if !slices.Contains(stripped, a.Name) {
			attrs[a.Name] = stringValue(string(a.Value))
		}
	}
	c.send(string(check.Body()), attrs)
}

// S37: over a real queue and a real table it is seen what a bridge strips, although the key itself is among it.
func TestPathCheckInTheCloud(t *testing.T) {
	for _, observe := range []string{"", "a trial"} {
		inCloud(t, func(t *testing.T, r *rig) {
			r.cfg.Tenant, r.cfg.ObserveOnly = consumer.TenantAttribute("Tenant"), observe
			w := r.start()
			for _, stripped := range [][]string{nil, {"Tenant"}, {consumer.DefaultKeyAttribute}, {consumer.DefaultKeyAttribute, "Tenant", consumer.DefaultCreatedAtAttribute}} {
				check := newCheck(t, consumer.PathCheckConfig{TenantAttribute: "Tenant"})
				r.cloud.sendCheck(check, stripped...)
				a, err := await(t, check, r.cloud.records())
				if err != nil {
					t.Fatal(err)
				}
				for name, part := range map[string]consumer.Arrived{
					consumer.DefaultKeyAttribute: a.Key, "Tenant": a.Tenant, consumer.DefaultCreatedAtAttribute: a.CreatedAt,
				} {
					want := consumer.ArrivedEqual
					if slices.Contains(stripped, name) {
						want = consumer.ArrivedMissing
					}
					if part.State != want || part.Attribute != name {
						t.Errorf("stripped %q: %s is told as %+v, want %s", stripped, name, part, want)
					}
				}
				if a.OK() != (len(stripped) == 0) || a.SentAt.IsZero() || a.ReceivedAt.Before(a.SentAt) {
					t.Errorf("stripped %q: arrival %+v", stripped, a)
				}
			}
			elapse(time.Minute)
			w.stop()
			r.wantNoHandler()
			r.cloud.wantEmpty()
			if n := w.Counts(); n.PathChecks != 4 || n.MissingKeyRatio() != 0 {
				t.Errorf("counts %+v, want four checks and no missing key", n)
			}
		})
	}
}

// A topic without raw delivery wraps the message. A worker that opens envelopes answers; for one that does not the check is what any
// message of that path is: a dead letter without a key, and the error says to look there.
func TestPathCheckInAnEnvelope(t *testing.T) {
	for _, opens := range []bool{true, false} {
		inCloud(t, func(t *testing.T, r *rig) {
			if opens {
				r.cloud.access.Envelope = adapter.SNS
			}
			check := newCheck(t, consumer.PathCheckConfig{})
			key := string(check.Attributes()[0].Value)
			wrapped := notification(t, key, string(check.Body())) // its time is not among the attributes of the notification
			w := r.start()
			r.cloud.send(wrapped, nil)
			a, err := await(t, check, r.cloud.records())
			w.stop()
			r.wantNoHandler()
			if opens {
				if err != nil || a.Key.State != consumer.ArrivedEqual || a.CreatedAt.State != consumer.ArrivedMissing {
					t.Errorf("got %v and %v, want the key and no time", a, err)
				}
				r.cloud.wantEmpty()
				return
			}
			if err == nil || !strings.Contains(err.Error(), "wrapped") {
				t.Errorf("got %v, want an error that speaks of wrapping", err)
			}
			r.cloud.wantDead(consumer.ReasonMissingKey, wrapped)
		})
	}
}
