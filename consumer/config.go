package consumer

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/claimonce/claimonce/dedupe"
	"github.com/claimonce/claimonce/dedupe/fingerprint"
)

// Names of attributes and headers.
const (
	DefaultKeyAttribute       = "Idempotency-Key"
	DefaultCreatedAtAttribute = "Operation-Created-At"
)

// Config are the settings of a [Consumer]. The zero value of every field but OnAbandoned means its default.
type Config struct {
	// OnAbandoned says what may be done with an operation whose worker vanished or whose handler returned a plain
	// error. Required: see dedupe.Rerun, dedupe.RerunUnlessBegun and dedupe.Reconcile.
	OnAbandoned dedupe.Mode

	// KeyAttribute is the name of the message attribute or header that holds the operation's key, compared without
	// regard to ASCII case. Default "Idempotency-Key". Naming an attribute that holds a trace or request id makes
	// every attempt of a producer an operation of its own.
	KeyAttribute string
	// MessageIDAsKey takes the broker's message id as the key instead, for queues whose producers send no keys. It
	// recognises redelivery and nothing more: a producer that sends again after a time-out, a redrive by copying, or
	// the same work from a second queue has another id and takes effect again. KeyAttribute is then not looked at, and
	// the key stands in logs, where it is the message's id.
	MessageIDAsKey bool
	// OldKeyAttribute is looked at where KeyAttribute is absent, for a migration, for example
	// "X-Idempotency-Key". Default: none.
	OldKeyAttribute string
	// Tenant says where the tenant comes from. Default: one system of one tenant.
	Tenant Tenant
	// CreatedAtAttribute holds when the producer made the operation, in RFC 3339. Where a message has none, its
	// age is told by the broker's time. Default "Operation-Created-At".
	CreatedAtAttribute string

	// Workers is how many handlers run at a time. Default 16. At most Workers + 10 messages are held.
	Workers int
	// Drain is how long running handlers may go on after the context of Run has ended, before their own contexts
	// end with dedupe.ErrDraining. Default 25 s. Handlers that ignore that, or a store that is out, take Run some
	// eight seconds more: let whoever kills the process wait for 35 s, or lower this.
	Drain time.Duration
	// Backoff is how long an operation stays away after its first failed attempt; it doubles to BackoffMax, with
	// full jitter, and at least half a second. Defaults 1 s and 5 min. With the default of five attempts an operation is
	// given up some seconds after the first: raise Ledger.AttemptBound or Backoff to sit out longer outages of a provider.
	Backoff, BackoffMax time.Duration
	// PendingBackoff is how long a message stays away whose operation's outcome is unknown; it grows with the time
	// since then, to PendingBackoffMax, plus up to a tenth. Defaults 30 s and 1 h.
	PendingBackoff, PendingBackoffMax time.Duration
	// PendingBound is how long a message waits for an unknown outcome before it is dead-lettered with the reason
	// outcome_pending; its record stays listed. Default 24 h.
	PendingBound time.Duration
	// PendingGroups says what a group does whose head's outcome is unknown: the rest of it waits with it, or goes on without it.
	// It concerns messages with a [Message].Group only. Default PendingBlock.
	PendingGroups PendingGroups

	// AcceptShortWindow accepts a window shorter than the source's longest redelivery, with the reason, which is
	// logged. Copies that come later than the window then run again.
	AcceptShortWindow string
	// AcceptOlderThanWindow runs messages that are older than the window, with the reason, which is logged.
	AcceptOlderThanWindow string

	// ObserveOnly, if not empty, is why this consumer only watches; it is logged at the start. Every message's handler is
	// run on each delivery, as if there were no records, and duplicates take effect: for handlers that run without
	// claimonce today. See the package's section on it.
	ObserveOnly string

	// Ledger holds the other settings of the ledger. Its OnAbandoned may stay unset; its Window defaults to what
	// the source recommends, its SettleFor to 5 s, its Fingerprint to what fits the handler.
	Ledger dedupe.Config

	// Logger gets what a person should hear of; keys are logged as hashes, payloads never. Default: none.
	Logger *slog.Logger
	// Observe is told what became of each delivery. It is called from many goroutines and must not block.
	Observe func(context.Context, Event)
}

