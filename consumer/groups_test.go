package consumer_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/claimonce/claimonce/consumer"
	"github.com/claimonce/claimonce/dedupe"
	"github.com/claimonce/claimonce/store/memory"
)

// late answers a receive of one message only after a while, as over a slow connection.
type late struct {
	*queue

	id    string
	after time.Duration
	was   atomic.Bool
}

func (l *late) Receive(ctx context.Context, limit int) ([]*consumer.Message, error) {
	msgs, err := l.queue.Receive(ctx, limit)
	if len(msgs) > 0 && msgs[0].ID == l.id && !l.was.Swap(true) {
		elapse(l.after)
	}
	return msgs, err
}

// A source that hands out what is behind a held head: the head fails while that answer is on its way. It must not run before the head,
// although nothing of its group is held any more when it arrives.
func TestWhatWasGivenOutBehindAHeldHeadDoesNotOvertakeIt(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.queue.eager = true
		r.src = &late{queue: r.queue, id: "m-b", after: time.Second}
		r.handle = func(_ context.Context, op *dedupe.Operation, _ order) (string, error) {
			if op.Key().ID == "a" && r.ran("a") == 1 {
				elapse(500 * time.Millisecond)
				return "", dedupe.RetryAfter(errPlain, 10*time.Second)
			}
			return "done", nil
		}
		r.queue.send(grouped("g", "a")...)
		w := r.start()
		elapse(100 * time.Millisecond)
		r.queue.send(grouped("g", "b", "c")...)
		elapse(time.Minute)
		w.stop()
		if got := r.order(); !slices.Equal(got, []string{"a", "a", "b", "c"}) {
			t.Errorf("ran %q, want the head again first", got)
		}
		for _, id := range []string{"m-b", "m-c"} {
			if got := r.queue.entry(id).delays; len(got) != 1 || got[0] < 9*time.Second {
				t.Errorf("%s went back for %v, want once, for as long as the head stays away", id, got)
			}
		}
		r.wantEmpty()
	})
}

// A head that could not be handed back comes when its visibility ends: what is behind it not before.
func TestWhatIsBehindAHeadThatCouldNotBeHandedBack(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.queue.eager = true // this source does not keep it back
		r.queue.faults.nack = func(m *consumer.Message) error {
			if m.ID == "m-a" {
				return errBroken
			}
			return nil
		}
		r.handle = func(_ context.Context, op *dedupe.Operation, _ order) (string, error) {
			if op.Key().ID == "a" && r.ran("a") == 1 {
				return "", dedupe.RetryAfter(errPlain, time.Second)
			}
			return "done", nil
		}
		r.queue.send(grouped("g", "a", "b")...)
		r.work(5 * time.Minute)
		if got := r.order(); !slices.Equal(got, []string{"a", "a", "b"}) {
			t.Errorf("ran %q, want the head again first", got)
		}
		if got := r.queue.entry("m-b").delays; len(got) == 0 || got[0] < 30*time.Second {
			t.Errorf("b went back for %v, want the visibility of 30 s", got)
		}
		r.wantEmpty()
	})
}

// The same for one in the middle of what goes back.
func TestWhatIsBehindOneThatCouldNotBeHandedBack(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.queue.eager = true
		r.queue.faults.nack = func(m *consumer.Message) error {
			if m.ID == "m-b" {
				return errBroken
			}
			return nil
		}
		r.handle = func(_ context.Context, op *dedupe.Operation, _ order) (string, error) {
			if op.Key().ID == "a" && r.ran("a") == 1 {
				return "", dedupe.RetryAfter(errPlain, time.Second)
			}
			return "done", nil
		}
		r.queue.send(grouped("g", "a", "b", "c")...)
		r.work(5 * time.Minute)
		if got := r.order(); !slices.Equal(got, []string{"a", "a", "b", "c"}) {
			t.Errorf("ran %q, want all in order", got)
		}
		r.wantEmpty()
	})
}

