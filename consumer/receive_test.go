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

// OPS-03: a poller that fails at once does not spin, its log is bounded, health says why, and it recovers.
func TestOPS03_ReceiveThatFailsAtOnce(t *testing.T) {
	for _, c := range []struct {
		name string
		err  error
	}{
		{"queue missing", fmt.Errorf("%w: the queue does not exist", consumer.ErrSetup)},
		{"credentials missing", fmt.Errorf("%w: no credentials", consumer.ErrSetup)},
		{"access denied", fmt.Errorf("%w: access denied", consumer.ErrSetup)},
		{"DNS", errors.New("no such host")},
	} {
		t.Run(c.name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, r *rig) {
				var log page
				r.cfg.Logger = slog.New(slog.NewTextHandler(&log, nil))
				var failing atomic.Bool
				failing.Store(true)
				r.queue.faults.receive = func(int) error {
					if failing.Load() {
						return c.err
					}
					return nil
				}
				w := r.start()
				elapse(30 * time.Second)
				if n := r.queue.count("receive"); n < 4 || n > 15 {
					t.Errorf("%d calls in 30s, want a back-off", n)
				}
				if n := strings.Count(log.String(), "\n"); n > 20 {
					t.Errorf("%d lines in the log, want it bounded", n)
				}
				if needs := strings.Contains(log.String(), "needs_a_person=true"); needs != errors.Is(c.err, consumer.ErrSetup) {
					t.Errorf("the log says needs_a_person=%v", needs)
				}
				if h := w.Health(); h.Ready() || !errors.Is(h.ReceiveErr, c.err) {
					t.Errorf("health %+v, want it not ready, with the cause", h)
				}
				failing.Store(false)
				r.queue.send(message("k", `{"amount":1}`))
				elapse(31 * time.Second)
				if h := w.Health(); !h.Ready() {
					t.Errorf("health %+v, want it ready within the cap of the back-off", h)
				}
				w.stop()
				r.wantRuns("k", 1)
			})
		})
	}
}

func TestOPS04_OneErrorOnReceive(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.queue.faults.receive = func(call int) error {
			if call == 2 {
				return errors.New("ExpiredToken")
			}
			return nil
		}
		r.handle = func(ctx context.Context, _ *dedupe.Operation, _ order) (string, error) {
			return "done", wait(ctx, 5*time.Second)
		}
		r.queue.send(message("a", `{"amount":1}`))
		w := r.start()
		elapse(time.Second)
		r.queue.send(message("b", `{"amount":1}`))
		elapse(10 * time.Second)
		if h := w.Health(); !h.Ready() || h.LastReceive.IsZero() {
			t.Errorf("health %+v, want it ready", h)
		}
		w.stop()
		r.wantRuns("a", 1)
		r.wantRuns("b", 1)
		r.wantEmpty()
	})
}

// One good answer ends the back-off: the next fault starts again with short pauses.
func TestReceiveBackoffIsReset(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.queue.faults.receive = func(call int) error {
			if call < 10 || call == 12 {
				return errBroken
			}
			return nil
		}
		r.queue.send(message("a", `{"amount":1}`))
		w := r.start()
		elapse(3 * time.Minute)
		r.wantRuns("a", 1)
		r.queue.send(message("b", `{"amount":1}`))
		elapse(time.Millisecond)
		r.queue.send(message("c", `{"amount":1}`))
		elapse(time.Second)
		w.stop()
		r.wantRuns("c", 1)
	})
}

// An empty queue gives no sign but silence: the worker is ready at once, and ready again some time after a fault.
func TestHealthOnAnEmptyQueue(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.queue.faults.receive = func(call int) error {
			if call == 1 {
				elapse(time.Minute)
				return errBroken
			}
			return nil
		}
		w := r.start()
		elapse(time.Second)
		if h := w.Health(); !h.Ready() {
			t.Errorf("health %+v, want a new worker on an empty queue ready", h)
		}
		elapse(time.Minute)
		if h := w.Health(); h.Ready() {
			t.Errorf("health %+v, want it not ready after an error", h)
		}
		elapse(35 * time.Second)
		if h := w.Health(); !h.Ready() {
			t.Errorf("health %+v, want it ready again although nothing came", h)
		}
		w.stop()
		if h := w.Health(); h.Ready() {
			t.Errorf("health %+v, want a stopped worker not ready", h)
		}
	})
}

// polling is a source that knows when its broker last answered.
type polling struct {
	*queue

	at func() time.Time
}

func (p polling) LastPoll() time.Time { return p.at() }

func TestHealthOfAPoller(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		var last time.Time
		r.src = polling{r.queue, func() time.Time { return last }}
		r.queue.faults.receive = func(call int) error {
			if call == 1 {
				return errBroken
			}
			return nil
		}
		w := r.start()
		elapse(time.Hour)
		if h := w.Health(); h.Ready() {
			t.Errorf("health %+v, want it not ready until the broker answers", h)
		}
		last = time.Now()
		if h := w.Health(); !h.Ready() || !h.LastReceive.Equal(last) {
			t.Errorf("health %+v, want it ready since %v", h, last)
		}
		w.stop()
	})
}

