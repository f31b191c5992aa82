package consumer_test

import (
	"context"
	"testing"
	"time"

	"github.com/claimonce/claimonce/consumer"
	"github.com/claimonce/claimonce/dedupe"
)

// A message has one downstream key while it is young and when it is refused for its age, and another request under its key has another.
// Where the body has no digest, the message's id tells requests apart.
func TestObserveOnlyDownstreamKeysOfWhatIsRefusedForItsAge(t *testing.T) {
	const one, two, none = `{"amount":1}`, `{"amount":2}`, `{"amount":1,"amount":2}`
	old, undated := sentAgo(8*24*time.Hour), created("yesterday")
	key := func(id, text string, change func(*consumer.Message)) (got string) {
		observing(t, func(t *testing.T, r *rig) {
			m := message("k", text)
			m.ID = id
			if change != nil {
				change(&m)
			}
			r.handle = func(ctx context.Context, op *dedupe.Operation, _ order) (string, error) {
				step, err := op.Begin(ctx, "charge")
				got = step.Key()
				return "done", err
			}
			r.queue.send(m)
			r.work(5 * time.Second)
			r.wantRuns("k", 1)
		})
		return got
	}
	young := key("a", one, nil)
	for name, change := range map[string]func(*consumer.Message){"old": old, "undated": undated} {
		if got := key("b", one, change); got != young || got == "" {
			t.Errorf("%s: downstream key %q, want %q as while it was young", name, got, young)
		}
		if got := key("a", two, change); got == young {
			t.Errorf("%s: another request has the same downstream key", name)
		}
		undigested := key("a", none, change)
		if key("b", none, change) == undigested {
			t.Errorf("%s: two messages without a digest have one downstream key", name)
		}
		if key("a", none, change) != undigested {
			t.Errorf("%s: two deliveries of one message have two downstream keys", name)
		}
	}
}
