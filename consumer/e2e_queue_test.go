package consumer_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/claimonce/claimonce/awstest"
	"github.com/claimonce/claimonce/consumer"
	"github.com/claimonce/claimonce/dedupe"
)

func TestCloudClaimedIsCompletedBeforeItIsDeleted(t *testing.T) {
	inCloud(t, func(t *testing.T, r *rig) {
		id := r.cloud.keyed("k", `{"amount":1}`)
		r.cloud.server.ResetCalls()
		r.work(5 * time.Second)
		r.wantRuns("k", 1)
		names, _ := r.cloud.operations("PutItem", "GetItem", "DeleteMessageBatch")
		if got := strings.Join(names, " "); got != "PutItem PutItem DeleteMessageBatch" {
			t.Errorf("calls %q, want the claim, the completion, the delete", got)
		}
		if e := r.first(id); e.Disposition != consumer.Acked || !e.Ran {
			t.Errorf("told %+v", e)
		}
		r.cloud.wantState(keyOf("k"), dedupe.StateCompleted)
		r.cloud.wantEmpty()
	})
}

// SQS-02: the message comes back while its handler runs, since its visibility is not kept.
func TestSQS02_RedeliveryWhileTheHandlerRuns(t *testing.T) {
	inCloud(t, func(t *testing.T, r *rig) {
		var overlaps atomic.Int32
		r.handle = func(ctx context.Context, _ *dedupe.Operation, _ order) (string, error) {
			if overlaps.Add(1) > 1 {
				t.Error("two handlers run at a time")
			}
			defer overlaps.Add(-1)
			return "done", wait(context.WithoutCancel(ctx), 50*time.Second)
		}
		// Every extension is refused, so that the visibility of 30 s ends; hand-backs go through.
		refuse := awstest.FailBefore("ChangeMessageVisibilityBatch", http.StatusInternalServerError, "InternalError")
		refuse.Match = func(c awstest.Call) bool { return strings.Contains(string(c.Body), `"VisibilityTimeout":30`) }
		r.cloud.server.Inject(refuse)
		id := r.cloud.keyed("k", `{"amount":1}`)
		one, two := r.start(), r.start()
		elapse(45 * time.Second)
		es := r.told(id)
		if len(es) != 1 || es[0].Disposition != consumer.Nacked || es[0].Outcome != dedupe.OutcomeBusy || es[0].Delay < time.Second {
			t.Errorf("told %+v of the second delivery, want it busy and handed back", es)
		}
		elapse(10 * time.Minute)
		one.stop()
		two.stop()
		r.wantRuns("k", 1)
		r.cloud.wantEmpty()
	})
}

// SQS-20: a record in progress of a worker that died: while its lease runs the message is put back; then it is run again, or its
// outcome is unknown. It is never deleted while its operation is unfinished.
func TestSQS20_PendingRecordOfADeadWorker(t *testing.T) {
	for _, mode := range []dedupe.Mode{dedupe.Rerun, dedupe.RerunUnlessBegun, dedupe.Reconcile} {
		t.Run(mode.String(), func(t *testing.T) {
			inCloud(t, func(t *testing.T, r *rig) {
				r.cfg.OnAbandoned = mode
				die(t, r, "k")
				id := r.cloud.keyed("k", `{"amount":1}`)
				w := r.start()
				elapse(50 * time.Second)
				r.wantRuns("k", 0)
				if e := r.first(id); e.Disposition != consumer.Nacked || e.Outcome != dedupe.OutcomeBusy {
					t.Errorf("told %+v, want it busy", e)
				}
				if n := r.cloud.server.Count("DeleteMessageBatch"); n != 0 || len(r.cloud.left()) != 1 {
					t.Errorf("%d deletes, %d messages left, want the message kept", n, len(r.cloud.left()))
				}
				elapse(5 * time.Minute)
				w.stop()
				if mode == dedupe.Reconcile {
					r.wantRuns("k", 0)
					r.cloud.wantState(keyOf("k"), dedupe.StateUnknown)
					if len(r.cloud.left()) != 1 {
						t.Error("the message is gone although its outcome is unknown")
					}
					return
				}
				r.wantRuns("k", 1)
				r.cloud.wantState(keyOf("k"), dedupe.StateCompleted)
				r.cloud.wantEmpty()
			})
		})
	}
}

// die claims an operation and is never heard of again.
func die(t *testing.T, r *rig, id string) {
	t.Helper()
	l := r.consumer().Ledger()
	req, err := l.Request(dedupe.Key{Operation: r.operation, ID: id}, []byte(`{"amount":1}`))
	if err != nil {
		t.Fatal(err)
	}
	if a, err := l.Claim(t.Context(), req); err != nil || a.Outcome != dedupe.OutcomeClaimed {
		t.Fatalf("claim: %v, %v", a.Outcome, err)
	}
}

