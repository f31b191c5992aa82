package consumer_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/claimonce/claimonce/awstest"
	"github.com/claimonce/claimonce/consumer"
	"github.com/claimonce/claimonce/dedupe"
)

// DDB-01: the claim's put is applied and its answer lost; the SDK's own repeat fails its condition against it.
func TestDDB01_LostAnswerOfTheClaim(t *testing.T) {
	for _, lost := range []int{1, 2, 3, 5} { // by the SDK's repeats, the ledger's, and both
		t.Run(fmt.Sprint(lost, " lost"), func(t *testing.T) {
			inCloud(t, func(t *testing.T, r *rig) {
				drop := awstest.DropAnswer("PutItem")
				drop.Times = lost
				r.cloud.server.Inject(drop)
				id := r.cloud.keyed("k", `{"amount":1}`)
				r.work(30 * time.Second)
				r.wantRuns("k", 1)
				es := r.told(id)
				if len(es) != 1 || es[0].Outcome != dedupe.OutcomeClaimed || es[0].Disposition != consumer.Acked {
					t.Errorf("told %+v, want one run, not a rival", es)
				}
				if rec := r.cloud.wantState(keyOf("k"), dedupe.StateCompleted); rec.Attempt != 1 {
					t.Errorf("%d attempts are counted, want 1", rec.Attempt)
				}
				r.cloud.wantEmpty()
			})
		})
	}
}

// The answer to the completion is lost: it is not taken for another's, and the handler not run again.
func TestDDB01_LostAnswerOfTheCompletion(t *testing.T) {
	inCloud(t, func(t *testing.T, r *rig) {
		drop := awstest.DropAnswer("PutItem")
		drop.Times = 8
		drop.Match = func(c awstest.Call) bool { return strings.Contains(string(c.Body), `"completed"`) }
		r.cloud.server.Inject(drop)
		r.cloud.keyed("k", `{"amount":1}`)
		r.work(5 * time.Minute)
		r.wantRuns("k", 1)
		r.cloud.wantState(keyOf("k"), dedupe.StateCompleted)
		r.cloud.wantEmpty()
	})
}

// DDB-04: an expired item that TTL has not deleted does not count: it is replaced in one write, by one of two contenders.
func TestDDB04_ExpiredItemStillThere(t *testing.T) {
	inCloud(t, func(t *testing.T, r *rig) {
		day := 24 * time.Hour
		r.cloud.keyed("k", `{"amount":1}`)
		r.work(time.Second)
		elapse(15*day + time.Minute) // the window, its margins and the rounding up
		if rec, err := r.consumer().Ledger().Load(t.Context(), keyOf("k")); err != nil || rec.State != dedupe.StateAbsent {
			t.Errorf("the lookup says %s, %v, want not found", rec.State, err)
		}
		if rec := r.cloud.record(keyOf("k")); rec.State != dedupe.StateCompleted {
			t.Fatalf("the item is %s, want it to be there still", rec.State)
		}
		r.handle = func(ctx context.Context, _ *dedupe.Operation, _ order) (string, error) {
			return "again", wait(ctx, time.Second)
		}
		r.cloud.keyed("k", `{"amount":2}`) // another request may use the key now
		r.cloud.keyed("k", `{"amount":2}`)
		one, two := r.start(), r.start()
		elapse(time.Minute)
		one.stop()
		two.stop()
		r.wantRuns("k", 2)
		rec := r.cloud.wantState(keyOf("k"), dedupe.StateCompleted)
		if rec.Attempt != 1 || rec.Result == nil || string(rec.Result.Body) != `"again"` {
			t.Errorf("record %+v, want a new one", rec)
		}
		r.cloud.wantEmpty()
	})
}

// Within the window the same item does count, to the second.
func TestDDB04_ItemThatIsNotExpiredYet(t *testing.T) {
	inCloud(t, func(t *testing.T, r *rig) {
		r.cloud.keyed("k", `{"amount":1}`)
		r.work(time.Second)
		elapse(15*24*time.Hour - 2*time.Second)
		r.cloud.keyed("k", `{"amount":1}`)
		r.work(time.Second)
		r.wantRuns("k", 1)
		r.cloud.wantEmpty()
	})
}

