package consumer

import (
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
	Key         dedupe.Key // zero if the message has none
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
	Err         error          // the handler's, the store's, or the source's that failed to dispose of it
}

// String gives the disposition's name as documented.
func (d Disposition) String() string {
	names := [...]string{"invalid", "acked", "nacked", "dead-lettered", "left"}
	if int(d) < len(names) {
		return names[d]
	}
	return names[0]
}
