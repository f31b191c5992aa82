package consumer

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/claimonce/claimonce/dedupe"
)

// A Consumer runs the operation that each message of a source asks for, once for each key.
type Consumer struct {
	operation string
	source    Source
	store     dedupe.Store
	handler   Handler
	ledger    *dedupe.Ledger
	checks    *dedupe.Ledger // of path checks
	cfg       Config
	needed    []string // see Message.Needed
	health    health
	counts    counts
	started   atomic.Bool
}

// New builds a consumer. operation is the application's name of the work, for example "refund": it is never derived from a
// queue's name, so that one operation that arrives over two queues meets itself. The error names everything that is wrong.
// The caller keeps ownership of what source and store were made of; Run closes the source.
func New(operation string, source Source, store dedupe.Store, handler Handler, cfg Config) (*Consumer, error) {
	var errs []error
	if operation == "" {
		errs = append(errs, errors.New("the operation name is empty; name the work, for example refund"))
	} else if err := (dedupe.Key{Tenant: cfg.Tenant.fixed, Operation: operation, ID: "k"}).Validate(""); err != nil {
		errs = append(errs, fmt.Errorf("no key can have this operation and tenant: %w", err))
	}
	if source == nil {
		errs = append(errs, errors.New("the source is nil"))
	}
	if handler.prepare == nil {
		errs = append(errs, errors.New("the handler is empty; make it with JSON, Decode or Raw"))
	}
	cfg = cfg.withDefaults(source, handler)
	errs = append(errs, cfg.validate())
	ledger, err := dedupe.NewLedger(store, cfg.Ledger)
	if err = errors.Join(append(errs, err)...); err != nil {
		return nil, fmt.Errorf("consumer: %q cannot be built: %w", operation, err)
	}
	checks, err := newCheckLedger(store)
	if err != nil {
		return nil, fmt.Errorf("consumer: %q cannot be built: %w", operation, err)
	}
	return &Consumer{
		operation: operation, source: source, store: store, handler: handler, ledger: ledger, checks: checks, cfg: cfg, needed: cfg.needed(),
	}, nil
}

// Ledger is the consumer's ledger, for reconciling and for operators.
func (c *Consumer) Ledger() *dedupe.Ledger { return c.ledger }

// Run receives and runs messages until ctx ends, then stops in order: no more is received, what was not started is handed
// back, running handlers have Drain to finish, then their contexts end with dedupe.ErrDraining; last the source is closed.
// Run returns within Drain, Ledger.SettleFor and some ten seconds, even if a handler ignores its context: the process must then
// end, since that handler goes on while another worker may take its operation over.
//
// It returns an error if the set-up cannot work, before anything is received, or if the source could not be closed. A failing
// broker or store does not end it: see [Consumer.Health]. It can be called once.
func (c *Consumer) Run(ctx context.Context) error {
	if c.started.Swap(true) {
		return fmt.Errorf("consumer: %q: Run was called before; build a new consumer", c.operation)
	}
	err := c.checkUntilAnswered(ctx)
	if err == nil {
		r := c.newRun(ctx)
		r.receive(ctx)
		r.drain()
	}
	closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTime)
	defer cancel()
	if cerr := c.source.Close(closing); cerr != nil {
		err = errors.Join(err, fmt.Errorf("closing the source: %w", cerr))
	}
	if err != nil {
		return fmt.Errorf("consumer: %q: %w", c.operation, err)
	}
	return nil
}

const closeTime = 10 * time.Second

// checkUntilAnswered ends with what only a person can mend. Anything else passes: a worker that is started while a broker or store
// has a bad moment, as in a rolling deploy, waits for it as it would later.
func (c *Consumer) checkUntilAnswered(ctx context.Context) error {
	failed := backoff{base: 200 * time.Millisecond, top: 30 * time.Second}
	for {
		err := c.check(ctx)
		if err == nil || errors.Is(err, ErrSetup) {
			return err
		}
		if ctx.Err() != nil {
			return nil //nolint:nilerr // told to stop while it waited: a clean end
		}
		wait := failed.next()
		c.health.receiveFailed(err)
		c.cfg.Logger.ErrorContext(ctx, "the set-up cannot be checked; trying again", "operation", c.operation, "err", err, "in", wait)
		pause(ctx, wait)
	}
}

// check names what is wrong.
func (c *Consumer) check(ctx context.Context) error {
	var errs []error
	if ck, ok := c.source.(Checker); ok {
		errs = append(errs, ck.Check(ctx))
	}
	if c.observesOnly() {
		c.checkBeside(ctx)
		return errors.Join(errs...)
	}
	errs = append(errs, c.checkStore(ctx), c.checkWindow(ctx))
	if c.cfg.AcceptOlderThanWindow != "" {
		c.cfg.Logger.WarnContext(ctx, "messages older than the window are run: an effect may be repeated",
			"operation", c.operation, "reason", c.cfg.AcceptOlderThanWindow)
	}
	return errors.Join(errs...)
}

func (c *Consumer) checkStore(ctx context.Context) error {
	if ck, ok := c.store.(Checker); ok {
		return ck.Check(ctx)
	}
	return nil
}

// checkBeside only tells what is wrong: in observe-only mode nothing of claimonce's own keeps a handler from running.
func (c *Consumer) checkBeside(ctx context.Context) {
	c.cfg.Logger.WarnContext(ctx, "observe only: the handler of every message is run, whatever its record says; duplicates take effect",
		"operation", c.operation, "reason", c.cfg.ObserveOnly)
	ctx, cancel := context.WithTimeout(ctx, checkBesideTime)
	defer cancel()
	for _, part := range []func(context.Context) error{c.checkStore, c.checkWindow} {
		var err error
		if fault := guarded(func() { err = part(ctx) }); fault != nil {
			err = fault
		}
		if err != nil {
			c.cfg.Logger.ErrorContext(ctx, "the usual mode would not start", "operation", c.operation, "err", err)
		}
	}
}

const checkBesideTime = 5 * time.Second

// checkWindow: a copy that comes back after its record expired would run again.
func (c *Consumer) checkWindow(ctx context.Context) error {
	src, ok := c.source.(Redeliverer)
	if !ok {
		return nil
	}
	longest, err := src.MaxRedelivery(ctx)
	if err != nil {
		return fmt.Errorf("asking how long messages can come back: %w", err)
	}
	rules := c.ledger.Rules()
	need := longest + 2*rules.SkewMargin
	switch {
	case rules.Window > need:
		return nil
	case c.cfg.AcceptShortWindow != "":
		c.cfg.Logger.WarnContext(ctx, "the window is shorter than the longest redelivery: late copies run again",
			"operation", c.operation, "window", rules.Window, "longest_redelivery", longest, "reason", c.cfg.AcceptShortWindow)
		return nil
	}
	return fmt.Errorf("%w: the window of %v must exceed the longest redelivery of %v + 2 × skew margin of %v = %v, else a late copy runs again; "+
		"raise Ledger.Window, shorten the queue's retention, or accept it with AcceptShortWindow and a reason",
		ErrSetup, rules.Window, longest, rules.SkewMargin, need)
}