// A message joins its group's lane after the head has gone back, while what was behind it still goes back.
func TestWhatComesWhileAGroupGoesBackDoesNotOvertake(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.queue.eager = true
		r.queue.faults.nackTakes = 2 * time.Second
		r.handle = func(_ context.Context, op *dedupe.Operation, _ order) (string, error) {
			if op.Key().ID == "a" && r.ran("a") == 1 {
				return "", dedupe.RetryAfter(errPlain, 10*time.Second)
			}
			return "done", nil
		}
		r.queue.send(grouped("g", "a", "b")...)
		w := r.start()
		elapse(3 * time.Second)
		r.queue.send(grouped("g", "c")...)
		elapse(time.Minute)
		w.stop()
		if got := r.order(); !slices.Equal(got, []string{"a", "a", "b", "c"}) {
			t.Errorf("ran %q, want the head again first", got)
		}
		r.wantEmpty()
	})
}

// The time for which a store was out is not the head's: what is behind it is not handed back for as long.
func TestAnOutageIsNotTheHeadsTime(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.handle = func(context.Context, *dedupe.Operation, order) (string, error) {
			elapse(5 * time.Second)
			return "done", nil
		}
		r.store.fail(errBroken)
		r.queue.eager = true
		r.queue.send(grouped("g", "a", "b")...)
		w := r.start()
		elapse(10 * time.Minute)
		r.store.fail(nil)
		for r.ran("a") == 0 {
			elapse(time.Second)
		}
		r.queue.send(grouped("g", "c")...) // the lane looks at itself
		elapse(20 * time.Second)
		w.stop()
		if got := r.order(); !slices.Equal(got, []string{"a", "b", "c"}) {
			t.Errorf("ran %q, want all within 20 s", got)
		}
		if n := r.queue.count("nack"); n != 0 {
			t.Errorf("%d handed back, want none", n)
		}
		r.wantEmpty()
	})
}

// failures are the keys that fail now, and how long a handler takes.
type failures struct {
	mu    sync.Mutex
	ids   []string
	takes time.Duration
}

func (f *failures) set(takes time.Duration, ids ...string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ids, f.takes = ids, takes
}

func (f *failures) handle(_ context.Context, op *dedupe.Operation, _ order) (string, error) {
	f.mu.Lock()
	ids, takes := f.ids, f.takes
	f.mu.Unlock()
	elapse(takes)
	if slices.Contains(ids, op.Key().ID) {
		return "", dedupe.RetryAfter(errPlain, time.Minute)
	}
	return "done", nil
}

func wantBlocked(t *testing.T, w *worker, n int, since time.Time) {
	t.Helper()
	h := w.Health()
	if h.BlockedGroups != n || h.BlockedSince.Sub(since).Abs() > time.Second {
		t.Errorf("%d groups blocked since %v, want %d since %v", h.BlockedGroups, h.BlockedSince, n, since)
	}
}

func TestBlockedGroups(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		var f failures
		r.handle = f.handle
		f.set(0, "a", "b")
		w := r.start()
		elapse(time.Second)
		wantBlocked(t, w, 0, time.Time{})
		first := time.Now()
		r.queue.send(grouped("ga", "a", "a2")...)
		r.queue.send(message("alone", `{"amount":1}`))
		elapse(30 * time.Second)
		r.queue.send(grouped("gb", "b", "b2")...)
		elapse(30 * time.Second)
		wantBlocked(t, w, 2, first)
		elapse(2 * time.Minute) // each has failed again: still since the first time
		wantBlocked(t, w, 2, first)
		f.set(0)
		elapse(3 * time.Minute)
		wantBlocked(t, w, 0, time.Time{})
		w.stop()
		r.wantEmpty()
	})
}

// What another worker has done meanwhile is not told to this one: it forgets, at the latest when it sees a later message of the group.
func TestBlockedGroupsAreForgotten(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		var f failures
		r.handle = f.handle
		f.set(0, "a", "b")
		began := time.Now()
		r.queue.send(grouped("ga", "a")...)
		r.queue.send(grouped("gb", "b")...)
		w := r.start()
		elapse(10 * time.Second)
		r.queue.mu.Lock()
		for _, e := range r.queue.entries {
			r.queue.done(e)
		}
		r.queue.mu.Unlock()
		f.set(5*time.Second, "a2")
		r.queue.send(message("ends-the-receive-that-saw-the-heads", `{"amount":1}`))
		elapse(time.Second)
		r.queue.send(grouped("ga", "a2")...)
		elapse(time.Second)
		wantBlocked(t, w, 1, began) // gb: ga has another head, which runs
		elapse(5 * time.Second)
		wantBlocked(t, w, 2, began)
		f.set(0)
		elapse(2 * time.Minute)
		wantBlocked(t, w, 1, began)
		elapse(10 * time.Minute)
		wantBlocked(t, w, 0, time.Time{})
		w.stop()
	})
}

