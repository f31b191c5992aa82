package consumer_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/claimonce/claimonce/adapters/memory"
	"github.com/claimonce/claimonce/consumer"
	"github.com/claimonce/claimonce/dedupe"
	store "github.com/claimonce/claimonce/store/memory"
)

func newCheck(t *testing.T, cfg consumer.PathCheckConfig) *consumer.PathCheck {
	t.Helper()
	check, err := consumer.NewPathCheck(operation, cfg)
	if err != nil {
		t.Fatal(err)
	}
	return check
}

// checkMessage is what the application sends.
func checkMessage(check *consumer.PathCheck) consumer.Message {
	return consumer.Message{ID: "check", Attributes: check.Attributes(), Body: check.Body(), SentAt: time.Now()}
}

// await asks for a minute.
func await(t *testing.T, check *consumer.PathCheck, s dedupe.Store) (consumer.Arrival, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	return check.Await(ctx, s)
}

func (r *rig) wantNoHandler() {
	r.t.Helper()
	if ids := r.order(); len(ids) != 0 {
		r.t.Errorf("handlers ran for %q, want none", ids)
	}
}

// What a path does to the message is told for key, tenant and time, whatever is left of them, and the handler is not run.
func TestPathCheckTellsWhatArrived(t *testing.T) {
	const equal, missing, changed = consumer.ArrivedEqual, consumer.ArrivedMissing, consumer.ArrivedChanged
	strip := func(names ...string) func(*consumer.Message) {
		return func(m *consumer.Message) {
			m.Attributes = slices.DeleteFunc(m.Attributes, func(a consumer.Attribute) bool { return slices.Contains(names, a.Name) })
		}
	}
	edit := func(f func(*consumer.Attribute)) func(*consumer.Message) {
		return func(m *consumer.Message) {
			for i := range m.Attributes {
				f(&m.Attributes[i])
			}
		}
	}
	for _, c := range []struct {
		name              string
		bridge            func(*consumer.Message)
		cfg               func(*consumer.Config)
		key, tenant, time consumer.ArrivalState
	}{
		{"nothing", func(*consumer.Message) {}, nil, equal, equal, equal},
		{"other case of names", edit(func(a *consumer.Attribute) { a.Name = strings.ToUpper(a.Name) }), nil, equal, equal, equal},
		{"all stripped", attrs(), nil, missing, missing, missing},
		{"key stripped", strip(consumer.DefaultKeyAttribute), nil, missing, equal, equal},
		{"tenant stripped", strip("Tenant"), nil, equal, missing, equal},
		{"time stripped", strip(consumer.DefaultCreatedAtAttribute), nil, equal, equal, missing},
		{"values quoted", edit(func(a *consumer.Attribute) { a.Value = fmt.Appendf(nil, "%q", a.Value) }), nil, changed, changed, changed},
		{"declared binary", edit(func(a *consumer.Attribute) { a.Binary = true }), nil, changed, changed, changed},
		{"names changed", edit(func(a *consumer.Attribute) { a.Name = "X-" + a.Name }), nil, missing, missing, missing},
		{
			"old name", edit(func(a *consumer.Attribute) { a.Name = strings.Replace(a.Name, "Idempotency", "X-Idempotency", 1) }),
			func(c *consumer.Config) { c.OldKeyAttribute = "X-Idempotency-Key" }, equal, equal, equal,
		},
		{"message id as key", func(*consumer.Message) {}, func(c *consumer.Config) { c.MessageIDAsKey = true }, consumer.ArrivedIgnored, equal, equal},
		{"fixed tenant", func(*consumer.Message) {}, func(c *consumer.Config) { c.Tenant = consumer.FixedTenant("acme") }, equal, consumer.ArrivedIgnored, equal},
		{"body written anew", func(m *consumer.Message) {
			var v map[string]any
			if err := json.Unmarshal(m.Body, &v); err != nil {
				panic(err)
			}
			m.Body, _ = json.MarshalIndent(v, "", "\t") // sorted names, other white space
		}, nil, equal, equal, equal},
	} {
		for _, observe := range []string{"", "a trial"} {
			t.Run(c.name+" "+observe, func(t *testing.T) {
				inBubble(t, func(t *testing.T, r *rig) {
					log := &page{}
					r.cfg.Logger = slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))
					r.cfg.Tenant, r.cfg.ObserveOnly = consumer.TenantAttribute("Tenant"), observe
					if c.cfg != nil {
						c.cfg(&r.cfg)
					}
					check := newCheck(t, consumer.PathCheckConfig{TenantAttribute: "Tenant"})
					m := checkMessage(check)
					c.bridge(&m)
					r.queue.send(m)
					w := r.start()
					a, err := await(t, check, r.store)
					w.stop()
					if err != nil {
						t.Fatal(err)
					}
					if a.Key.State != c.key || a.Tenant.State != c.tenant || a.CreatedAt.State != c.time {
						t.Errorf("got key %+v, tenant %+v, time %+v; want %s, %s, %s", a.Key, a.Tenant, a.CreatedAt, c.key, c.tenant, c.time)
					}
					if want := c.key == equal && c.tenant == equal && c.time == equal; a.OK() != want || strings.Contains(a.String(), "not all arrived") == want {
						t.Errorf("OK is %v, want %v:\n%s", a.OK(), want, a)
					}
					if a.Operation != operation || len(a.Attributes) != len(m.Attributes) || a.Receives != 1 || a.SentAt.IsZero() {
						t.Errorf("arrival %+v, want the operation, the names of attributes and the broker's word", a)
					}
					r.wantNoHandler()
					r.wantEmpty()
					if e := r.first("check"); !e.PathCheck || e.Disposition != consumer.Acked || e.WouldHave != (consumer.Verdict{}) {
						t.Errorf("told %+v, want a path check that was acked", e)
					}
					if n := w.Counts(); n.PathChecks != 1 || n.MissingKeys != 0 || n.Ran != 0 {
						t.Errorf("counts %+v, want one path check and nothing else", n)
					}
					for _, secret := range m.Attributes {
						if strings.Contains(log.String()+a.String(), string(secret.Value)) {
							t.Errorf("the value of %s is told:\n%s%s", secret.Name, log, a)
						}
					}
				})
			})
		}
	}
}

