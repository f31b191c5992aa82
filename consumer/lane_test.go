package consumer_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/claimonce/claimonce/consumer"
	"github.com/claimonce/claimonce/dedupe"
)

func grouped(group string, ids ...string) []consumer.Message {
	var ms []consumer.Message
	for _, id := range ids {
		ms = append(ms, inGroup(group, message(id, `{"amount":1}`)))
	}
	return ms
}

// of gives what of a list begins with a prefix.
func of(all []string, prefix string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(s string) bool { return len(s) < len(prefix) || s[:len(prefix)] != prefix })
}

// SQS-21: what is behind a failed message of its group goes back and runs after it; other groups go on.
func TestSQS21_GroupKeepsItsOrderOverAFailure(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.cfg.Workers = 4
		r.handle = func(_ context.Context, op *dedupe.Operation, _ order) (string, error) {
			if op.Key().ID == "g1a" && r.ran("g1a") == 1 {
				return "", errPlain
			}
			return "done", nil
		}
		r.queue.send(append(grouped("g1", "g1a", "g1b", "g1c"), grouped("g2", "g2d", "g2e")...)...)
		w := r.start()
		elapse(100 * time.Millisecond)
		if got := of(r.order(), "g2"); !slices.Equal(got, []string{"g2d", "g2e"}) {
			t.Errorf("the other group ran %q at first, want all of it in order", got)
		}
		elapse(time.Minute)
		w.stop()
		if got := of(r.order(), "g1"); !slices.Equal(got, []string{"g1a", "g1a", "g1b", "g1c"}) {
			t.Errorf("the group ran %q, want the head again first, then the rest in order", got)
		}
		r.wantEmpty()
		if got := of(r.queue.journal.all(), "nack"); !slices.Equal(got, []string{"nack m-g1a", "nack m-g1b", "nack m-g1c"}) {
			t.Errorf("handed back %q, want all in order, head first", got)
		}
		if d := r.queue.entry("m-g1a").delays[0]; !slices.Equal(r.queue.entry("m-g1b").delays, []time.Duration{d}) {
			t.Errorf("delays %v and %v, want the head's for both", d, r.queue.entry("m-g1b").delays)
		}
	})
}

// A head that fails before the next of its batch was looked at must not be overtaken. In a batch of thousands it surely does.
func TestNothingOvertakesAHeadThatFailsAtOnce(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.src = &careless{queue: r.queue, more: 10_000}
		r.handle = func(_ context.Context, op *dedupe.Operation, _ order) (string, error) {
			if op.Key().ID == "a" && op.Attempt() == 1 {
				return "", errPlain
			}
			return "done", nil
		}
		r.queue.send(grouped("g", "a")...)
		for i := range 2000 {
			r.queue.send(message(fmt.Sprint("other", i), `{"amount":1}`))
		}
		r.queue.send(grouped("g", "b")...)
		r.work(time.Minute)
		r.wantEmpty()
		got := slices.DeleteFunc(r.order(), func(id string) bool { return len(id) > 1 })
		if !slices.Equal(got, []string{"a", "a", "b"}) {
			t.Errorf("the group ran %q, want the head again before what is behind it", got)
		}
	})
}

// The time behind a head counts from when that head started, not from when its lane did.
func TestWaitingBehindANewHeadStartsAnew(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.handle = func(context.Context, *dedupe.Operation, order) (string, error) {
			elapse(4 * time.Second)
			return "done", nil
		}
		r.queue.eager = true
		r.queue.send(grouped("g", "a", "b", "c", "d")...)
		w := r.start()
		elapse(13 * time.Second)
		r.queue.send(grouped("g", "e")...)
		elapse(time.Minute)
		w.stop()
		r.wantEmpty()
		if n := r.queue.count("nack"); n != 0 {
			t.Errorf("%d handed back, want all to wait: none for ten seconds", n)
		}
	})
}