// DDB-19: each operation has a partition key of its own; three of ten claims are throttled beyond the SDK's own repeats.
func TestDDB19_ThrottledTable(t *testing.T) {
	inCloud(t, func(t *testing.T, r *rig) {
		const messages = 300
		n := 0
		throttled := awstest.Throttle("PutItem")
		throttled.Match = func(awstest.Call) bool {
			n++
			return n/9%10 < 3 // nine calls in a row: what SDK and ledger repeat together
		}
		r.cloud.server.Inject(throttled)
		ids := map[string]bool{}
		for i := range messages {
			r.cloud.keyed(fmt.Sprint("k", i), `{"amount":1}`)
			ids[keyOf(fmt.Sprint("k", i)).StoreID()] = true
		}
		if len(ids) != messages {
			t.Errorf("%d partition keys for %d operations", len(ids), messages)
		}
		r.work(2 * time.Hour)
		for i := range messages {
			r.wantRuns(fmt.Sprint("k", i), 1)
			if rec := r.cloud.record(keyOf(fmt.Sprint("k", i))); rec.Attempt != 1 {
				t.Errorf("k%d: %d attempts are counted, want 1", i, rec.Attempt)
			}
		}
		if n := len(r.events); n != messages {
			t.Errorf("%d messages were disposed of %d times, want once each", messages, n)
		}
		r.cloud.wantEmpty()
	})
}

// DDB-22: the table is missing at the start: Run names it and the region, and receives nothing.
func TestDDB22_NoTableAtTheStart(t *testing.T) {
	inCloud(t, func(t *testing.T, r *rig) {
		r.cloud.dropTable()
		r.cloud.server.ResetCalls()
		err := r.consumer().Run(t.Context())
		if err == nil || !strings.Contains(err.Error(), table) || !strings.Contains(err.Error(), "eu-west-1") {
			t.Errorf("Run returned %v, want it to name table and region", err)
		}
		if n := r.cloud.server.Count("ReceiveMessage"); n != 0 {
			t.Errorf("%d calls of ReceiveMessage, want none", n)
		}
	})
}

func TestDDB22_NoQueueAtTheStart(t *testing.T) {
	inCloud(t, func(t *testing.T, r *rig) {
		r.cloud.queue += "-missing"
		err := r.consumer().Run(t.Context())
		if !errors.Is(err, consumer.ErrSetup) || !strings.Contains(err.Error(), "work-missing") {
			t.Errorf("Run returned %v, want it to name the queue", err)
		}
	})
}

// DDB-22: the table is removed while the worker runs, or access to it denied.
func TestDDB22_TableGoneMidRun(t *testing.T) {
	for _, denied := range []bool{false, true} {
		t.Run(map[bool]string{false: "removed", true: "access denied"}[denied], func(t *testing.T) {
			inCloud(t, func(t *testing.T, r *rig) {
				w := r.start()
				r.cloud.keyed("before", `{"amount":1}`)
				elapse(time.Second)
				mend := r.breakTable(denied)
				elapse(time.Second)
				for i := range 12 {
					r.cloud.keyed(fmt.Sprint("k", i), `{"amount":1}`)
				}
				r.cloud.server.ResetCalls()
				elapse(10 * time.Minute)
				if h := w.Health(); h.Ready() || h.StoreErr == nil || !strings.Contains(h.StoreErr.Error(), table) {
					t.Errorf("health %+v, want it not ready, with the cause", h)
				}
				if got := r.order(); len(got) != 1 {
					t.Errorf("ran %q, want nothing without the table", got)
				}
				if n := r.cloud.server.Count("ReceiveMessage"); n > 3 {
					t.Errorf("%d calls of ReceiveMessage in ten minutes, want it to stop", n)
				}
				if n := r.cloud.server.Count("GetItem"); n > 90 {
					t.Errorf("%d probes in ten minutes, want a back-off", n)
				}
				for _, m := range r.cloud.left() {
					if m.Receives > 1 {
						t.Errorf("message %s was received %d times, want its count not burned", m.ID, m.Receives)
					}
				}
				if len(r.cloud.left()) != 12 || len(r.cloud.letters()) != 0 {
					t.Errorf("%d messages left and %d dead letters, want all kept", len(r.cloud.left()), len(r.cloud.letters()))
				}
				mend()
				elapse(5 * time.Minute)
				if h := w.Health(); !h.Ready() {
					t.Errorf("health %+v, want it ready again", h)
				}
				w.stop()
				for i := range 12 {
					r.wantRuns(fmt.Sprint("k", i), 1)
				}
				r.cloud.wantEmpty()
			})
		})
	}
}

func (r *rig) breakTable(denied bool) (mend func()) {
	if !denied {
		r.cloud.dropTable()
		return r.cloud.makeTable
	}
	puts := r.cloud.server.Inject(awstest.FailBefore("PutItem", http.StatusBadRequest, "AccessDeniedException"))
	gets := r.cloud.server.Inject(awstest.FailBefore("GetItem", http.StatusBadRequest, "AccessDeniedException"))
	return func() { puts(); gets() }
}
