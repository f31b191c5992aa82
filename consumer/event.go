package consumer

import (
	"log/slog"
	"time"

	"github.com/claimonce/claimonce/dedupe"
)

// Disposition is what became of a delivery.
type Disposition uint8

// Dispositions.
const (
	Acked        Disposition = iota + 1 // done; removed from the queue
	Nacked                              // handed back, to come again after a delay
	DeadLettered                        // moved out of the way for good
	Left                                // neither: it is no longer this worker's, or its outcome could not be written
)

// An Event says what became of a delivery. See dedupe.Observation for what became of the record.
type Event struct {
	Key         dedupe.Key // its ID is empty if the message has no usable key
	MessageID   string
	Group       string
	Disposition Disposition
	Outcome     dedupe.Outcome // what the claim said; 0 if none was made
	Replayed    bool           // answered from the stored result
	Ran         bool           // the handler was run
	Panicked    bool           // and panicked
	Reason      string         // of a dead letter
	Delay       time.Duration  // of a nack
	Duration    time.Duration  // since it was received
	HandedBack  bool           // no claim was made: what is ahead of it in its group or lane went back, or takes long
	PathCheck   bool           // it was a message of a PathCheck, answered without the handler
	TooOld      bool           // it is older than the window, and was accepted by AcceptOlderThanWindow
	WouldHave   Verdict        // in observe-only mode: see Verdict; else zero
	Err         error          // the handler's, the store's, or the source's that failed to dispose of it
}

// LogValue implements [slog.LogValuer]: a handler would else encode the key with its ID.
func (e Event) LogValue() slog.Value {
	attrs := []slog.Attr{
		slog.Any("key", e.Key), slog.String("message_id", e.MessageID), slog.String("disposition", e.Disposition.String()),
		slog.Bool("ran", e.Ran), slog.Bool("replayed", e.Replayed), slog.Duration("duration", e.Duration),
	}
	if e.Outcome != 0 {
		attrs = append(attrs, slog.String("outcome", e.Outcome.String()))
	}
	if e.HandedBack {
		attrs = append(attrs, slog.Bool("handed_back", true))
	}
	if e.Reason != "" {
		attrs = append(attrs, slog.String("reason", e.Reason))
	}
	if e.WouldHave != (Verdict{}) {
		attrs = append(attrs, slog.Group("would_have", "disposition", e.WouldHave.Disposition.String(), "reason", e.WouldHave.Reason, "runs", e.WouldHave.Runs))
	}
	if e.Err != nil {
		attrs = append(attrs, slog.Any("err", e.Err))
	}
	return slog.GroupValue(attrs...)
}

// A Verdict is what the usual mode would have done with a delivery of a consumer in observe-only mode. It is zero for a delivery
// that was not started.
type Verdict struct {
	// Disposition; 0 with the reason store_unavailable: it would have been kept until the store answers.
	Disposition Disposition
	// Reason of the dead letter, or why the handler would not have been run: a Reason or Withheld constant. Empty: neither.
	Reason string
	// Runs: the handler would have been run.
	Runs bool
	// Err is the refusal's or the store's, if there is one.
	Err error
}

// Reasons of a [Verdict] beside those of a [DeadLetter].
const (
	WithheldReplay      = "replayed"            // answered from the stored result
	WithheldBusy        = "request_in_progress" // another run of the key goes on
	WithheldNewerSchema = "newer_schema"        // left to a worker of the newer release
	WithheldStore       = "store_unavailable"
)

// String gives the disposition's name as documented.
func (d Disposition) String() string {
	names := [...]string{"invalid", "acked", "nacked", "dead-lettered", "left"}
	if int(d) < len(names) {
		return names[d]
	}
	return names[0]
}