// SQS-12: a head that fails for good stops its own group only, and only until its attempts are used up.
func TestSQS12_PoisonStopsItsGroupForABoundedTime(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.cfg.Ledger.AttemptBound = 3
		r.handle = func(_ context.Context, op *dedupe.Operation, _ order) (string, error) {
			if op.Key().ID == "a1" {
				return "", errPlain
			}
			return "done", nil
		}
		r.queue.send(append(grouped("A", "a1", "a2"), grouped("B", "b1", "b2")...)...)
		w := r.start()
		elapse(time.Second / 4)
		if got := of(r.order(), "b"); !slices.Equal(got, []string{"b1", "b2"}) {
			t.Errorf("the other group ran %q at first, want both", got)
		}
		elapse(time.Minute)
		w.stop()
		r.wantDead("m-a1", consumer.ReasonExhausted)
		if got := of(r.order(), "a"); !slices.Equal(got, []string{"a1", "a1", "a1", "a2"}) {
			t.Errorf("the group ran %q, want three attempts, then the next", got)
		}
	})
}

func TestGroupWaitsWhileItsHeadCannotBeDeadLettered(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		var broken atomic.Bool
		broken.Store(true)
		r.queue.faults.deadLetter = func(*consumer.Message) error {
			if broken.Load() {
				return errBroken
			}
			return nil
		}
		head := inGroup("g", message("", `{}`))
		r.queue.send(append([]consumer.Message{head}, grouped("g", "b")...)...)
		w := r.start()
		elapse(time.Minute)
		r.wantRuns("b", 0)
		broken.Store(false)
		elapse(10 * time.Minute)
		w.stop()
		r.wantRuns("b", 1)
		r.wantDead("m-", consumer.ReasonMissingKey)
	})
}

func TestGroupsRunInParallelAndOneByOne(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.cfg.Workers = 5
		busy := map[string]int{}
		var mu sync.Mutex
		r.handle = func(ctx context.Context, _ *dedupe.Operation, _ order) (string, error) {
			g := consumer.FromContext(ctx).Group
			mu.Lock()
			if busy[g]++; busy[g] > 1 {
				t.Errorf("%d of group %s run at a time", busy[g], g)
			}
			mu.Unlock()
			elapse(time.Second)
			mu.Lock()
			busy[g]--
			mu.Unlock()
			return "done", nil
		}
		for i := range 4 {
			for g := range 5 {
				r.queue.send(grouped(fmt.Sprint(g), fmt.Sprintf("%d-%d", g, i))...)
			}
		}
		w := r.start()
		elapse(4500 * time.Millisecond)
		w.stop()
		r.wantEmpty()
		if r.maxRun != 5 {
			t.Errorf("%d handlers ran at a time, want one for each group", r.maxRun)
		}
	})
}

// Copies of one key wait for each other in memory: one claim, and one claim more for each replay, none of them busy.
func TestCopiesOfAKeyMeetInMemory(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.handle = func(context.Context, *dedupe.Operation, order) (string, error) {
			elapse(time.Second)
			return "done", nil
		}
		for i := range 4 {
			m := message("k", `{"amount":1}`)
			m.ID = fmt.Sprint("copy", i)
			r.queue.send(m)
		}
		r.work(5 * time.Second)
		r.wantRuns("k", 1)
		r.wantEmpty()
		if got := r.store.callsFor("k"); got != 1+1+3 {
			t.Errorf("%d calls to the store, want a claim, a completion and three replays", got)
		}
		if n := r.queue.count("nack"); n != 0 {
			t.Errorf("%d copies were handed back, want none", n)
		}
	})
}

func TestCopyOfAFailedKeyDoesNotRunBeforeItsDelay(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		var at []time.Time
		r.handle = func(context.Context, *dedupe.Operation, order) (string, error) {
			at = append(at, time.Now())
			elapse(time.Second)
			if len(at) == 1 {
				return "", dedupe.RetryAfter(errPlain, time.Minute)
			}
			return "done", nil
		}
		again := message("k", `{"amount":1}`)
		again.ID = "copy"
		r.queue.send(message("k", `{"amount":1}`), again)
		r.work(5 * time.Minute)
		r.wantRuns("k", 2)
		r.wantEmpty()
		if len(at) == 2 && at[1].Sub(at[0]) < time.Minute {
			t.Errorf("the second attempt started %v after the first, want the delay of a minute kept", at[1].Sub(at[0]))
		}
	})
}

