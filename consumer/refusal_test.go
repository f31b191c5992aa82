package consumer_test

import (
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/claimonce/claimonce/consumer"
	"github.com/claimonce/claimonce/dedupe"
	"github.com/claimonce/claimonce/dedupe/fingerprint"
)

// What can never run is dead-lettered with its reason: never let through, never deleted without a copy.
func TestRefusals(t *testing.T) {
	key := consumer.DefaultKeyAttribute
	for _, c := range []struct {
		name   string
		change func(*consumer.Message)
		cfg    func(*consumer.Config)
		reason string
		is     error
	}{
		{"KEY01 no key", attrs(), nil, consumer.ReasonMissingKey, dedupe.ErrMissingKey},
		{"KEY01 empty key", attrs(attr(key, "")), nil, consumer.ReasonMissingKey, dedupe.ErrMissingKey},
		{"KEY01 binary key", attrs(consumer.Attribute{Name: key, Value: []byte("k"), Binary: true}), nil, consumer.ReasonMalformedKey, dedupe.ErrMalformedKey},
		{"KEY02 blank key", attrs(attr(key, " \t\n\u00a0\u200b")), nil, consumer.ReasonMissingKey, dedupe.ErrMissingKey},
		{"KEY02 padded key", attrs(attr(key, " abc")), nil, consumer.ReasonMalformedKey, dedupe.ErrMalformedKey},
		{"KEY02 quoted key", attrs(attr(key, `"abc"`)), nil, consumer.ReasonMalformedKey, dedupe.ErrMalformedKey},
		{"KEY04 newline in key", attrs(attr(key, "abc\nlevel=INFO")), nil, consumer.ReasonMalformedKey, dedupe.ErrMalformedKey},
		{"key too long", attrs(attr(key, strings.Repeat("k", 256))), nil, consumer.ReasonMalformedKey, dedupe.ErrMalformedKey},
		{"two keys", attrs(attr(key, "a"), attr(strings.ToLower(key), "b")), nil, consumer.ReasonMalformedKey, dedupe.ErrMalformedKey},
		{"old name not configured", attrs(attr("X-Idempotency-Key", "k")), nil, consumer.ReasonMissingKey, dedupe.ErrMissingKey},
		{"KEY14 message id is no key", attrs(attr("MessageId", "k")), nil, consumer.ReasonMissingKey, dedupe.ErrMissingKey},
		{"KEY06 no tenant", nil, tenant("Tenant"), consumer.ReasonMissingTenant, dedupe.ErrMissingKey},
		{"KEY06 empty tenant", attrs(attr(key, "k"), attr("Tenant", "")), tenant("Tenant"), consumer.ReasonMissingTenant, dedupe.ErrMissingKey},
		{"tenant twice", attrs(attr(key, "k"), attr("Tenant", "a"), attr("tenant", "b")), tenant("Tenant"), consumer.ReasonMissingTenant, dedupe.ErrMalformedKey},
		{"tenant too long", attrs(attr(key, "k"), attr("Tenant", strings.Repeat("t", 129))), tenant("Tenant"), consumer.ReasonMalformedKey, dedupe.ErrMalformedKey},
		{"no JSON", body("{"), nil, consumer.ReasonMalformedBody, fingerprint.ErrMalformed},
		{"no body", body(""), nil, consumer.ReasonMalformedBody, nil},
		{"data after the value", body(`{"amount":1}{"amount":2}`), nil, consumer.ReasonMalformedBody, fingerprint.ErrMalformed},
		{"member twice", body(`{"amount":1,"amount":2}`), nil, consumer.ReasonMalformedBody, fingerprint.ErrMalformed},
		{"another type", body(`{"amount":"much"}`), nil, consumer.ReasonMalformedBody, nil},
		{"created at nonsense", created("yesterday"), nil, consumer.ReasonMalformedCreated, nil},
		{"created at empty", created(""), nil, consumer.ReasonMalformedCreated, nil},
		{"created long ago", created(time.Date(1999, 12, 20, 0, 0, 0, 0, time.UTC).Format(time.RFC3339)), nil, consumer.ReasonOlderThanWindow, dedupe.ErrOlderThanWindow},
		{"sent long ago", sentAgo(7 * 24 * time.Hour), nil, consumer.ReasonOlderThanWindow, dedupe.ErrOlderThanWindow},
	} {
		t.Run(c.name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, r *rig) {
				m := message("k", `{"amount":1}`)
				if c.change != nil {
					c.change(&m)
				}
				if c.cfg != nil {
					c.cfg(&r.cfg)
				}
				r.queue.send(m)
				r.work(time.Second)
				r.wantNothingRan()
				d := r.wantDead(m.ID, c.reason)
				if d.Detail == "" || d.body != string(m.Body) {
					t.Errorf("dead letter %+v, want what is wrong and the whole body", d)
				}
				e := r.first(m.ID)
				if e.Disposition != consumer.DeadLettered || e.Reason != c.reason || e.Outcome != 0 {
					t.Errorf("told %+v, want a dead letter and no claim", e)
				}
				if c.is != nil && !errors.Is(e.Err, c.is) {
					t.Errorf("told the error %v, want it to match %v", e.Err, c.is)
				}
			})
		})
	}
}