// Another delivery of it is acked, and the first answer stands.
func TestPathCheckIsAnsweredOnce(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		check := newCheck(t, consumer.PathCheckConfig{})
		again := checkMessage(check)
		again.ID, again.Attributes = "again", nil
		w := r.start()
		r.queue.send(checkMessage(check))
		elapse(time.Second)
		r.queue.send(again)
		elapse(time.Second)
		w.stop()
		r.wantEmpty()
		if a, err := await(t, check, r.store); err != nil || !a.OK() || a.Tenant.State != consumer.ArrivedUnused {
			t.Errorf("got %v and %v, want the first answer", a, err)
		}
	})
}

// A store that is out for a while delays the answer; the message is kept meanwhile.
func TestPathCheckWaitsForTheStore(t *testing.T) {
	for _, observe := range []string{"", "a trial"} {
		inBubble(t, func(t *testing.T, r *rig) {
			r.cfg.ObserveOnly = observe
			r.store.fail(errBroken)
			check := newCheck(t, consumer.PathCheckConfig{})
			r.queue.send(checkMessage(check))
			w := r.start()
			elapse(20 * time.Second)
			r.wantNoHandler()
			r.store.script(nil, nil)
			elapse(2 * time.Minute) // in observe-only mode each try of the outage was a receive, and lengthened the next wait
			if a, err := await(t, check, r.store); err != nil || !a.OK() {
				t.Errorf("got %v and %v, want the answer after the outage", a, err)
			}
			elapse(time.Minute)
			w.stop()
			r.wantEmpty()
		})
	}
}

// A tenant that the worker asks for and the check does not send is told as that.
func TestPathCheckWithoutTheTenantThatIsAskedFor(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.cfg.Tenant = consumer.TenantAttribute("Tenant")
		check := newCheck(t, consumer.PathCheckConfig{})
		r.queue.send(checkMessage(check))
		w := r.start()
		a, err := await(t, check, r.store)
		w.stop()
		if err != nil || a.Tenant.State != consumer.ArrivedMissing || !strings.Contains(a.String(), "TenantAttribute") {
			t.Errorf("got %v and %v, want what to set", a, err)
		}
	})
}

// Where no worker answers, the error says where to look, and a later try may succeed.
func TestPathCheckSaysWhereToLook(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		check := newCheck(t, consumer.PathCheckConfig{})
		_, err := await(t, check, r.store)
		if !errors.Is(err, consumer.ErrNotArrived) || !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("got %v, want not arrived in time", err)
		}
		for _, want := range []string{`"pay"`, "1m0s", "dead letters", "filter policies", "workers of this operation run", "this store"} {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("the error does not say %q: %v", want, err)
			}
		}
		if n := r.store.asked(); n < 20 || n > 60 {
			t.Errorf("the store was asked %d times in a minute, want a back-off to two seconds", n)
		}
		r.store.fail(errBroken)
		if _, err := await(t, check, r.store); !errors.Is(err, errBroken) || !errors.Is(err, consumer.ErrNotArrived) {
			t.Errorf("got %v, want the store's own error in it", err)
		}
		r.store.fail(dedupe.ErrSetup)
		if _, err := await(t, check, r.store); !errors.Is(err, dedupe.ErrSetup) || errors.Is(err, consumer.ErrNotArrived) {
			t.Errorf("got %v, want it to end at once with what only a person can mend", err)
		}
		r.store.script(nil, nil)
		r.queue.send(checkMessage(check))
		w := r.start()
		if a, err := await(t, check, r.store); err != nil || !a.OK() {
			t.Errorf("got %v and %v, want the answer", a, err)
		}
		w.stop()
	})
}

