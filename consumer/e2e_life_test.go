package consumer_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/claimonce/claimonce/awstest"
	"github.com/claimonce/claimonce/consumer"
	"github.com/claimonce/claimonce/dedupe"
)

// LIF-01: a worker dies between claim and completion. Its record keeps others off for the lease, not for the window, and the
// message is neither lost nor deleted meanwhile.
func TestLIF01_KilledWorker(t *testing.T) {
	for _, mode := range []dedupe.Mode{dedupe.Rerun, dedupe.Reconcile} {
		t.Run(mode.String(), func(t *testing.T) {
			inCloud(t, func(t *testing.T, r *rig) {
				r.cfg.OnAbandoned, r.cfg.Ledger.Lease, r.cfg.Ledger.Window = mode, 30*time.Second, 72*time.Hour
				r.cfg.AcceptShortWindow = "a test"
				killed := make(chan struct{})
				r.handle = func(context.Context, *dedupe.Operation, order) (string, error) {
					if r.ran("k") == 1 {
						<-killed
						return "never heard of", nil
					}
					return "done", nil
				}
				r.cloud.keyed("k", `{"amount":1}`)
				dead, plug := r.startPlugged()
				elapse(2 * time.Second)
				plug.pull() // like a SIGKILL: from here on it gets no call through
				close(killed)
				dead.cancel()
				defer func() { t.Logf("the killed worker ended with %v", <-dead.done) }() // it must not outlive the bubble
				r.wantRuns("k", 1)
				w := r.start()
				elapse(10 * time.Second) // the lease runs
				r.cloud.wantState(keyOf("k"), dedupe.StateInProgress)
				r.wantRuns("k", 1)
				if len(r.cloud.left()) != 1 {
					t.Error("the message is gone while its outcome is open")
				}
				elapse(3 * time.Minute)
				w.stop()
				if mode == dedupe.Reconcile {
					r.wantRuns("k", 1)
					r.cloud.wantState(keyOf("k"), dedupe.StateUnknown)
					if len(r.cloud.left()) != 1 || len(r.cloud.letters()) != 0 {
						t.Error("want the message kept until its outcome is settled")
					}
					return
				}
				r.wantRuns("k", 2)
				r.cloud.wantState(keyOf("k"), dedupe.StateCompleted)
				r.cloud.wantEmpty()
			})
		})
	}
}

// startPlugged starts a worker whose connection can be cut.
func (r *rig) startPlugged() (*worker, *plug) {
	r.t.Helper()
	c := r.cloud
	defer func() { r.cloud = c }()
	own, p := c.plugged()
	r.cloud = own
	return r.start(), p
}

// LIF-02: a plain error after a possible effect follows the mode and keeps the record; only "nothing happened" frees the claim.
func TestLIF02_PlainErrorAndNotCommitted(t *testing.T) {
	for _, c := range []struct {
		mode  dedupe.Mode
		err   error
		state dedupe.State
		runs  int
	}{
		{dedupe.Rerun, errPlain, dedupe.StateCompleted, 2},
		{dedupe.Reconcile, errPlain, dedupe.StateUnknown, 1},
		{dedupe.RerunUnlessBegun, errPlain, dedupe.StateUnknown, 1},
		{dedupe.Reconcile, dedupe.NotCommitted(errPlain), dedupe.StateCompleted, 2},
		{dedupe.RerunUnlessBegun, fmt.Errorf("wrapped: %w", dedupe.NotCommitted(errPlain)), dedupe.StateCompleted, 2},
	} {
		t.Run(fmt.Sprint(c.mode, c.state), func(t *testing.T) {
			inCloud(t, func(t *testing.T, r *rig) {
				r.cfg.OnAbandoned = c.mode
				r.cfg.Ledger.Lease, r.cfg.Ledger.Window = 40*time.Second, 20*24*time.Hour // two settings
				r.handle = func(ctx context.Context, op *dedupe.Operation, _ order) (string, error) {
					if _, err := op.Begin(ctx, "charge"); err != nil {
						return "", err
					}
					if r.ran("k") == 1 {
						return "", c.err
					}
					return "done", nil
				}
				r.cloud.keyed("k", `{"amount":1}`)
				r.work(10 * time.Minute)
				r.wantRuns("k", c.runs)
				rec := r.cloud.wantState(keyOf("k"), c.state)
				if rec.Attempt != c.runs {
					t.Errorf("%d attempts are counted, want %d", rec.Attempt, c.runs)
				}
			})
		})
	}
}