func (r *rig) wantNothingRan() {
	r.t.Helper()
	if ids := r.order(); len(ids) != 0 {
		r.t.Errorf("the handler ran for %q, want it never to", ids)
	}
	if r.store.asked() != 0 {
		r.t.Errorf("%d calls to the store, want none", r.store.asked())
	}
}

func attrs(as ...consumer.Attribute) func(*consumer.Message) {
	return func(m *consumer.Message) { m.Attributes = as }
}

func body(s string) func(*consumer.Message) {
	return func(m *consumer.Message) { m.Body = []byte(s) }
}

func created(at string) func(*consumer.Message) {
	return func(m *consumer.Message) {
		m.Attributes = append(m.Attributes, attr(consumer.DefaultCreatedAtAttribute, at))
	}
}

func sentAgo(d time.Duration) func(*consumer.Message) {
	return func(m *consumer.Message) { m.SentAt = time.Now().Add(-d) }
}

func tenant(name string) func(*consumer.Config) {
	return func(c *consumer.Config) { c.Tenant = consumer.TenantAttribute(name) }
}

// Names are compared without regard to ASCII case, the canonical name wins, and several copies of one value are one.
func TestKeyAttribute(t *testing.T) {
	for _, c := range []struct {
		name  string
		attrs []consumer.Attribute
		want  string
	}{
		{"any case", []consumer.Attribute{attr("idempotency-KEY", "k")}, "k"},
		{"the same twice", []consumer.Attribute{attr("Idempotency-Key", "k"), attr("idempotency-key", "k")}, "k"},
		{"old name", []consumer.Attribute{attr("X-Idempotency-Key", "old")}, "old"},
		{"canonical name wins", []consumer.Attribute{attr("X-Idempotency-Key", "old"), attr("Idempotency-Key", "k")}, "k"},
	} {
		t.Run(c.name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, r *rig) {
				r.cfg.OldKeyAttribute = "X-Idempotency-Key"
				m := message("x", `{"amount":1}`)
				m.Attributes = c.attrs
				r.queue.send(m)
				r.work(time.Second)
				r.wantRuns(c.want, 1)
				r.wantEmpty()
			})
		})
	}
}

// An empty canonical key is refused although the old name holds one: falling back could give two spellings of a message two keys.
func TestEmptyCanonicalKeyDoesNotFallBack(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.cfg.OldKeyAttribute = "X-Idempotency-Key"
		m := message("x", `{"amount":1}`)
		m.Attributes = []consumer.Attribute{attr("X-Idempotency-Key", "old"), attr("Idempotency-Key", "")}
		r.queue.send(m)
		r.work(time.Second)
		r.wantDead("m-x", consumer.ReasonMissingKey)
		r.wantNothingRan()
	})
}