// Tenant says where a message's tenant comes from.
type Tenant struct {
	attribute, fixed string
	unnamed          bool
}

// TenantAttribute takes the tenant from a message attribute or header. A message without it is refused like one without a
// key. Use it only where the attribute comes from a trusted producer: whoever sets it reaches that tenant's keys.
func TenantAttribute(name string) Tenant { return Tenant{attribute: name, unnamed: name == ""} }

// FixedTenant gives all messages one tenant.
func FixedTenant(tenant string) Tenant { return Tenant{fixed: tenant, unnamed: tenant == ""} }

func (c Config) withDefaults(src Source, h Handler) Config {
	def := func(d *time.Duration, v time.Duration) {
		if *d == 0 {
			*d = v
		}
	}
	def(&c.Drain, 25*time.Second)
	def(&c.Backoff, time.Second)
	def(&c.BackoffMax, max(5*time.Minute, c.Backoff))
	def(&c.PendingBackoff, 30*time.Second)
	def(&c.PendingBackoffMax, max(time.Hour, c.PendingBackoff))
	def(&c.PendingBound, 24*time.Hour)
	def(&c.Ledger.SettleFor, 5*time.Second)
	if w, ok := src.(Windower); ok {
		def(&c.Ledger.Window, w.DefaultWindow())
	}
	if c.Workers == 0 {
		c.Workers = 16
	}
	if c.KeyAttribute == "" {
		c.KeyAttribute = DefaultKeyAttribute
	}
	if c.CreatedAtAttribute == "" {
		c.CreatedAtAttribute = DefaultCreatedAtAttribute
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.Ledger.Logger == nil {
		c.Ledger.Logger = c.Logger
	}
	if c.Observe == nil {
		c.Observe = func(context.Context, Event) {}
	}
	if c.Ledger.OnAbandoned == 0 {
		c.Ledger.OnAbandoned = c.OnAbandoned
	}
	// Volatile and Select speak of JSON, whoever decodes it.
	if f := c.Ledger.Fingerprint; h.format == fingerprint.Raw && len(f.Volatile) == 0 && f.Select == "" {
		c.Ledger.Fingerprint.Format = fingerprint.Raw
	}
	return c
}

func (c Config) validate() error {
	var errs []error
	bad := func(wrong bool, format string, args ...any) {
		if wrong {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	for _, d := range []struct {
		name  string
		value time.Duration
	}{
		{"Drain", c.Drain},
		{"Backoff", c.Backoff},
		{"BackoffMax", c.BackoffMax},
		{"PendingBackoff", c.PendingBackoff},
		{"PendingBackoffMax", c.PendingBackoffMax},
		{"PendingBound", c.PendingBound},
	} {
		bad(d.value <= 0, "%s is %v; it must be positive (0 means the default)", d.name, d.value)
	}
	bad(c.MessageIDAsKey && (c.KeyAttribute != DefaultKeyAttribute || c.OldKeyAttribute != ""), "MessageIDAsKey excludes KeyAttribute and OldKeyAttribute")
	bad(c.PendingGroups > PendingSkip, "PendingGroups is %v; it must be PendingBlock or PendingSkip", c.PendingGroups)
	bad(c.Workers < 0, "Workers is %d; it must be positive (0 means the default)", c.Workers)
	// Most likely a variable that was not set: all tenants would share one scope.
	bad(c.Tenant.unnamed, "Tenant is set to an empty name; leave Tenant out for a system of one tenant")
	bad(c.BackoffMax < c.Backoff, "BackoffMax (%v) is below Backoff (%v)", c.BackoffMax, c.Backoff)
	bad(c.PendingBackoffMax < c.PendingBackoff, "PendingBackoffMax (%v) is below PendingBackoff (%v)", c.PendingBackoffMax, c.PendingBackoff)
	bad(c.Ledger.OnAbandoned != c.OnAbandoned && c.OnAbandoned != 0, "Ledger.OnAbandoned (%v) and OnAbandoned (%v) differ; set the latter only",
		c.Ledger.OnAbandoned, c.OnAbandoned)
	return errors.Join(errs...)
}
