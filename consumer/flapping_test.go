package consumer_test

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/claimonce/claimonce/dedupe"
)

// A store that reads and refuses to write is one fault from its beginning to its end, although each probe succeeds: said once, ended
// once, and the worker is not ready in between.
func TestWritesAloneFailingIsOneFault(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		var log page
		r.cfg.Logger = slog.New(slog.NewTextHandler(&log, nil))
		for i := range 5 {
			r.queue.send(message(fmt.Sprint("k", i), `{"amount":1}`))
		}
		r.store.script(func(call, _ string, _ dedupe.Record) error {
			if call != "load" {
				return errBroken
			}
			return nil
		}, nil)
		w := r.start()
		elapse(time.Minute)
		for range 100 {
			elapse(1700 * time.Millisecond)
			if h := w.Health(); h.Ready() || h.StoreErr == nil {
				t.Fatalf("ready %v, store error %v, while nothing can be written", h.Ready(), h.StoreErr)
			}
		}
		r.store.fail(nil)
		elapse(2 * time.Minute)
		if h := w.Health(); !h.Ready() {
			t.Errorf("not ready after the fault: %+v", h)
		}
		w.stop()
		r.wantEmpty()
		for _, text := range []string{"the store cannot be reached", "the store answers again"} {
			// Once for the outage as it is met first, before it is known that the probe proves nothing, and once for the rest.
			if n := strings.Count(log.String(), text); n < 1 || n > 2 {
				t.Errorf("%q is said %d times, want once or twice", text, n)
			}
		}
	})
}