// A worker that had the message and could not answer is told from none at all.
func TestPathCheckTellsOfAnAnswerOnItsWay(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.store.script(func(call, _ string, _ dedupe.Record) error {
			if call == "swap completed" {
				return errBroken
			}
			return nil
		}, nil)
		check := newCheck(t, consumer.PathCheckConfig{})
		r.queue.send(checkMessage(check))
		w := r.start()
		_, err := await(t, check, r.store)
		if !errors.Is(err, consumer.ErrNotArrived) || !strings.Contains(err.Error(), "the message arrived") {
			t.Errorf("got %v, want that it arrived", err)
		}
		r.store.script(nil, nil)
		if a, err := await(t, check, r.store); err != nil || !a.OK() {
			t.Errorf("got %v and %v, want the answer", a, err)
		}
		w.stop()
		r.wantEmpty()
	})
}

// Only the strict form is a check: what an application sends is never swallowed.
func TestPathCheckSwallowsNothingElse(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		form := string(newCheck(t, consumer.PathCheckConfig{}).Body())
		for i, body := range []string{
			`{"amount":1,"claimonce-path-check":"AAAAAAAAAAAAAAAAAAAAAA"}`,
			`{"claimonce-path-check":"AAAAAAAAAAAAAAAAAAAAAA"}`,
			`{"claimonce-path-check":"AAAAAAAAAAAAAAAAAAAAAA","amount":1}`,
			strings.Replace(form, `"tenant":""`, `"tenant":1`, 1),
			strings.Replace(form, `"tenant":""`, `"tenant":"","other":"1"`, 1),
			strings.Replace(form, `"tenant":""`, `"other":""`, 1),
			strings.Replace(form, `"operation":"pay"`, `"operation":""`, 1),
			strings.Replace(form, `"created-at":"2`, `"created-at":"x2`, 1),
			strings.Replace(form, `path-check":"`, `path-check":"A`, 1),
			strings.Replace(form, `"claimonce-path-check"`, `"claimonce-path-checks"`, 1),
		} {
			if body == form {
				t.Fatalf("body %d is a check's", i)
			}
			r.queue.send(message(fmt.Sprint("k", i), body))
		}
		r.handle = func(context.Context, *dedupe.Operation, order) (string, error) { return "done", nil }
		w := r.start()
		elapse(time.Second)
		w.stop()
		if n := w.Counts(); n.PathChecks != 0 || n.Ran != 10 {
			t.Errorf("counts %+v, want ten messages run as any other", n)
		}
	})
}

func TestPathCheckRefusesWhatCannotBeSent(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		operation string
		cfg       consumer.PathCheckConfig
		want      string
	}{
		{"", consumer.PathCheckConfig{}, "operation"},
		{"pay", consumer.PathCheckConfig{Tenant: "acme"}, "TenantAttribute"},
		{"pay", consumer.PathCheckConfig{TenantAttribute: "T", Tenant: strings.Repeat("t", 129)}, "tenant"},
	} {
		if _, err := consumer.NewPathCheck(c.operation, c.cfg); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q %+v: got %v, want an error that names %s", c.operation, c.cfg, err, c.want)
		}
	}
	a, b := newCheck(t, consumer.PathCheckConfig{}), newCheck(t, consumer.PathCheckConfig{})
	if string(a.Body()) == string(b.Body()) {
		t.Error("two checks have one body")
	}
}

// Over the queue and the store in memory, by their own doors.
func TestPathCheckInMemory(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		queue, records := memory.New(memory.Config{}), store.New()
		w, err := consumer.New(operation, queue.Source(), records, consumer.JSON(r.run), consumer.Config{
			OnAbandoned: dedupe.Reconcile, Tenant: consumer.TenantAttribute("Tenant"),
		})
		if err != nil {
			t.Fatal(err)
		}
		running := startWorker(t, w)
		for _, stripped := range []bool{false, true} {
			check := newCheck(t, consumer.PathCheckConfig{TenantAttribute: "Tenant", Tenant: "acme"})
			m := memory.Message{Body: check.Body(), Attributes: map[string]string{}}
			for _, a := range check.Attributes() {
				if !stripped || a.Name != "Tenant" {
					m.Attributes[a.Name] = string(a.Value)
				}
			}
			queue.Send(m)
			if a, err := await(t, check, records); err != nil || a.OK() == stripped {
				t.Errorf("stripped %v: got %v and %v", stripped, a, err)
			}
		}
		running.stop()
		if queue.Len() != 0 || len(queue.DeadLetters()) != 0 {
			t.Error("a check is left in the queue or among the dead letters")
		}
		r.wantNoHandler()
	})
}
