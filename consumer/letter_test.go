package consumer_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/claimonce/claimonce/consumer"
)

// A dead letter that fails keeps its group away only as long as that failure is worth: others of the group are healthy.
func TestFailedDeadLetterAndItsGroup(t *testing.T) {
	for _, c := range []struct {
		name  string
		err   error // of the first try
		after time.Duration
	}{
		{"another worker has the message", consumer.ErrNotHeld, time.Minute},
		{"one failed call", errBroken, time.Minute},
		{"no place", fmt.Errorf("full: %w", consumer.ErrNoDeadLetter), 6 * time.Minute},
		{"needs a person", fmt.Errorf("gone: %w", consumer.ErrSetup), 6 * time.Minute},
	} {
		t.Run(c.name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, r *rig) {
				first := func(m *consumer.Message) error {
					if m.ID == "m-" && m.Receives == 1 {
						return c.err
					}
					return nil
				}
				r.queue.visibility = 9 * time.Second
				r.queue.faults.deadLetter = first
				if c.err == consumer.ErrNotHeld { //nolint:errorlint // the case itself
					r.queue.faults.nack = first
				}
				r.queue.send(append([]consumer.Message{inGroup("g", message("", `{}`))}, grouped("g", "b", "c")...)...)
				w := r.start()
				elapse(time.Minute)
				if got, want := r.ran("b") == 1 && r.ran("c") == 1, c.after == time.Minute; got != want {
					t.Errorf("after a minute the rest of the group has run: %v, want %v", got, want)
				}
				elapse(c.after)
				w.stop()
				r.wantRuns("b", 1)
				r.wantRuns("c", 1)
				r.wantDead("m-", consumer.ReasonMissingKey)
			})
		})
	}
}
