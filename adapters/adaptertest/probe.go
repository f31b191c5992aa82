package adaptertest

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/claimonce/claimonce/consumer"
)

// A probe is one promise being checked on one queue. It records what it finds like a [testing.T], but fails no test: so a source that
// is meant to be broken can be checked, in a bubble too.
type probe struct {
	rig   *Rig
	queue *Queue
	ctx   context.Context //nolint:containedctx // lives as long as the promise is checked, like a test's own

	mu      sync.Mutex
	workers []*worker
	outcome
}

type outcome struct {
	problems []string // what breaks the promise
	skipped  string   // why it was not asked for
}

// ask checks a promise on a queue of its own.
func (p Promise) ask(ctx context.Context, rig *Rig) outcome {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	t := &probe{rig: rig, ctx: ctx}
	t.apart(func() {
		q, err := rig.New(ctx)
		if err != nil || q == nil || q.Open == nil || q.Send == nil {
			t.Fatalf("the rig's queue: got %+v, %v, want one with Open and Send", q, err)
		}
		t.queue = q
		p.check(t)
	})
	t.apart(t.closeAll)
	cancel()
	if rig.FakeTime && t.found() {
		elapse(aDay)
	}
	t.mu.Lock() // what still hangs may still speak
	defer t.mu.Unlock()
	return outcome{slices.Clone(t.problems), t.skipped}
}

// aDay lets calls end that hang for long: a bubble's clock stands still when its test is over, and what hangs then is a panic that
// hides what was found.
const aDay = 24 * time.Hour

func (t *probe) found() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.problems) > 0
}

// apart runs f where Fatalf and Skipf can end it.
func (t *probe) apart(f func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer t.catch()
		f()
	}()
	<-done
}

func (t *probe) catch() {
	if v := recover(); v != nil {
		t.Errorf("panic: %v\n%s", v, debug.Stack())
	}
}

// Errorf records a finding.
func (t *probe) Errorf(format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.problems = append(t.problems, fmt.Sprintf(format, args...))
}

// Fatalf records a finding and ends the calling goroutine.
func (t *probe) Fatalf(format string, args ...any) {
	t.Errorf(format, args...)
	runtime.Goexit()
}

// Skipf ends the check: the promise is not asked of this source.
func (t *probe) Skipf(format string, args ...any) {
	t.mu.Lock()
	t.skipped = fmt.Sprintf(format, args...)
	t.mu.Unlock()
	runtime.Goexit()
}

// need skips the check unless the rig or the source can do what it looks at.
func (t *probe) need(ok bool, what string) {
	if !ok {
		t.Skipf("%s", what)
	}
}

// soon is what a call may take that has nothing to wait for, and what one may take to notice that its context has ended.
const soon = 5 * time.Second

// slack is how much longer than due a broker may take on real time.
const slack = 20 * time.Second

// inTime runs a call of the source and fails the check if it does not return within d: a source that hangs must not hang the suite.
func inTime[R any](t *probe, what string, d time.Duration, call func() R) R {
	done := make(chan R, 1)
	go func() {
		defer t.catch()
		done <- call()
	}()
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case r := <-done:
		return r
	case <-timer.C:
		t.Fatalf("%s has not returned after %v", what, d)
	}
	panic("unreachable")
}

// elapse lets time pass: what is checked happens by the broker's clock alone.
func elapse(d time.Duration) { <-time.After(d) }

// due fails if what happened now was due later, or, on fake time, earlier.
func (t *probe) due(since time.Time, want time.Duration) {
	// The broker counts from when it got the call, which began earlier than it ended.
	if got := time.Since(since); got < want {
		t.Errorf("it came after %v, want not before %v", got, want)
	} else if t.rig.FakeTime && got > want+t.rig.Grain {
		t.Errorf("it came after %v, want it at %v", got, want)
	}
}

// send sends messages with these bodies.
func (t *probe) send(bodies ...string) (ids []string) {
	for _, b := range bodies {
		ids = append(ids, t.sendMessage(consumer.Message{Body: []byte(b)}))
	}
	return ids
}

// sendTo sends n messages of a group.
func (t *probe) sendTo(group string, n int) (ids []string) {
	for i := range n {
		ids = append(ids, t.sendMessage(consumer.Message{Group: group, Body: fmt.Append(nil, group, " ", i)}))
	}
	return ids
}

func (t *probe) sendMessage(m consumer.Message) string {
	id, err := t.queue.Send(t.ctx, m)
	if err != nil {
		t.Fatalf("the rig cannot send %.60q with %d attributes: %v", m.Body, len(m.Attributes), err)
	}
	return id
}