// What waits behind a long head is handed back, so that it does not use up what a worker may hold.
func TestCopyBehindALongHeadIsHandedBack(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.handle = func(_ context.Context, op *dedupe.Operation, _ order) (string, error) {
			if op.Key().ID == "k" {
				elapse(time.Hour)
			}
			return "done", nil
		}
		send := func(id string) {
			m := message("k", `{"amount":1}`)
			m.ID = id
			r.queue.send(m)
		}
		send("head")
		send("early")
		w := r.start()
		elapse(9 * time.Second)
		if n := r.queue.count("nack"); n != 0 {
			t.Errorf("%d handed back after 9s, want it to wait", n)
		}
		elapse(2 * time.Second)
		if got := r.first("early"); got.Disposition != consumer.Nacked || got.Outcome != dedupe.OutcomeBusy || got.Delay < 10*time.Second {
			t.Errorf("told %+v, want it busy and handed back for as long as the head has run", got)
		}
		elapse(10 * time.Minute)
		send("late")
		elapse(time.Millisecond)
		if got := r.first("late"); got.Delay < 10*time.Minute {
			t.Errorf("told %+v, want it handed back at once for as long as the head has run", got)
		}
		elapse(3 * time.Hour)
		w.stop()
		r.wantRuns("k", 1)
		r.wantEmpty()
		if n := len(r.queue.entry("early").receives); n > 12 {
			t.Errorf("received %d times in an hour, want the logarithm", n)
		}
		if got := r.store.callsFor("k"); got > 2+2+2*60*3 {
			t.Errorf("%d calls to the store", got)
		}
	})
}

func TestGroupBehindALongHeadGoesBackInOrderAndRunsInOrder(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.handle = func(_ context.Context, op *dedupe.Operation, _ order) (string, error) {
			if op.Key().ID == "a" {
				elapse(3 * time.Minute)
			}
			return "done", nil
		}
		r.queue.send(grouped("g", "a", "b", "c", "d")...)
		r.work(time.Hour)
		if got := r.order(); !slices.Equal(got, []string{"a", "b", "c", "d"}) {
			t.Errorf("ran %q, want the order kept", got)
		}
		r.wantEmpty()
		if got := of(r.queue.journal.all(), "nack"); !slices.Equal(got[:3], []string{"nack m-b", "nack m-c", "nack m-d"}) {
			t.Errorf("handed back %q, want them in order", got)
		}
	})
}

// Copies of a key in different groups cannot wait for each other without stopping a group: the later one goes back.
func TestCopiesInDifferentGroups(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.handle = func(context.Context, *dedupe.Operation, order) (string, error) {
			elapse(5 * time.Second)
			return "done", nil
		}
		m1, m2 := inGroup("g1", message("k", `{"amount":1}`)), inGroup("g2", message("k", `{"amount":1}`))
		m1.ID, m2.ID = "one", "two"
		r.queue.send(m1)
		w := r.start()
		elapse(time.Second)
		calls := r.store.callsFor("k")
		r.queue.send(m2)
		elapse(time.Millisecond)
		if e := r.first("two"); e.Disposition != consumer.Nacked || e.Outcome != dedupe.OutcomeBusy || e.Delay < time.Second {
			t.Errorf("told %+v, want it busy", e)
		}
		if got := r.store.callsFor("k"); got != calls {
			t.Errorf("%d calls to the store for the copy, want none: both are in this process", got-calls)
		}
		elapse(time.Minute)
		w.stop()
		r.wantRuns("k", 1)
		r.wantEmpty()
	})
}

func TestLeftHeadSendsBackWhatIsBehind(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.queue.visibility = 9 * time.Second
		r.handle = func(ctx context.Context, op *dedupe.Operation, _ order) (string, error) {
			if op.Key().ID == "a" && r.ran("a") == 1 {
				<-ctx.Done()
				return "", context.Cause(ctx)
			}
			return "done", nil
		}
		r.queue.faults.extend = func(m *consumer.Message) error {
			if m.ID == "m-a" && m.Receives == 1 {
				return consumer.ErrNotHeld
			}
			return nil
		}
		r.queue.send(grouped("g", "a", "b")...)
		r.work(10 * time.Minute)
		if got := r.order(); !slices.Equal(got, []string{"a", "a", "b"}) {
			t.Errorf("ran %q, want the head again before what is behind it", got)
		}
		if e := r.first("m-a"); e.Disposition != consumer.Left || !errors.Is(e.Err, consumer.ErrNotHeld) {
			t.Errorf("told %+v, want it left alone since it is no longer held", e)
		}
		r.wantEmpty()
	})
}
