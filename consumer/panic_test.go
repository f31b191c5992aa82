package consumer_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/claimonce/claimonce/consumer"
	"github.com/claimonce/claimonce/dedupe"
)

// LIF-15: five messages, the third panics with a nil dereference.
func TestLIF15_PanicCostsItsMessageOnly(t *testing.T) {
	for _, mode := range []dedupe.Mode{dedupe.Rerun, dedupe.Reconcile} {
		t.Run(mode.String(), func(t *testing.T) {
			inBubble(t, func(t *testing.T, r *rig) {
				var log page
				r.cfg.Logger = slog.New(slog.NewJSONHandler(&log, nil))
				r.cfg.OnAbandoned, r.cfg.Workers, r.cfg.Ledger.AttemptBound = mode, 3, 2
				r.handle = func(_ context.Context, op *dedupe.Operation, o order) (string, error) {
					if op.Key().ID == "k3" {
						var none *order
						return fmt.Sprint(none.Amount), nil
					}
					return "done", nil
				}
				for i := range 5 {
					r.queue.send(message(fmt.Sprint("k", i+1), `{"amount":4242}`))
				}
				w := r.start()
				elapse(time.Minute)
				extends, lease := r.queue.count("extend"), r.store.callsFor("k3")
				for _, id := range []string{"k1", "k2", "k4", "k5"} {
					r.wantRuns(id, 1)
					r.wantState(id, dedupe.StateCompleted)
				}
				if mode == dedupe.Rerun {
					r.wantRuns("k3", 2)
					r.wantDead("m-k3", consumer.ReasonExhausted)
				} else {
					r.wantRuns("k3", 1)
					r.wantState("k3", dedupe.StateUnknown)
				}
				if e := r.first("m-k3"); !e.Panicked || !e.Ran {
					t.Errorf("told %+v, want a panic", e)
				}
				if h := w.Health(); h.Running != 0 {
					t.Errorf("%d handlers count as running", h.Running)
				}
				r.queue.send(message("k6", `{"amount":1}`), message("k7", `{"amount":1}`), message("k8", `{"amount":1}`))
				elapse(time.Second)
				w.stop()
				for _, id := range []string{"k6", "k7", "k8"} { // every slot is free
					r.wantRuns(id, 1)
				}
				if mode == dedupe.Rerun && (r.queue.count("extend") != extends || r.store.callsFor("k3") != lease) {
					t.Error("its heartbeats went on")
				}
				if s := log.String(); !strings.Contains(s, "panic_test.go") || !strings.Contains(s, "nil pointer") || strings.Contains(s, "4242") {
					t.Errorf("the log wants the stack and the fault without the payload: %s", s)
				}
			})
		})
	}
}

func TestHandlerThatEndsItsGoroutine(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.cfg.Workers = 1
		r.handle = func(context.Context, *dedupe.Operation, order) (string, error) {
			if r.ran("k") == 1 {
				runtime.Goexit()
			}
			return "done", nil
		}
		r.queue.send(message("k", `{"amount":1}`))
		r.work(time.Minute)
		r.wantRuns("k", 2)
		r.wantEmpty()
	})
}

// faulty ends the goroutine or panics.
func faulty(how string) {
	if how == "goexit" {
		runtime.Goexit()
	}
	panic("card 4242424242424242")
}

func TestDecoderThatPanics(t *testing.T) {
	for _, how := range []string{"panic", "goexit"} {
		t.Run(how, func(t *testing.T) {
			inBubble(t, func(t *testing.T, r *rig) {
				r.cfg.Workers = 1
				h := consumer.Decode(func(m *consumer.Message) (order, error) {
					if m.ID == "m-bad" {
						faulty(how)
					}
					return order{}, nil
				}, r.run)
				c, err := consumer.New(operation, r.queue, r.store, h, r.cfg)
				if err != nil {
					t.Fatal(err)
				}
				r.queue.send(message("bad", `x`), message("k", `y`))
				w := startWorker(t, c)
				elapse(time.Second)
				w.stop()
				r.wantRuns("k", 1)
				if d := r.wantDead("m-bad", consumer.ReasonMalformedBody); strings.Contains(d.Detail, "4242") {
					t.Errorf("the dead letter quotes the panic: %q", d.Detail)
				}
			})
		})
	}
}

func TestCallbackThatPanics(t *testing.T) {
	for _, how := range []string{"panic", "goexit"} {
		t.Run(how, func(t *testing.T) {
			inBubble(t, func(t *testing.T, r *rig) {
				r.cfg.Workers = 1
				r.cfg.Observe = func(context.Context, consumer.Event) { faulty(how) }
				for i := range 40 {
					r.queue.send(message(fmt.Sprint("k", i), `{"amount":1}`))
				}
				w := r.start()
				elapse(time.Second)
				if h := w.Health(); h.Held != 0 {
					t.Errorf("%d messages are held, want none", h.Held)
				}
				w.stop()
				r.wantEmpty()
			})
		})
	}
}

// The ledger's callback is called from the goroutine of renewals too.
func TestLedgerCallbackThatPanics(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		var renewals atomic.Int32
		r.cfg.Ledger.Observe = func(_ context.Context, o dedupe.Observation) {
			if o.Event == "renew" {
				renewals.Add(1)
			}
			panic(errors.New("callback"))
		}
		r.handle = func(context.Context, *dedupe.Operation, order) (string, error) {
			elapse(time.Minute)
			return "done", nil
		}
		r.queue.send(message("k", `{"amount":1}`))
		r.work(2 * time.Minute)
		r.wantRuns("k", 1)
		r.wantEmpty()
		if n := renewals.Load(); n < 2 {
			t.Errorf("%d renewals, want them to go on", n)
		}
	})
}

func TestLedgerCallbackThatEndsItsGoroutine(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.cfg.Workers = 1
		var n atomic.Int32
		r.cfg.Ledger.Observe = func(context.Context, dedupe.Observation) {
			if n.Add(1) == 1 {
				runtime.Goexit()
			}
		}
		r.queue.send(message("k", `{"amount":1}`), message("l", `{"amount":1}`))
		r.work(5 * time.Minute)
		r.wantRuns("l", 1)
		r.wantEmpty()
	})
}