func TestAge(t *testing.T) {
	week := 7 * 24 * time.Hour
	for _, c := range []struct {
		name   string
		change func(*consumer.Message)
		accept string
		runs   int
	}{
		{"just young enough", sentAgo(week - 10*time.Second), "", 1},
		{"just too old", sentAgo(week - 10*time.Second + time.Millisecond), "", 0},
		{"broker's time unknown", sentAgo(0), "", 1},
		{"the producer's time counts, not the broker's of a redrive", func(m *consumer.Message) {
			sentAgo(time.Minute)(m)
			created(time.Now().Add(-week).Format(time.RFC3339))(m)
		}, "", 0},
		{"and it counts if it is younger", func(m *consumer.Message) {
			sentAgo(week)(m)
			created(time.Now().Add(-time.Hour).Format(time.RFC3339Nano))(m)
		}, "", 1},
		{"accepted by name", sentAgo(10 * week), "we know", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, r *rig) {
				r.cfg.AcceptOlderThanWindow = c.accept
				m := message("k", `{"amount":1}`)
				c.change(&m)
				if c.name == "broker's time unknown" {
					m.SentAt = time.Time{}
				}
				r.queue.send(m)
				r.work(time.Second)
				r.wantRuns("k", c.runs)
			})
		})
	}
}

func TestMismatchIsDeadLetteredAndChangesNothing(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.queue.send(message("k", `{"amount":1}`))
		w := r.start()
		elapse(time.Second)
		before := r.store.record(keyOf("k"))
		other := message("k", `{"amount":2}`)
		other.ID = "other"
		r.queue.send(other)
		elapse(time.Second)
		w.stop()
		r.wantRuns("k", 1)
		r.wantDead("other", consumer.ReasonKeyReuse)
		if after := r.store.record(keyOf("k")); after.Revision != before.Revision || after.Fingerprint != before.Fingerprint {
			t.Errorf("record was changed from %+v to %+v", before, after)
		}
	})
}

// A source without dead letters keeps what cannot run, and the worker goes on.
func TestNoDeadLettererKeepsTheMessage(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.src = bare{r.queue}
		r.queue.send(message("", `{}`), message("k", `{"amount":1}`))
		r.work(2 * time.Minute)
		r.wantRuns("k", 1)
		if r.queue.entry("m-").gone {
			t.Error("the message was removed without a copy")
		}
		if e := r.first("m-"); e.Disposition != consumer.Nacked || e.Delay < time.Minute || e.Err == nil {
			t.Errorf("told %+v, want it handed back for a while, with the cause", e)
		}
	})
}

func TestFailedDeadLetterKeepsTheMessage(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		var broken atomic.Bool
		broken.Store(true)
		r.queue.faults.deadLetter = func(*consumer.Message) error {
			if broken.Load() {
				return errBroken
			}
			return nil
		}
		r.queue.send(message("", `{}`))
		w := r.start()
		elapse(time.Minute)
		if e := r.first("m-"); e.Disposition != consumer.Nacked || !errors.Is(e.Err, errBroken) || e.Reason != "" {
			t.Errorf("told %+v, want it handed back with the cause", e)
		}
		if n := w.Health().DisposeFailures; n == 0 {
			t.Error("health counts no failure")
		}
		broken.Store(false)
		elapse(10 * time.Minute)
		w.stop()
		r.wantDead("m-", consumer.ReasonMissingKey)
	})
}

func TestAttribute(t *testing.T) {
	t.Parallel()
	m := &consumer.Message{Attributes: []consumer.Attribute{attr("A", "1"), attr("a", "1"), attr("B", ""), {Name: "C", Value: []byte{1}, Binary: true}}}
	for _, c := range []struct {
		name, value string
		ok, fails   bool
	}{{"a", "1", true, false}, {"b", "", true, false}, {"c", "", true, true}, {"d", "", false, false}} {
		v, ok, err := m.Attribute(c.name)
		if v != c.value || ok != c.ok || (err != nil) != c.fails {
			t.Errorf("Attribute(%q) = %q, %v, %v, want %+v", c.name, v, ok, err, c)
		}
	}
}
