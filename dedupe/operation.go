package dedupe

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// An Operation is one claimed operation while its handler runs. Its methods are safe for concurrent use; after the handler
// returned they do nothing of use.
type Operation struct {
	ledger  *Ledger
	claimed time.Time
	// Of the claim, which no later write changes: read without the lock, while a renewal replaces rec.
	key     Key
	owner   string
	attempt int
	fence   int64
	// write serialises all writes of the lease: a renewal on its way beside a completion would make one of the two
	// lose against the other. A channel, so that waiting for it ends with the context.
	write chan struct{}
	// The rest is guarded by write.
	rec     Record
	undone  []string
	wroteAt time.Time // when the last write that landed was first sent, by this machine's clock

	trust trust

	// Of runs beside what is decided otherwise: see Shadow and RunOptions.Beside.
	shadow   bool
	beside   time.Duration // set before the handler starts
	steps    Record        // what downstream keys are made of, where they do not depend on a write
	unmarked atomic.Bool
	stepsMu  sync.Mutex
	begun    []string // names of steps, marked or not
}

func newOperation(l *Ledger, rec Record, started time.Time) *Operation {
	op := &Operation{
		ledger: l, claimed: started, key: rec.Key, owner: rec.Owner, attempt: rec.Attempt, fence: rec.Fence,
		write: make(chan struct{}, 1), rec: rec, wroteAt: started, steps: rec,
	}
	op.trust.extend(started, l.cfg.Lease-l.cfg.OwnerMargin)
	return op
}

// Key is the operation's key. Store it with the business record: old duplicates stay findable after the record expired.
func (op *Operation) Key() Key { return op.key }

// Attempt is the number of this attempt, from 1.
func (op *Operation) Attempt() int { return op.attempt }

// Fence rises with every claim of the key. A downstream system that refuses smaller ones than it has seen is safe from a
// worker that wakes up late.
func (op *Operation) Fence() int64 { return op.fence }

// A Step is one effect of an operation that was marked before it is performed.
type Step struct {
	name, key string
}

// Name is the name given to Begin.
func (s Step) Name() string { return s.name }

// Key is the idempotency key for the provider: see [Record.DownstreamKey].
func (s Step) Key() string { return s.key }

// Limits of marks, so that a record stays small.
const (
	maxStepName = 64
	maxSteps    = 32
)

// Begin marks that the effect called step comes next: call it right before the effect. It is the only source of the step's
// downstream key, so that the mark cannot be forgotten where a key is used. The same name again in one attempt
// gives the same step. One write (none in mode Rerun), which renews the lease too.
//
// If the error is not nil the effect must not be performed: it wraps [ErrLeaseLost], or the context's or the store's error.
func (op *Operation) Begin(ctx context.Context, step string) (Step, error) {
	if err := validStep(step); err != nil {
		return Step{}, &Error{Op: "begin", Key: op.Key(), Err: err}
	}
	if op.shadow || op.beside > 0 {
		return op.beginBeside(ctx, step), nil
	}
	rec, err := op.do(ctx, func(undone []string) Event {
		return Begin{Owner: op.owner, Step: step, Undone: undone}
	}, retrying(ctx, claimTries))
	if err == nil && !op.trust.holds() {
		// Answered too late: another may have been told meanwhile that nothing was begun.
		err = ErrLeaseLost
	}
	if err != nil {
		return Step{}, &Error{Op: "begin", Key: op.Key(), Err: err}
	}
	return Step{name: step, key: rec.DownstreamKey(step, rec.Generation)}, nil
}

func validStep(step string) error {
	ok := step != "" && len(step) <= maxStepName
	for _, r := range step {
		ok = ok && (isKeyChar(r) || r == '.')
	}
	if !ok {
		return fmt.Errorf("step name %q: use 1 to %d characters of A-Z a-z 0-9 _ - . and the same name on every attempt", step, maxStepName)
	}
	return nil
}

// Undone says that a step has had no effect and never will, for example since the provider refused it. It costs no call: the next
// write carries it. A step that was compensated must be begun under another name: under its own it has the same downstream
// key, and a provider that recognises it would answer with what was compensated.
func (op *Operation) Undone(step Step) {
	op.write <- struct{}{}
	defer op.unlock()
	if !slices.Contains(op.undone, step.name) {
		op.undone = append(op.undone, step.name)
	}
}

func (op *Operation) lock(ctx context.Context) error {
	select {
	case op.write <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (op *Operation) unlock() { <-op.write }

// do writes one event of the owner. The trust window is counted from the start of the first try, however often the call
// was repeated: an answer that took long proves nothing about the time since.
func (op *Operation) do(ctx context.Context, event func(undone []string) Event, again func(int) bool) (Record, error) {
	if err := op.lock(ctx); err != nil {
		return Record{}, err
	}
	defer op.unlock()
	if len(op.rec.Marks) >= maxSteps {
		if b, ok := event(nil).(Begin); ok && op.rec.mark(b.Step) < 0 {
			return Record{}, fmt.Errorf("an attempt has at most %d steps", maxSteps)
		}
	}
	started := time.Now()
	ev := event(slices.Clone(op.undone))
	w, err := op.advance(ctx, ev, again, map[string]written{})
	op.ledger.observe(ctx, ev, w, err, time.Since(op.claimed))
	if err != nil {
		return Record{}, err
	}
	if w.Outcome != OutcomeApplied && w.Outcome != OutcomeRepeated {
		op.trust.end()
		return Record{}, ErrLeaseLost
	}
	if w.Write {
		op.rec, op.wroteAt = w.Next, started
		op.trust.extend(started, op.ledger.cfg.Lease-op.ledger.cfg.OwnerMargin)
	}
	if b, ok := ev.(Begin); ok {
		// Begun again after it was undone: the next write must not close the mark of this second try.
		op.undone = slices.DeleteFunc(op.undone, func(step string) bool { return step == b.Step })
	}
	return op.rec, nil
}

// renew extends the lease. An error other than ErrLeaseLost leaves it open.
func (op *Operation) renew(ctx context.Context) error {
	_, err := op.do(ctx, func(undone []string) Event {
		return Renew{Owner: op.owner, Undone: undone}
	}, func(int) bool { return false })
	return err
}
