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
	"github.com/claimonce/claimonce/dedupe/fingerprint"
)

func TestNewReportsAllProblemsAtOnce(t *testing.T) {
	t.Parallel()
	_, err := consumer.New("", nil, nil, consumer.Handler{}, consumer.Config{
		Workers: -1, Drain: -1, Backoff: time.Hour, BackoffMax: time.Minute, PendingBackoff: 3 * time.Hour, PendingBackoffMax: time.Hour,
		PendingBound: -1, Tenant: consumer.TenantAttribute(""), Ledger: dedupe.Config{Lease: -1, KeyCharacters: " "},
	})
	if err == nil {
		t.Fatal("everything was accepted")
	}
	for _, want := range []string{
		"the operation name is empty", "the source is nil", "the store is nil", "the handler is empty", "Workers is -1", "Drain is", "BackoffMax (1m0s) is below Backoff (1h0m0s)",
		"PendingBackoffMax (1h0m0s) is below", "PendingBound is", "Tenant is set to an empty name", "OnAbandoned is required", "Lease is", "KeyCharacters",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("the error does not say %q:\n%v", want, err)
		}
	}
}

func TestNewRefuses(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		operation string
		change    func(*consumer.Config)
		want      string
	}{
		"operation too long": {strings.Repeat("o", 129), nil, "129 bytes, at most 128"},
		"tenant too long":    {"pay", func(c *consumer.Config) { c.Tenant = consumer.FixedTenant(strings.Repeat("t", 129)) }, "129 bytes, at most 128"},
		"operation no UTF-8": {"pay\xff", nil, "not valid UTF-8"},
		"fixed tenant empty": {"pay", func(c *consumer.Config) { c.Tenant = consumer.FixedTenant("") }, "empty name"},
		"no mode":            {"pay", func(c *consumer.Config) { c.OnAbandoned = 0 }, "RerunUnlessBegun"},
		"two modes":          {"pay", func(c *consumer.Config) { c.Ledger.OnAbandoned = dedupe.Reconcile }, "differ"},
		"negative pending":   {"pay", func(c *consumer.Config) { c.PendingBackoff = -1 }, "PendingBackoff is"},
		"renewal too rare":   {"pay", func(c *consumer.Config) { c.Ledger.RenewEvery = 50 * time.Second }, "RenewEvery"},
		"select of a raw body": {"pay", func(c *consumer.Config) {
			c.Ledger.Fingerprint.Format = fingerprint.Raw
			c.Ledger.Fingerprint.Select = "/a"
		}, "Raw"},
		"skew margin too small":   {"pay", func(c *consumer.Config) { c.Ledger.SkewMargin = time.Second }, "SkewMargin"},
		"negative settle time":    {"pay", func(c *consumer.Config) { c.Ledger.SettleFor = -1 }, "SettleFor"},
		"volatile is no pointer":  {"pay", func(c *consumer.Config) { c.Ledger.Fingerprint.Volatile = []string{"sent_at"} }, "Volatile"},
		"replaying set-cookie":    {"pay", func(c *consumer.Config) { c.Ledger.ReplayHeaders = []string{"Set-Cookie"} }, "Set-Cookie"},
		"attempt bound below one": {"pay", func(c *consumer.Config) { c.Ledger.AttemptBound = -1 }, "AttemptBound"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := consumer.Config{OnAbandoned: dedupe.Rerun}
			if c.change != nil {
				c.change(&cfg)
			}
			_, err := consumer.New(c.operation, newQueue(time.Second), newRegister(), noop(), cfg)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("New returned %v, want an error that says %q", err, c.want)
			}
		})
	}
}

func noop() consumer.Handler {
	return consumer.JSON(func(context.Context, *dedupe.Operation, order) (string, error) { return "", nil })
}

// redelivering is a source that knows its longest redelivery and recommends a window.
type redelivering struct {
	*queue

	longest, window time.Duration
	err             error
}

func (s redelivering) MaxRedelivery(context.Context) (time.Duration, error) { return s.longest, s.err }
func (s redelivering) DefaultWindow() time.Duration                         { return s.window }

func TestWindowAgainstRedelivery(t *testing.T) {
	day := 24 * time.Hour
	for _, c := range []struct {
		name   string
		source redelivering
		window time.Duration
		accept string
		want   []string // parts of the error; nil: it starts
	}{
		{"recommended", redelivering{longest: 14 * day, window: 15 * day}, 0, "", nil},
		{"too short", redelivering{longest: 14 * day, window: 15 * day}, 10 * day, "", []string{"240h0m0s", "336h0m0s", "5s", "336h0m10s", "AcceptShortWindow"}},
		{"equal is too short", redelivering{longest: 4 * day}, 4*day + 10*time.Second, "", []string{"96h0m10s"}},
		{"just long enough", redelivering{longest: 4 * day}, 4*day + 11*time.Second, "", nil},
		{"accepted by name", redelivering{longest: 14 * day}, day, "a test system", nil},
		{"the broker refuses to say", redelivering{err: fmt.Errorf("%w: %w", consumer.ErrSetup, errBroken)}, 0, "", []string{errBroken.Error()}},
	} {
		t.Run(c.name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, r *rig) {
				var log page
				r.cfg.Logger = slog.New(slog.NewTextHandler(&log, nil))
				c.source.queue = r.queue
				r.src, r.cfg.Ledger.Window, r.cfg.AcceptShortWindow = c.source, c.window, c.accept
				if c.want == nil {
					r.queue.send(message("k", `{"amount":1}`))
					r.work(time.Second)
					r.wantRuns("k", 1)
					if got := strings.Contains(log.String(), c.accept); !got {
						t.Errorf("the log does not give the reason %q: %s", c.accept, log.String())
					}
					return
				}
				err := r.consumer().Run(t.Context())
				for _, part := range c.want {
					if err == nil || !strings.Contains(err.Error(), part) {
						t.Errorf("Run returned %v, want it to say %q", err, part)
					}
				}
				if r.queue.count("receive") != 0 {
					t.Error("messages were received although the set-up cannot work")
				}
			})
		})
	}
}