// manyGroups hands out one message of each of n groups, and takes them back for good.
type manyGroups struct{ n, given int }

func (s *manyGroups) Receive(ctx context.Context, limit int) (msgs []*consumer.Message, err error) {
	for ; len(msgs) < limit && s.given < s.n; s.given++ {
		m := inGroup(fmt.Sprint("g", s.given), message(fmt.Sprint("k", s.given), `{"amount":1}`))
		msgs = append(msgs, &m)
	}
	if len(msgs) == 0 {
		<-ctx.Done()
		err = ctx.Err()
	}
	return msgs, err
}

func (*manyGroups) Ack(context.Context, *consumer.Message) error                 { return nil }
func (*manyGroups) Nack(context.Context, *consumer.Message, time.Duration) error { return nil }
func (*manyGroups) Close(context.Context) error                                  { return nil }

func TestBlockedGroupsAreBounded(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.handle = func(context.Context, *dedupe.Operation, order) (string, error) {
			return "", dedupe.RetryAfter(errPlain, time.Hour)
		}
		c, err := consumer.New(operation, &manyGroups{n: 10_200}, memory.New(), consumer.JSON(r.run), consumer.Config{OnAbandoned: dedupe.Rerun})
		if err != nil {
			t.Fatal(err)
		}
		w := startWorker(t, c)
		elapse(10 * time.Minute)
		if h := w.Health(); h.BlockedGroups != 10_000 {
			t.Errorf("%d groups blocked, want the bound of 10,000", h.BlockedGroups)
		}
		w.stop()
	})
}

func TestPendingSkipIsForGroupsOnly(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.cfg.OnAbandoned, r.cfg.PendingGroups = dedupe.Reconcile, consumer.PendingSkip
		r.handle = func(_ context.Context, op *dedupe.Operation, _ order) (string, error) {
			if strings.HasPrefix(op.Key().ID, "bad") {
				return "", errPlain
			}
			return "done", nil
		}
		r.queue.send(message("bad-alone", `{"amount":1}`))
		r.queue.send(grouped("g", "bad-head", "next")...)
		w := r.start()
		elapse(time.Second)
		w.stop()
		if e := r.first("m-bad-alone"); e.Disposition != consumer.Nacked {
			t.Errorf("told %+v, want what has no group to wait", e)
		}
		d := r.wantDead("m-bad-head", consumer.ReasonPending)
		if !strings.Contains(d.Detail, "settle the record") || d.KeyHash == "" || d.Attempts != 1 {
			t.Errorf("dead letter %+v, want what to do, the key and the attempts", d.DeadLetter)
		}
		if rec := r.store.record(keyOf("bad-head")); rec.State != dedupe.StateUnknown || rec.Troubled&dedupe.TroubleUnknown == 0 || rec.AttentionAt.IsZero() {
			t.Errorf("record %+v, want it unknown and listed", rec)
		}
		r.wantRuns("next", 1)
	})
}

func TestPendingGroupsNames(t *testing.T) {
	t.Parallel()
	for p, want := range map[consumer.PendingGroups]string{
		consumer.PendingBlock: "block", consumer.PendingSkip: "skip", 7: "PendingGroups(7)",
	} {
		if p.String() != want {
			t.Errorf("got %q, want %q", p.String(), want)
		}
	}
	_, err := consumer.New(operation, newQueue(time.Minute), memory.New(), consumer.Raw(nil), consumer.Config{OnAbandoned: dedupe.Rerun, PendingGroups: 7})
	if err == nil || !strings.Contains(err.Error(), "PendingBlock or PendingSkip") {
		t.Errorf("got %v, want the choices named", err)
	}
}