// SQS-22: the delete fails for long: the outcome was recorded before it, so the redelivery is replayed.
func TestSQS22_DeleteFails(t *testing.T) {
	inCloud(t, func(t *testing.T, r *rig) {
		remove := r.cloud.server.Inject(awstest.FailBefore("DeleteMessageBatch", http.StatusServiceUnavailable, "ServiceUnavailable"))
		id := r.cloud.keyed("k", `{"amount":1}`)
		w := r.start()
		elapse(10 * time.Second)
		r.cloud.wantState(keyOf("k"), dedupe.StateCompleted)
		elapse(30 * time.Second)
		remove()
		elapse(2 * time.Minute)
		w.stop()
		r.wantRuns("k", 1)
		es := r.told(id)
		if len(es) < 2 || es[0].Err == nil || !es[len(es)-1].Replayed {
			t.Errorf("told %+v, want a failed delete, then a replay", es)
		}
		if rec := r.cloud.record(keyOf("k")); rec.Attempt != 1 {
			t.Errorf("%d attempts are counted, want 1", rec.Attempt)
		}
		r.cloud.wantEmpty()
	})
}

// The answer to a delete is lost: deleting again does no harm.
func TestSQS22_AnswerOfDeleteIsLost(t *testing.T) {
	inCloud(t, func(t *testing.T, r *rig) {
		r.cloud.server.Inject(awstest.DropAnswer("DeleteMessageBatch").Once())
		r.cloud.keyed("k", `{"amount":1}`)
		r.work(time.Minute)
		r.wantRuns("k", 1)
		r.cloud.wantEmpty()
	})
}

// A handler of ten minutes on a queue with a visibility of 30 s, with more messages waiting behind it.
func TestCloudVisibilityIsKept(t *testing.T) {
	inCloud(t, func(t *testing.T, r *rig) {
		r.cfg.Workers = 2
		r.handle = func(ctx context.Context, _ *dedupe.Operation, _ order) (string, error) {
			return "done", wait(ctx, 10*time.Minute)
		}
		for i := range 6 {
			r.cloud.keyed(fmt.Sprint("k", i), `{"amount":1}`)
		}
		w := r.start()
		elapse(5 * time.Minute)
		for _, m := range r.cloud.left() {
			if !m.InFlight || m.Receives != 1 {
				t.Errorf("message %+v, want it hidden and received once", m)
			}
		}
		elapse(time.Hour)
		w.stop()
		for i := range 6 {
			r.wantRuns(fmt.Sprint("k", i), 1)
		}
		r.cloud.wantEmpty()
	})
}

// OPS-04: one error each on receive, on heartbeat and on claim, with three workers.
func TestOPS04_OneErrorOfEachKind(t *testing.T) {
	inCloud(t, func(t *testing.T, r *rig) {
		r.handle = func(ctx context.Context, _ *dedupe.Operation, _ order) (string, error) {
			return "done", wait(ctx, time.Minute)
		}
		expired := func(op string) {
			r.cloud.server.Inject(awstest.FailBefore(op, http.StatusForbidden, "ExpiredTokenException").Once())
		}
		workers := []*worker{r.start(), r.start(), r.start()}
		elapse(time.Second)
		for _, op := range []string{"ReceiveMessage", "ChangeMessageVisibilityBatch", "PutItem"} {
			expired(op)
		}
		for i := range 9 {
			r.cloud.keyed(fmt.Sprint("k", i), `{"amount":1}`)
		}
		elapse(2 * time.Minute)
		r.cloud.keyed("late", `{"amount":1}`)
		elapse(5 * time.Minute)
		for _, w := range workers {
			if h := w.Health(); !h.Ready() {
				t.Errorf("health %+v, want every worker to go on", h)
			}
			w.stop()
		}
		for i := range 9 {
			r.wantRuns(fmt.Sprint("k", i), 1)
		}
		r.wantRuns("late", 1)
		r.cloud.wantEmpty()
	})
}

// OPS-06: settings of zero, and far more in the queue than a worker may hold.
func TestOPS06_CloudHeldIsBounded(t *testing.T) {
	inCloud(t, func(t *testing.T, r *rig) {
		r.cfg.Workers = 5
		var most atomic.Int32
		r.handle = func(ctx context.Context, _ *dedupe.Operation, _ order) (string, error) {
			n := int32(0)
			for _, m := range r.cloud.left() {
				if m.InFlight {
					n++
				}
			}
			most.Store(max(most.Load(), n))
			return "done", wait(ctx, time.Second)
		}
		for i := range 300 {
			r.cloud.keyed(fmt.Sprint("k", i), `{"amount":1}`)
		}
		w := r.start()
		elapse(20 * time.Second)
		w.stop()
		if got := most.Load(); got > 15 || got < 5 {
			t.Errorf("%d messages in flight at most, want at most 5 + 10", got)
		}
		if got := len(r.order()); got < 75 {
			t.Errorf("%d handlers in 20 s, want five a second", got)
		}
	})
}