// LIF-15 on the real queue: the stack is logged without the payload, and the heartbeat of the message that panics stops.
func TestLIF15_CloudPanic(t *testing.T) {
	inCloud(t, func(t *testing.T, r *rig) {
		var log page
		r.cfg.Logger = slog.New(slog.NewTextHandler(&log, nil))
		r.cfg.Workers, r.cfg.Ledger.AttemptBound = 3, 2
		r.handle = func(_ context.Context, op *dedupe.Operation, _ order) (string, error) {
			if op.Key().ID == "k3" {
				var none *order
				return fmt.Sprint(none.Amount), nil
			}
			return "done", nil
		}
		for i := range 5 {
			r.cloud.keyed(fmt.Sprint("k", i+1), `{"amount":4242424}`)
		}
		w := r.start()
		elapse(time.Minute)
		extends := r.cloud.server.Count("ChangeMessageVisibilityBatch")
		elapse(time.Minute)
		if n := r.cloud.server.Count("ChangeMessageVisibilityBatch"); n != extends {
			t.Errorf("%d visibility calls after all was done", n-extends)
		}
		w.stop()
		for _, id := range []string{"k1", "k2", "k4", "k5"} {
			r.wantRuns(id, 1)
			r.cloud.wantState(keyOf(id), dedupe.StateCompleted)
		}
		r.wantRuns("k3", 2)
		m := r.cloud.wantDead(consumer.ReasonExhausted, `{"amount":4242424}`)
		for name, v := range m.Attributes {
			if strings.HasPrefix(name, "Claimonce-") && strings.Contains(v, "4242424") {
				t.Errorf("attribute %s quotes the payload: %q", name, v)
			}
		}
		if s := log.String(); strings.Contains(s, "4242424") || !strings.Contains(s, "e2e_life_test.go") {
			t.Errorf("want the stack in the log, and no payload: %s", s)
		}
		if got := r.cloud.left(); len(got) != 0 {
			t.Errorf("%d messages left", len(got))
		}
	})
}

// LIF-18: A is cut off past its lease; B takes over and completes; then A wakes and does all its bookkeeping.
func TestLIF18_StalledWorkerWakesAfterATakeover(t *testing.T) {
	inCloud(t, func(t *testing.T, r *rig) {
		var mu sync.Mutex
		var fences []int64
		var noted dedupe.Note
		r.cfg.Ledger.Observe = func(_ context.Context, o dedupe.Observation) {
			mu.Lock()
			defer mu.Unlock()
			noted |= o.Note
		}
		woken := make(chan struct{})
		r.handle = func(_ context.Context, op *dedupe.Operation, _ order) (string, error) {
			mu.Lock()
			fences = append(fences, op.Fence())
			attempt := len(fences)
			mu.Unlock()
			if attempt == 1 {
				<-woken // ignores its context, as a stopped process does
				return "RA", nil
			}
			return "RB", nil
		}
		id := r.cloud.keyed("k", `{"amount":1}`)
		a, plug := r.startPlugged()
		elapse(time.Second)
		plug.pull()
		b := r.start()
		elapse(5 * time.Minute)
		r.cloud.wantState(keyOf("k"), dedupe.StateCompleted)
		plug.put()
		close(woken)
		elapse(time.Minute)
		rec := r.cloud.wantState(keyOf("k"), dedupe.StateCompleted)
		if rec.Result == nil || string(rec.Result.Body) != `"RB"` {
			t.Errorf("the result is %+v, want B's", rec.Result)
		}
		if len(fences) != 2 || fences[1] <= fences[0] {
			t.Errorf("fences %v, want them to rise", fences)
		}
		if noted&dedupe.NoteEffectByLostOwner == 0 || noted&dedupe.NoteAbandoned == 0 {
			t.Errorf("notes %b, want the abandoned run and the effect by a lost owner observed", noted)
		}
		var lost bool
		for _, e := range r.told(id) {
			if errors.Is(e.Err, dedupe.ErrLeaseLost) {
				lost = true
				if e.Disposition != consumer.Left {
					t.Errorf("told %+v, want it left alone", e)
				}
			}
		}
		if !lost {
			t.Errorf("told %+v, want A to say that its lease was lost", r.told(id))
		}
		a.stop()
		b.stop()
		r.cloud.wantEmpty()
	})
}

// Two operations that share a queue's fault of every kind, on the real adapter and store: three workers, each key effective once.
func TestCloudRandomFaults(t *testing.T) {
	for seed := range uint64(4) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			inCloud(t, func(t *testing.T, r *rig) {
				const keys = 30
				w := &world{d: newDice(seed), effects: map[string]int{}}
				r.handle = w.handle
				r.cfg.Workers, r.cfg.Drain, r.cfg.Ledger.AttemptBound = 4, 5*time.Second, 1000
				for i := range keys * 3 {
					r.cloud.keyed(fmt.Sprint("k", i%keys), `{"amount":1}`)
				}
				chance := func(f awstest.Fault, p float64) {
					f.Match = func(awstest.Call) bool { return w.d.roll(p) }
					r.cloud.server.Inject(f)
				}
				workers := []*worker{r.start(), r.start(), r.start()}
				elapse(time.Second)
				for _, op := range []string{"PutItem", "GetItem", "ReceiveMessage", "DeleteMessageBatch", "ChangeMessageVisibilityBatch"} {
					chance(awstest.FailBefore(op, 500, "InternalServerError"), 0.1)
					chance(awstest.DropAnswer(op), 0.1)
					chance(awstest.Throttle(op), 0.1)
					chance(awstest.Delay(op, 50*time.Millisecond, 50*time.Millisecond), 0.3)
				}
				for i := range 8 {
					elapse(w.d.upTo(20 * time.Second))
					workers[i%3].stop()
					workers[i%3] = r.start()
				}
				elapse(2 * time.Hour)
				for _, w := range workers {
					w.stop()
				}
				r.cloud.wantEmpty()
				for i := range keys {
					if n := w.effects[fmt.Sprint("k", i)]; n != 1 {
						t.Errorf("k%d took effect %d times, want once", i, n)
					}
				}
			})
		})
	}
}
