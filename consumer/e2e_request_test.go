package consumer_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/claimonce/claimonce/consumer"
	"github.com/claimonce/claimonce/dedupe"
)

// FPR-13: a fresh process gets the same key with the same request and with another one, in both orders, in every state.
func TestFPR13_KeyReusedForAnotherRequest(t *testing.T) {
	same, other := `{"amount":1}`, `{"amount":2}`
	for _, c := range []struct {
		name   string
		state  dedupe.State
		handle func(context.Context, *dedupe.Operation, order) (string, error)
	}{
		{"in progress elsewhere", dedupe.StateInProgress, nil},
		{"completed", dedupe.StateCompleted, nil},
		{"failed", dedupe.StateFailed, func(context.Context, *dedupe.Operation, order) (string, error) {
			return "", dedupe.Permanent(errors.New("declined"))
		}},
		{"released", dedupe.StateReleased, func(context.Context, *dedupe.Operation, order) (string, error) {
			return "", dedupe.RetryAfter(errPlain, time.Hour)
		}},
	} {
		for _, bodies := range [][]string{{same, other}, {other, same}} {
			if c.state == dedupe.StateReleased {
				bodies = []string{other} // the same request may run again
			}
			t.Run(fmt.Sprintf("%s, then %s", c.name, bodies[0]), func(t *testing.T) {
				inCloud(t, func(t *testing.T, r *rig) {
					if c.handle != nil {
						r.handle = c.handle
					}
					var mismatches atomic.Int32
					r.cfg.Ledger.Observe = func(_ context.Context, o dedupe.Observation) {
						if o.Outcome == dedupe.OutcomeMismatch {
							mismatches.Add(1)
						}
					}
					runs := 1
					if c.state == dedupe.StateInProgress {
						die(t, r, "k")
						runs = 0
					} else {
						r.cloud.keyed("k", same)
						r.work(5 * time.Second)
					}
					before := r.cloud.wantState(keyOf("k"), c.state)
					w := r.start() // a process that has seen nothing
					for _, b := range bodies {
						r.cloud.keyed("k", b)
						elapse(time.Second)
					}
					after := r.cloud.record(keyOf("k"))
					if after.Fingerprint != before.Fingerprint || after.State != before.State || after.Attempt != before.Attempt {
						t.Errorf("the record was changed from %+v to %+v", before, after)
					}
					r.cloud.wantDead(consumer.ReasonKeyReuse, other)
					r.wantRuns("k", runs)
					if n := mismatches.Load(); n != 1 {
						t.Errorf("%d mismatches observed, want 1", n)
					}
					w.stop()
				})
			})
		}
	}
}

// FPR-16: fields that change on each retry make a mismatch, unless they are named as volatile.
func TestFPR16_VolatileFields(t *testing.T) {
	first := `{"amount":1,"sent_at":"10:00","trace":{"id":"a"},"items":[{"id":1,"updated":1},{"id":2,"updated":2}]}`
	retry := `{"amount":1,"sent_at":"10:05","trace":{"id":"b"},"items":[{"id":1,"updated":7},{"id":2,"updated":8}]}`
	changed := `{"amount":1,"sent_at":"10:00","trace":{"id":"a"},"items":[{"id":1,"updated":1},{"id":3,"updated":2}]}`
	volatile := []string{"/sent_at", "/trace/id", "/items/*/updated", "/no/such/path"}
	for _, c := range []struct {
		name     string
		volatile []string
		second   string
		replayed bool
	}{
		{"without", nil, retry, false},
		{"with", volatile, retry, true},
		{"with, another field changed", volatile, changed, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			inCloud(t, func(t *testing.T, r *rig) {
				r.cfg.Ledger.Fingerprint.Volatile = c.volatile
				r.cloud.keyed("k", first)
				w := r.start()
				elapse(time.Second)
				id := r.cloud.keyed("k", c.second)
				elapse(time.Second)
				w.stop()
				r.wantRuns("k", 1)
				if e := r.first(id); e.Replayed != c.replayed {
					t.Errorf("told %+v, want replayed %v", e, c.replayed)
				}
				if !c.replayed {
					r.cloud.wantDead(consumer.ReasonKeyReuse, c.second)
				}
			})
		})
	}
}

func TestFPR16_ExcludingEverythingIsRefused(t *testing.T) {
	inCloud(t, func(t *testing.T, r *rig) {
		r.cfg.Ledger.Fingerprint.Volatile = []string{"/amount"}
		r.cloud.keyed("k", `{"amount":1}`)
		r.work(time.Second)
		r.wantRuns("k", 0)
		r.cloud.wantDead(consumer.ReasonMalformedBody, `{"amount":1}`)
	})
}

