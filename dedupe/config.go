package dedupe

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/claimonce/claimonce/dedupe/fingerprint"
)

// Config are the settings of a [Ledger]. The zero value of every field but OnAbandoned means its default.
type Config struct {
	// OnAbandoned says what may be done with an operation whose worker vanished or whose handler returned a
	// plain error. Required: see [Rerun], [RerunUnlessBegun] and [Reconcile]. It is kept in the record by a claim, and what is
	// found abandoned goes by its record: in a ledger that never claims, as an operator's, the value decides nothing.
	OnAbandoned Mode

	// Window is how long an outcome is remembered, counted from the outcome. It must be longer than the longest
	// time after which a message can still come back. Default 7 days.
	Window time.Duration
	// Lease is how long an owner is presumed alive after its last write. Default 60 s.
	Lease time.Duration
	// RenewEvery is how often a running owner renews its lease; at most a third of Lease. Default Lease / 3.
	RenewEvery time.Duration
	// OwnerMargin is how long before its lease ends an owner stops trusting it. Default 5 s.
	OwnerMargin time.Duration
	// SkewMargin is how far the clocks of two workers may differ; at least 2 s. Default 5 s.
	SkewMargin time.Duration
	// AttemptBound is how many attempts an operation has before it is exhausted. Default 5.
	AttemptBound int
	// AttentionAfter is how long a released operation waits for its next attempt before it needs attention, which is written into its
	// record. Nothing looks for such records by itself yet: [Ledger.Take] of the key lists it. Default 24 h.
	AttentionAfter time.Duration
	// DownstreamMemory is how long the provider recognises a downstream key. Set, an operation whose earlier
	// attempt may have had an effect is not run later than that, but becomes unknown. Default: rule off.
	DownstreamMemory time.Duration
	// SettleFor is how long an outcome is still tried to be written after the context of the run has ended.
	// Default 25 s.
	SettleFor time.Duration

	// MaxResult is the largest Result.Body that is stored, in bytes; a larger one is left out and the
	// operation completed all the same. Default 256 KiB.
	MaxResult int
	// ReplayHeaders are the names of result headers that are stored and replayed, beside Content-Language,
	// ETag, Last-Modified and Location. Set-Cookie, Date and hop-by-hop ones are refused.
	ReplayHeaders []string
	// KeyCharacters are allowed in keys beside A-Z a-z 0-9 _ -.
	KeyCharacters string
	// Fingerprint is how requests are told apart. Default: strict JSON, every member counts.
	Fingerprint fingerprint.Config

	// Logger gets incidents and refusals; keys are logged as hashes. Default: none.
	Logger *slog.Logger
	// Observe is told of every decision, renewals too: one that failed has the event "renew" and an Err. It is waited for, is
	// called from many goroutines, each its own, and must not block. A panic in it is logged and goes no further.
	Observe func(context.Context, Observation)
}

// An Observation is one decision, for metrics and logs.
type Observation struct {
	Key         Key
	Fingerprint string
	Event       string
	From, To    State
	Outcome     Outcome
	Note        Note
	Attempt     int
	Status      int           // of a completed operation's result
	Duration    time.Duration // since the claim, for outcomes of a run
	Operator    string        // who decided, for an operator's resolve or override
	Reason      string        // of a resolve or an override
	Resend      string        // of an override: who sends the message again
	Err         error         // the store failed, so that it is open what was written; Outcome is 0 and To is From
}

const (
	minSkewMargin    = 2 * time.Second
	defaultMaxResult = 256 << 10
)

func (c Config) withDefaults() Config {
	set := func(d *time.Duration, v time.Duration) {
		if *d == 0 {
			*d = v
		}
	}
	set(&c.Window, 7*24*time.Hour)
	set(&c.Lease, time.Minute)
	set(&c.RenewEvery, c.Lease/3)
	set(&c.OwnerMargin, 5*time.Second)
	set(&c.SkewMargin, 5*time.Second)
	set(&c.AttentionAfter, 24*time.Hour)
	set(&c.SettleFor, 25*time.Second)
	if c.AttemptBound == 0 {
		c.AttemptBound = 5
	}
	if c.MaxResult == 0 {
		c.MaxResult = defaultMaxResult
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return c
}

// errNoMode explains the three modes where they must be chosen.
var errNoMode = errors.New(`OnAbandoned is required, since a wrong guess either pays twice or strands work:
	Rerun             the handler is idempotent by itself, or commits its write in the completion's transaction: run it again
	RerunUnlessBegun  the handler calls Begin before each effect: run it again only if nothing was begun, else the outcome is unknown
	Reconcile         the handler has effects and keeps no marks: never run it again by itself, the outcome is unknown`)

// validate reports every problem at once, relations between settings too.
func (c Config) validate() error {
	var errs []error
	bad := func(wrong bool, format string, args ...any) {
		if wrong {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	switch c.OnAbandoned {
	case Rerun, RerunUnlessBegun, Reconcile:
	default:
		errs = append(errs, errNoMode)
	}
	for _, d := range []struct {
		name  string
		value time.Duration
	}{
		{"Window", c.Window},
		{"Lease", c.Lease},
		{"RenewEvery", c.RenewEvery},
		{"OwnerMargin", c.OwnerMargin},
		{"AttentionAfter", c.AttentionAfter},
		{"SettleFor", c.SettleFor},
	} {
		bad(d.value <= 0, "%s is %v; it must be positive (0 means the default)", d.name, d.value)
	}
	bad(c.SkewMargin < minSkewMargin, "SkewMargin is %v; below %v two healthy clocks can differ by more", c.SkewMargin, minSkewMargin)
	bad(c.RenewEvery > c.Lease/3, "RenewEvery is %v; it must be at most a third of Lease (%v), so that two renewals may fail", c.RenewEvery, c.Lease)
	bad(c.RenewEvery+c.OwnerMargin >= c.Lease, "RenewEvery (%v) and OwnerMargin (%v) together must be below Lease (%v), else a healthy owner loses it",
		c.RenewEvery, c.OwnerMargin, c.Lease)
	bad(c.Window <= c.Lease+2*c.SkewMargin, "Window (%v) must be longer than Lease and twice SkewMargin (%v)", c.Window, c.Lease+2*c.SkewMargin)
	bad(c.AttemptBound < 0, "AttemptBound is %d; it must be positive (0 means the default)", c.AttemptBound)
	bad(c.DownstreamMemory < 0, "DownstreamMemory is %v; leave it 0 to switch the rule off", c.DownstreamMemory)
	bad(c.MaxResult < 0, "MaxResult is %d; it must be positive (0 means the default)", c.MaxResult)
	errs = append(errs, validateExtra(c.KeyCharacters), validateHeaders(c.ReplayHeaders))
	return errors.Join(errs...)
}