// A failed ack is no failed handler: the message comes back and is answered from the record.
func TestAckFailureIsNoHandlerFailure(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.queue.faults.ack = func(m *consumer.Message) error {
			if m.Receives == 1 {
				return errBroken
			}
			return nil
		}
		r.queue.send(message("k", `{"amount":1}`))
		w := r.start()
		elapse(time.Minute)
		if h := w.Health(); h.DisposeFailures != 1 {
			t.Errorf("%d failures to dispose of messages, want 1", h.DisposeFailures)
		}
		w.stop()
		r.wantRuns("k", 1)
		rec := r.store.record(keyOf("k"))
		if rec.State != dedupe.StateCompleted || rec.Attempt != 1 {
			t.Errorf("record %s at attempt %d, want it completed in the first", rec.State, rec.Attempt)
		}
		es := r.told("m-k")
		if len(es) != 2 || !errors.Is(es[0].Err, errBroken) || !es[1].Replayed {
			t.Errorf("told %+v, want a failed ack, then a replay", es)
		}
		r.wantEmpty()
	})
}

func TestNackFailureLeavesTheMessageToItsVisibility(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.queue.faults.nack = func(*consumer.Message) error { return errBroken }
		r.handle = func(context.Context, *dedupe.Operation, order) (string, error) {
			if r.ran("k") == 1 {
				return "", errPlain
			}
			return "done", nil
		}
		r.queue.send(message("k", `{"amount":1}`))
		r.work(time.Minute)
		r.wantRuns("k", 2)
		r.wantEmpty()
	})
}

// OPS-06: 100,000 messages are offered to a worker of zero-valued settings.
func TestOPS06_WhatIsHeldIsBounded(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		body := []byte(`{"amount":1,"pad":"` + strings.Repeat("x", 200<<10) + `"}`) // shared by all
		for i := range 100_000 {
			m := message(fmt.Sprint("k", i), "")
			m.Body = body
			r.queue.entries = append(r.queue.entries, &entry{m: m, visibleAt: time.Now()})
		}
		r.handle = func(ctx context.Context, _ *dedupe.Operation, _ order) (string, error) {
			return "done", wait(ctx, time.Second)
		}
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		w := r.start()
		elapse(10500 * time.Millisecond) // between two ends of handlers
		runtime.GC()
		runtime.ReadMemStats(&after)
		if h := w.Health(); h.Held > 26 || h.Running > 16 || h.Running < 10 {
			t.Errorf("health %+v, want at most 26 held and 16 running", h)
		}
		w.stop()
		if r.queue.maxHeld > 26 || r.maxRun != 16 {
			t.Errorf("%d held and %d running at most, want 26 and 16", r.queue.maxHeld, r.maxRun)
		}
		if n := len(r.order()); n < 9*16 {
			t.Errorf("%d handlers in ten seconds, want 16 a second", n)
		}
		if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 32<<20 {
			t.Errorf("the heap grew by %d bytes, want it flat", grown)
		}
	})
}

// careless breaks the promises of a source: it returns nothing without an error, and more than it was asked for.
type careless struct {
	*queue

	empty atomic.Bool
	more  int
	calls atomic.Int32
}

func (c *careless) Receive(ctx context.Context, limit int) ([]*consumer.Message, error) {
	c.calls.Add(1)
	if c.empty.Load() {
		return nil, ctx.Err()
	}
	return c.queue.Receive(ctx, limit+c.more)
}

func TestCarelessSource(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		src := &careless{queue: r.queue, more: 100}
		src.empty.Store(true)
		r.src = src
		w := r.start()
		elapse(30 * time.Second)
		if n := src.calls.Load(); n > 15 {
			t.Errorf("%d calls in 30s of a source that returns nothing, want no spin", n)
		}
		src.empty.Store(false)
		for i := range 300 {
			r.queue.send(message(fmt.Sprint("k", i), `{"amount":1}`))
		}
		elapse(time.Minute)
		w.stop()
		r.wantEmpty()
	})
}

// Brokers bill calls: a worker that is always busy receives in batches all the same.
func TestBusyWorkerReceivesInBatches(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		d := newDice(1)
		r.handle = func(ctx context.Context, _ *dedupe.Operation, _ order) (string, error) {
			return "done", wait(ctx, d.upTo(400*time.Millisecond))
		}
		for i := range 2000 {
			r.queue.send(message(fmt.Sprint("k", i), `{"amount":1}`))
		}
		r.work(20 * time.Second)
		done := len(r.order())
		if done < 1000 {
			t.Errorf("%d handlers in 20s, want every worker busy", done)
		}
		if n := r.queue.count("receive"); n > done/4 {
			t.Errorf("%d calls for %d messages, want batches", n, done)
		}
	})
}