// checked is a source with a check.
type checked struct {
	*queue

	err error
}

func (s checked) Check(context.Context) error { return s.err }

// recovering is a source whose check fails for a while, as in a rolling deploy.
type recovering struct {
	*queue

	fails int
}

func (s *recovering) Check(context.Context) error {
	if s.fails--; s.fails >= 0 {
		return errBroken
	}
	return nil
}

func TestTroubleAtTheStartPasses(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		src := &recovering{queue: r.queue, fails: 5}
		r.src = src
		r.queue.send(message("k", `{"amount":1}`))
		r.work(time.Minute)
		r.wantRuns("k", 1)
		r.wantEmpty()
		if src.fails >= 0 {
			t.Errorf("started although the check had not succeeded")
		}
	})
}

func TestStoppedWhileTheStartIsInTrouble(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.src = &recovering{queue: r.queue, fails: 1000}
		r.work(time.Minute)
		if n := r.queue.count("receive"); n != 0 {
			t.Errorf("%d receives, want none", n)
		}
	})
}

func TestRunFailsFastOnWhatOnlyAPersonCanMend(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		queue := fmt.Errorf("%w: queue refunds does not exist", consumer.ErrSetup)
		r.src = checked{r.queue, queue}
		r.store.check = errors.New("table claimonce does not exist in eu-west-1")
		r.queue.faults.closing = func() error { return errBroken }
		err := r.consumer().Run(t.Context())
		for _, want := range []error{queue, consumer.ErrSetup, r.store.check, errBroken} {
			if !errors.Is(err, want) {
				t.Errorf("Run returned %v, want it to name %v too", err, want)
			}
		}
		if !r.queue.closed || r.queue.count("receive") != 0 {
			t.Error("want the source closed and nothing received")
		}
	})
}

// One operation under two names of tenants is two; the tenant of a message comes from the attribute that is configured.
func TestTenants(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.cfg.Tenant = consumer.TenantAttribute("Tenant")
		for _, who := range []string{"a", "b"} {
			m := message("k", `{"amount":1}`)
			m.Attributes = append(m.Attributes, attr("tenant", who))
			r.queue.send(m)
		}
		r.work(time.Second)
		r.wantRuns("k", 2)
		for _, who := range []string{"a", "b"} {
			if got := r.store.record(dedupe.Key{Tenant: who, Operation: operation, ID: "k"}); got.State != dedupe.StateCompleted {
				t.Errorf("record of tenant %s is %s", who, got.State)
			}
		}
	})
}

func TestFixedTenant(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.cfg.Tenant = consumer.FixedTenant("acme")
		r.queue.send(message("k", `{"amount":1}`))
		r.work(time.Second)
		if got := r.store.record(dedupe.Key{Tenant: "acme", Operation: operation, ID: "k"}); got.State != dedupe.StateCompleted {
			t.Errorf("record of the tenant is %s", got.State)
		}
	})
}

func TestKindsOfHandlers(t *testing.T) {
	decode := func(m *consumer.Message) (order, error) { return order{Amount: len(m.Body)}, nil }
	for _, c := range []struct {
		name     string
		handler  func(*rig) consumer.Handler
		volatile []string
		same     bool // whether another spelling of one JSON value is the same request
	}{
		{"JSON", func(r *rig) consumer.Handler { return consumer.JSON(r.run) }, nil, true},
		{"Decode", func(r *rig) consumer.Handler { return consumer.Decode(decode, r.run) }, nil, false},
		{"Decode with volatile members", func(r *rig) consumer.Handler { return consumer.Decode(decode, r.run) }, []string{"/sent"}, true},
		{"Raw", func(r *rig) consumer.Handler {
			return consumer.Raw(func(ctx context.Context, op *dedupe.Operation, m *consumer.Message) (dedupe.Result, error) {
				if consumer.FromContext(ctx) != m {
					r.t.Error("FromContext gives another message")
				}
				s, err := r.run(ctx, op, order{})
				return dedupe.Result{Body: []byte(s)}, err
			})
		}, nil, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, r *rig) {
				r.cfg.Ledger.Fingerprint.Volatile = c.volatile
				w, err := consumer.New(operation, r.queue, r.store, c.handler(r), r.cfg)
				if err != nil {
					t.Fatal(err)
				}
				r.queue.send(message("k", `{"amount":1}`))
				running := startWorker(t, w)
				elapse(time.Second)
				again := message("k", `{"amount": 1}`)
				again.ID = "again"
				r.queue.send(again)
				elapse(time.Second)
				running.stop()
				r.wantRuns("k", 1)
				if got := len(r.queue.letters()) == 0; got != c.same {
					t.Errorf("another spelling is the same request: %v, want %v", got, c.same)
				}
			})
		})
	}
}

func TestFromContextOutsideAConsumer(t *testing.T) {
	t.Parallel()
	if m := consumer.FromContext(t.Context()); m != nil {
		t.Errorf("FromContext gives %+v, want nil", m)
	}
}

func TestDispositionNames(t *testing.T) {
	t.Parallel()
	for d, want := range map[consumer.Disposition]string{consumer.Acked: "acked", consumer.Nacked: "nacked", consumer.DeadLettered: "dead-lettered", consumer.Left: "left", 99: "invalid"} {
		if d.String() != want {
			t.Errorf("%d is %q, want %q", d, d, want)
		}
	}
}