// FPR-19: a corrected message under the same key is refused loudly; forgetting the record, or a new key, lets it run once.
func TestFPR19_CorrectedMessage(t *testing.T) {
	bad, fixed := `{"amount":0}`, `{"amount":5}`
	for _, state := range []dedupe.State{dedupe.StateCompleted, dedupe.StateFailed} {
		t.Run(state.String(), func(t *testing.T) {
			inCloud(t, func(t *testing.T, r *rig) {
				r.handle = func(_ context.Context, _ *dedupe.Operation, o order) (string, error) {
					if o.Amount == 0 && state == dedupe.StateFailed {
						return "", dedupe.Permanent(errors.New("no amount"))
					}
					return fmt.Sprint("paid ", o.Amount), nil
				}
				w := r.start()
				r.cloud.keyed("k", bad)
				elapse(time.Second)
				r.cloud.wantState(keyOf("k"), state)
				r.cloud.keyed("k", fixed)
				elapse(time.Second)
				r.cloud.wantDead(consumer.ReasonKeyReuse, fixed)
				r.wantRuns("k", 1)
				r.cloud.keyed("k-2", fixed) // a new key
				_, err := w.Ledger().Override(t.Context(), seen(t, w.Ledger(), keyOf("k")), dedupe.Override{
					Action: dedupe.ActionForget, Operator: "anna", Reason: "wrong amount", Resend: "the shop",
				})
				if err != nil {
					t.Fatal(err)
				}
				r.cloud.keyed("k", fixed)
				r.cloud.keyed("k", fixed)
				elapse(time.Minute)
				w.stop()
				r.wantRuns("k", 2)
				r.wantRuns("k-2", 1)
				if rec := r.cloud.wantState(keyOf("k"), dedupe.StateCompleted); rec.Result == nil || string(rec.Result.Body) != `"paid 5"` {
					t.Errorf("record %+v, want the corrected result", rec)
				}
			})
		})
	}
}

// KEY-01: messages without a usable key are no duplicates of each other: each is refused by itself.
func TestKEY01_NoKey(t *testing.T) {
	inCloud(t, func(t *testing.T, r *rig) {
		for i := range 3 {
			r.cloud.send(fmt.Sprintf(`{"amount":%d}`, i), nil)
		}
		// SQS itself refuses a message attribute with an empty string.
		r.cloud.send(`{"amount":10}`, map[string]types.MessageAttributeValue{
			consumer.DefaultKeyAttribute: {DataType: aws.String("Binary"), BinaryValue: []byte("k")},
		})
		r.work(5 * time.Second)
		if ids := r.order(); len(ids) != 0 {
			t.Errorf("ran %q, want nothing", ids)
		}
		for i := range 3 {
			r.cloud.wantDead(consumer.ReasonMissingKey, fmt.Sprintf(`{"amount":%d}`, i))
		}
		r.cloud.wantDead(consumer.ReasonMalformedKey, `{"amount":10}`)
		if n := r.cloud.server.Count("PutItem"); n != 0 {
			t.Errorf("%d writes to the table, want none", n)
		}
		if got := r.cloud.left(); len(got) != 0 {
			t.Errorf("%d messages left, want each of them moved", len(got))
		}
	})
}

// KEY-02, KEY-04: blank, padded, quoted and dangerous keys never reach the record of the key that they look like.
func TestKEY02_KEY04_MalformedKeys(t *testing.T) {
	inCloud(t, func(t *testing.T, r *rig) {
		blank := []string{" ", "\t", "\n", "\u00a0", "\u200b"}
		bad := []string{
			" abc", "abc ", "\u00a0abc", `"abc"`, "'abc'", "abc\nlevel=ERROR msg=forged", "abc#1", "abc:1", "abc/1", "../abc", "abc%00", "abc\U0001F600",
		}
		for i, k := range append(append([]string{}, blank...), bad...) {
			r.cloud.keyed(k, fmt.Sprintf(`{"amount":%d}`, i))
		}
		r.cloud.keyed("abc", `{"amount":99}`)
		r.work(time.Minute)
		if ids := r.order(); len(ids) != 1 || ids[0] != "abc" {
			t.Errorf("ran %q, want abc only", ids)
		}
		for i := range blank {
			r.cloud.wantDead(consumer.ReasonMissingKey, fmt.Sprintf(`{"amount":%d}`, i))
		}
		for i, k := range bad {
			m := r.cloud.wantDead(consumer.ReasonMalformedKey, fmt.Sprintf(`{"amount":%d}`, len(blank)+i))
			for name, v := range m.Attributes {
				if name != consumer.DefaultKeyAttribute && strings.Contains(v, k) {
					t.Errorf("attribute %s quotes the raw key %q: %q", name, k, v)
				}
			}
		}
	})
}

