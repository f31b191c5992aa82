package consumer

import (
	"context"
	"errors"
	"time"

	"github.com/claimonce/claimonce/dedupe"
)

// A Source delivers messages at least once.
//
//   - A message that was neither acked nor nacked comes back after the source or its process dies.
//   - A source never drops a message by itself, and never delivers one again in the same process while it is held,
//     unless the broker took it back (see [Message.Revoked]).
//   - All methods but Receive are safe for concurrent use; after the context ends they return soon.
//   - A message that this source did not hand out is refused with an error by every method that takes one.
//   - What it hands out is the caller's: it shares no memory with what is handed out later.
type Source interface {
	// Receive blocks until it has at least one message and returns at most limit of them; it never returns none
	// without an error. It is called from one goroutine at a time. Messages of one Group come in order. An error
	// other than the context's does not end the worker: it is called again after a back-off. Errors that name
	// a set-up that cannot work wrap [ErrSetup].
	Receive(ctx context.Context, limit int) ([]*Message, error)
	// Ack says that the message is done. It may be deferred and batched: an error is a failed ack, never a failed
	// handler, and the message may come back. A second Ack of the same delivery does no harm.
	Ack(ctx context.Context, m *Message) error
	// Nack hands the message back, to be delivered again not before delay. Of one Group, messages are handed back
	// in order, head first, and are to be delivered again in that order.
	Nack(ctx context.Context, m *Message, delay time.Duration) error
	// Close flushes what was deferred, gives back what it still holds, and leaves. The consumer calls it when Receive has returned; called
	// earlier, it ends a Receive that waits. After it, calls fail soon and say so. Called twice it does no harm.
	Close(ctx context.Context) error
}

// Abilities that a source may have, each an interface of its own. The consumer looks for them when it is built.
type (
	// An Extender can keep a held message hidden from others.
	Extender interface {
		// Extend hides the message for another Visibility from now. [ErrNotHeld] says that it is no longer
		// this worker's, [ErrHoldOver] that it will not be; any other error leaves that open.
		Extend(ctx context.Context, m *Message) error
		// Visibility is how long a message stays hidden after it was received or extended.
		Visibility() time.Duration
	}

	// A DeadLetterer can move a message out of the way for good. It first makes the copy durable, then removes the
	// original: if anything fails, the original stays and the error says why; it wraps [ErrNotHeld] if the message is no longer this
	// worker's, [ErrCopied] if only the removal failed, and [ErrNoDeadLetter] or [ErrSetup] where trying again soon is of no use.
	DeadLetterer interface {
		DeadLetter(ctx context.Context, m *Message, d DeadLetter) error
	}

	// A Leaver must hear of a message that is neither acked nor nacked although it is still held, since its outcome could
	// not be written or belongs to somebody else: a source whose position cannot pass it, such as a Kafka partition,
	// decides there how it comes back. Other sources just let its visibility end.
	Leaver interface {
		Leave(ctx context.Context, m *Message) error
	}

	// A Redeliverer knows how long after its sending a message can still come back.
	Redeliverer interface {
		// MaxRedelivery asks the broker. It is called once, when the consumer starts.
		MaxRedelivery(ctx context.Context) (time.Duration, error)
	}

	// A Poller knows when the broker last answered: Receive itself does not return while a queue is empty.
	Poller interface {
		// LastPoll is when the broker last answered a call for messages, be it with none; zero if never.
		LastPoll() time.Time
	}

	// A Checker can find out, before anything is received, that the set-up cannot work.
	Checker interface {
		// Check names what is wrong: it wraps [ErrSetup] if only a person can mend it.
		Check(ctx context.Context) error
	}
)

// A DeadLetter says why a message is moved out of the way. Its texts never contain a raw key or payload, save Detail, which
// quotes the handler's error.
type DeadLetter struct {
	Reason   string // a code: see the Reason constants
	Detail   string // for people
	KeyHash  string // hash of the key, "" if it has none
	Attempts int    // of the operation, as its record counts them
}

// Reasons of a [DeadLetter].
const (
	ReasonMissingKey       = "idempotency_key_missing"
	ReasonMalformedKey     = "idempotency_key_malformed"
	ReasonMissingTenant    = "tenant_missing"
	ReasonMalformedBody    = "body_malformed"
	ReasonKeyReuse         = "idempotency_key_reuse"
	ReasonOlderThanWindow  = "older_than_window"
	ReasonMalformedCreated = "created_at_malformed"
	ReasonFailed           = "operation_failed"
	ReasonPermanent        = "permanent"
	ReasonExhausted        = "attempts_exhausted"
	ReasonPending          = "outcome_pending"
)

// Sentinels of sources.
var (
	// ErrNotHeld: the delivery is no longer this worker's, for example since its receipt handle expired.
	ErrNotHeld = errors.New("message is no longer held")
	// ErrHoldOver: the source can hide the message no longer. Its handler goes on, since the lease of its record keeps other deliveries
	// from running; a message that was not started yet is no longer held.
	ErrHoldOver = errors.New("the message can be hidden no longer")
	// ErrNoDeadLetter: the message has no place among the dead letters, and trying again soon does not change that.
	ErrNoDeadLetter = errors.New("the message has no place among the dead letters")
	// ErrCopied: the dead letter was made, but its message is still there. Each try more makes a copy more.
	ErrCopied = errors.New("the dead letter is made, but its message could not be removed")
	// ErrSetup: only a person can mend it, for example a missing queue or missing credentials.
	// It is dedupe.ErrSetup, which stores wrap too.
	ErrSetup = dedupe.ErrSetup
)

// A Windower recommends how long outcomes should be remembered for its messages.
type Windower interface {
	// DefaultWindow is used where the configuration names none. It makes no call.
	DefaultWindow() time.Duration
}
