package consumer_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/claimonce/claimonce/consumer"
	"github.com/claimonce/claimonce/dedupe"
)

const (
	secretKey  = "jane@example.com-4242"
	secretCard = "4000056655665556"
)

const secret = `{"amount":1,"card":"` + secretCard + `"}`

// secretly is an abandoned record of the secret request.
func (r *rig) secretly(mode dedupe.Mode, attempt int) dedupe.Record {
	rec := r.abandoned(secretKey, mode, attempt)
	req, err := r.consumer().Ledger().Request(rec.Key, []byte(secret))
	if err != nil {
		r.t.Fatal(err)
	}
	rec.Fingerprint = req.Digest
	return rec
}

// OPS-08: neither the raw key nor the payload reaches a log line, an event, an error or a dead letter's attributes, whatever goes wrong.
func TestOPS08_NothingSecretLeaksOut(t *testing.T) {
	for _, c := range []struct {
		name  string
		fault func(*rig) // before the worker starts
	}{
		{"no fault", func(*rig) {}},
		{"store error", func(r *rig) {
			r.store.fail(errBroken)
			time.AfterFunc(time.Minute, func() { r.store.fail(nil) })
		}},
		{"newer schema", func(r *rig) {
			rec := r.abandoned(secretKey, dedupe.Rerun, 1)
			rec.Schema++
			r.store.put(rec)
		}},
		{"mismatch", func(r *rig) {
			rec := r.abandoned(secretKey, dedupe.Rerun, 1)
			rec.Fingerprint = strings.Repeat("x", 20)
			r.store.put(rec)
		}},
		{"exhausted", func(r *rig) {
			r.store.put(r.secretly(dedupe.Rerun, 9))
		}},
		{"abandoned", func(r *rig) { r.store.put(r.secretly(dedupe.Reconcile, 1)) }},
		{"lease lost", func(r *rig) {
			r.handle = func(ctx context.Context, _ *dedupe.Operation, _ order) (string, error) {
				rec := r.store.record(keyOf(secretKey))
				rec.Owner, rec.Revision = "another", "r9"
				r.store.put(rec)
				<-ctx.Done()
				return "", ctx.Err()
			}
		}},
		{"panic", func(r *rig) {
			r.handle = func(context.Context, *dedupe.Operation, order) (string, error) { panic(secret + secretKey) }
		}},
		{"completion fails", func(r *rig) {
			r.store.script(func(call, _ string, _ dedupe.Record) error {
				if call == "swap completed" {
					return errBroken
				}
				return nil
			}, nil)
		}},
		{"dead letter fails", func(r *rig) {
			r.store.put(r.secretly(dedupe.Rerun, 9))
			r.queue.faults.deadLetter = func(*consumer.Message) error { return errBroken }
		}},
		{"extend, ack and nack fail", func(r *rig) {
			r.handle = func(ctx context.Context, _ *dedupe.Operation, _ order) (string, error) {
				if r.ran(secretKey) == 1 {
					return "", errPlain
				}
				return secretCard, wait(ctx, time.Minute)
			}
			fail := func(*consumer.Message) error { return errBroken }
			r.queue.faults.extend, r.queue.faults.ack, r.queue.faults.nack = fail, fail, fail
		}},
		{"malformed key", func(r *rig) { r.cfg.Ledger.KeyCharacters = "" }},
		{"malformed body", func(r *rig) { r.queue.entries[0].m.Body = []byte(`{"amount":"` + secretCard + `"`) }},
		{"wrong type", func(r *rig) { r.queue.entries[0].m.Body = []byte(`{"amount":"` + secretCard + `"}`) }},
		{"number that is no int", func(r *rig) { r.queue.entries[0].m.Body = []byte(`{"amount":` + secretCard + `9999999999}`) }},
		{"malformed time", func(r *rig) { created(secretCard)(&r.queue.entries[0].m) }},
		{"key twice", func(r *rig) {
			m := &r.queue.entries[0].m
			m.Attributes = append(m.Attributes, attr("idempotency-key", secretCard))
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, r *rig) {
				var out page
				r.cfg.Logger = slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug}))
				r.cfg.Ledger.KeyCharacters = "@."
				r.cfg.Observe = func(_ context.Context, e consumer.Event) { fmt.Fprintf(&out, "event %+v %#v\n", e, e) }
				r.cfg.Ledger.Observe = func(_ context.Context, o dedupe.Observation) { fmt.Fprintf(&out, "observation %+v %#v\n", o, o) }
				m := message(secretKey, secret)
				m.ID = "m"
				r.queue.send(m)
				c.fault(r)
				w := r.start()
				elapse(5 * time.Minute)
				fmt.Fprintf(&out, "health %+v\n", w.Health())
				w.stop()
				for _, d := range r.queue.letters() {
					fmt.Fprintf(&out, "dead letter %+v\n", d.DeadLetter)
				}
				if len(r.told("m")) == 0 && c.name != "store error" {
					t.Error("nothing became of the message")
				}
				for _, s := range []string{secretKey, "jane", secretCard} {
					if i := strings.Index(out.String(), s); i >= 0 {
						t.Errorf("%q is in: …%s…", s, out.String()[max(0, i-200):min(len(out.String()), i+100)])
					}
				}
			})
		})
	}
}

// What is said of a message always names its key by the hash that people can search for.
func TestEventsNameTheKeyByItsHash(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		var log page
		r.cfg.Logger = slog.New(slog.NewTextHandler(&log, nil))
		r.handle = func(context.Context, *dedupe.Operation, order) (string, error) {
			return "", dedupe.Permanent(errors.New("declined"))
		}
		r.queue.send(message("k", `{"amount":1}`))
		r.work(time.Second)
		if want := "key_hash=" + keyOf("k").Hash(); !strings.Contains(log.String(), want) {
			t.Errorf("the log does not say %s: %s", want, log.String())
		}
	})
}
