package adaptertest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/claimonce/claimonce/consumer"
)

// A Rig makes queues for the checks, and says what its source and its broker can do.
type Rig struct {
	// New makes an empty queue: each promise has one of its own. ctx ends with the promise.
	New func(ctx context.Context) (*Queue, error)

	// Visibility is how long a received message stays hidden, and so how soon what a dead worker held comes back. At
	// least a second, and on real time at least three: the checks must be able to act within it.
	Visibility time.Duration
	// Grain is the unit in which the broker counts delays.
	Grain time.Duration
	// FakeTime: [Run] gives each promise a testing/synctest bubble, and what is due must come at once. A caller of
	// [Check] makes the bubble.
	FakeTime bool

	// Groups: the queue keeps the order of messages of one group.
	Groups bool
	// AnyBytes: bodies may be any bytes, or none; else they are text without control characters.
	AnyBytes bool
	// EmptyValues: the value of an attribute may be empty.
	EmptyValues bool
	// Attributes is how many a message can have; 0: ten.
	Attributes int
	// BodyBytes is the size of the largest body that the broker takes; 0: 200 KiB.
	BodyBytes int
	// ValueBytes is how long the value of an attribute can be where a message has two of that length; 0: 1 KiB.
	ValueBytes int
	// ByPosition: the broker keeps a position, which is committed now and then, and not the acks, so that a crash may also bring back
	// what was acked.
	ByPosition bool
	// PollTime is how long the broker keeps a source waiting at most before it says that there is nothing, for a [consumer.Poller].
	// 0: thirty seconds on fake time; on real time it is not asked for, since the check waits so long.
	PollTime time.Duration
	// MaxRedelivery is what the source must say of these queues, if it is a [consumer.Redeliverer]; 0: anything positive.
	MaxRedelivery time.Duration

	// Known are promises that this source or its broker is known to break, by the name of the promise. They are asked for all
	// the same, and it is a failure if they hold: the list would outlive what it excuses.
	Known map[string]Known
}

// Known says why a promise is broken.
type Known struct {
	Why string // required; printed
	// Flaky: it is broken by chance, so that it says nothing if it holds. Anything else that is known must fail each time.
	Flaky bool
}

// A Queue is an empty queue and the means to look at it from outside the source. Functions that may be nil are said to be so.
type Queue struct {
	// Open makes a source on the queue, as one more worker does. The checks close it.
	Open func(ctx context.Context) (consumer.Source, error)
	// Send sends a message as a producer does, without the source, and returns its id: of m it takes Group, Body and Attributes.
	Send func(ctx context.Context, m consumer.Message) (id string, err error)
	// Crash ends a source as the death of its process does: nothing that it does from now on reaches the broker. nil: the
	// checks let go of it, and do not look at crashes in the middle of a call.
	Crash func(ctx context.Context, s consumer.Source) error
	// Revoke makes the broker take back a message that is held, without its visibility ending, as a rebalance does. nil: it cannot.
	Revoke func(ctx context.Context, m *consumer.Message) error
	// DeadLetters lists what lies in the dead-letter queue. nil: the source has none.
	DeadLetters func(ctx context.Context) ([]Dead, error)
	// BreakDeadLetters makes the dead-letter queue refuse everything from now on. nil: it cannot.
	BreakDeadLetters func(ctx context.Context) error
}

// Dead is a message in the dead-letter queue, and why it is there as far as its copy says it.
type Dead struct {
	Message consumer.Message
	Letter  consumer.DeadLetter
}

func (r *Rig) validate() error {
	var all []error
	bad := func(format string, args ...any) { all = append(all, fmt.Errorf(format, args...)) }
	if r.New == nil {
		bad("New is nil: give it a function that makes an empty queue")
	}
	if r.Visibility < time.Second {
		bad("Visibility is %v; the checks need a second at least", r.Visibility)
	}
	if r.Grain <= 0 {
		bad("Grain is %v; name the unit in which the broker counts delays", r.Grain)
	}
	if r.Attributes < 0 || r.BodyBytes < 0 || r.ValueBytes < 0 {
		bad("Attributes, BodyBytes and ValueBytes are %d, %d and %d; they must be positive (0 means the default)", r.Attributes, r.BodyBytes, r.ValueBytes)
	}
	if r.PollTime < 0 {
		bad("PollTime is %v; it must be positive (0 means the default)", r.PollTime)
	}
	for name, k := range r.Known {
		if !slices.ContainsFunc(Promises(), func(p Promise) bool { return p.Name == name }) {
			bad("it knows of %q, which is not a promise: see Promises for their names", name)
		}
		if k.Why == "" {
			bad("it does not say why %q is broken: set Why", name)
		}
	}
	if err := errors.Join(all...); err != nil {
		return fmt.Errorf("adaptertest: the rig: %w", err)
	}
	return nil
}

func (r *Rig) pollTime() time.Duration {
	if r.PollTime == 0 && r.FakeTime {
		return 30 * time.Second
	}
	return r.PollTime
}

func (r *Rig) attributes() int { return cmp.Or(r.Attributes, 10) }

func (r *Rig) bodyBytes() int { return cmp.Or(r.BodyBytes, 200<<10) }

func (r *Rig) valueBytes() int { return cmp.Or(r.ValueBytes, 1<<10) }