// KEY-06: tenants never see each other's records; a message without a tenant is refused.
func TestKEY06_Tenants(t *testing.T) {
	inCloud(t, func(t *testing.T, r *rig) {
		r.cfg.Tenant = consumer.TenantAttribute("Tenant")
		var mu sync.Mutex
		results := map[string]int{}
		r.handle = func(_ context.Context, op *dedupe.Operation, o order) (string, error) {
			mu.Lock()
			results[op.Key().Tenant]++
			mu.Unlock()
			return fmt.Sprint("secret of ", op.Key().Tenant, o.Amount), nil
		}
		w := r.start()
		r.cloud.keyed("1", `{"amount":1}`, "Tenant", "A")
		elapse(time.Second)
		r.cloud.keyed("1", `{"amount":1}`, "Tenant", "B")
		r.cloud.keyed("1", `{"amount":2}`, "Tenant", "C")
		r.cloud.keyed("1", `{"amount":7}`)
		elapse(5 * time.Second)
		w.stop()
		for tenant, amount := range map[string]int{"A": 1, "B": 1, "C": 2} {
			if results[tenant] != 1 {
				t.Errorf("the handler ran %d times for tenant %s, want once", results[tenant], tenant)
			}
			rec := r.cloud.record(dedupe.Key{Tenant: tenant, Operation: operation, ID: "1"})
			if want := fmt.Sprintf("%q", fmt.Sprint("secret of ", tenant, amount)); rec.Result == nil || string(rec.Result.Body) != want {
				t.Errorf("record of tenant %s has the result %+v, want %s", tenant, rec.Result, want)
			}
		}
		r.cloud.wantDead(consumer.ReasonMissingTenant, `{"amount":7}`)
		if got := r.cloud.letters(); len(got) != 1 {
			t.Errorf("%d dead letters, want only the one without a tenant", len(got))
		}
	})
}

// KEY-08: one event for two consumers, over two queues and one table: each runs it once, and one's failure does not touch the other.
func TestKEY08_OneEventForTwoConsumers(t *testing.T) {
	inCloud(t, func(t *testing.T, charge *rig) {
		email := newRig(t)
		email.operation = "email"
		email.cloud = newCloud(t, charge.cloud.server, "mail")
		charge.handle = func(context.Context, *dedupe.Operation, order) (string, error) {
			return "", dedupe.Permanent(errors.New("declined"))
		}
		w1, w2 := charge.start(), email.start()
		for range 2 { // and duplicates
			charge.cloud.keyed("k", `{"amount":1}`)
			email.cloud.keyed("k", `{"amount":1}`)
			elapse(5 * time.Second)
		}
		w1.stop()
		w2.stop()
		charge.wantRuns("k", 1)
		email.wantRuns("k", 1)
		charge.cloud.wantState(keyOf("k"), dedupe.StateFailed)
		email.cloud.wantState(dedupe.Key{Operation: "email", ID: "k"}, dedupe.StateCompleted)
		email.cloud.wantEmpty()
	})
}

// KEY-14: an intent that is published again has another message id and the same key.
func TestKEY14_RepublishedIntent(t *testing.T) {
	inCloud(t, func(t *testing.T, r *rig) {
		w := r.start()
		first := r.cloud.keyed("k", `{"amount":1}`)
		elapse(time.Second)
		second := r.cloud.keyed("k", `{"amount":1}`)
		r.cloud.send(`{"amount":3}`, nil)
		elapse(time.Second)
		w.stop()
		if first == second {
			t.Fatal("the queue gave two messages one id")
		}
		r.wantRuns("k", 1)
		if e := r.first(second); !e.Replayed {
			t.Errorf("told %+v, want a duplicate", e)
		}
		if ids := r.order(); len(ids) != 1 {
			t.Errorf("ran %q: a message id must not stand in for a key", ids)
		}
		r.cloud.wantDead(consumer.ReasonMissingKey, `{"amount":3}`)
	})
}
