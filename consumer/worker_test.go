package consumer_test

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/claimonce/claimonce/consumer"
	"github.com/claimonce/claimonce/dedupe"
)

// operation is the name of the work in these tests.
const operation = "pay"

func keyOf(id string) dedupe.Key { return dedupe.Key{Operation: operation, ID: id} }

type order struct {
	Amount int `json:"amount"`
}

// rig is a queue, a store and a consumer between them, with a handler that can be scripted and counts its runs. It lives inside
// a synctest bubble.
type rig struct {
	t         *testing.T
	operation string
	queue     *queue
	store     *register
	cfg       consumer.Config
	src       consumer.Source // default: queue
	cloud     *cloud          // if not nil, instead of queue and store

	handle func(ctx context.Context, op *dedupe.Operation, o order) (string, error)

	mu      sync.Mutex
	runs    map[string]int
	started []string
	ended   []string
	events  []consumer.Event
	running int
	maxRun  int
}

func newRig(t *testing.T) *rig {
	t.Helper()
	r := &rig{t: t, operation: operation, queue: newQueue(30 * time.Second), store: newRegister(), runs: map[string]int{}}
	r.store.journal = r.queue.journal
	r.cfg.OnAbandoned = dedupe.Rerun
	r.handle = func(context.Context, *dedupe.Operation, order) (string, error) { return "done", nil }
	return r
}

// consumer builds a worker; several of one rig are workers of one service.
func (r *rig) consumer() *consumer.Consumer {
	r.t.Helper()
	src, records := r.src, dedupe.Store(r.store)
	switch {
	case r.cloud != nil:
		src, records = r.cloud.source(), r.cloud.records()
	case src == nil:
		src = r.queue
	}
	cfg := r.cfg
	told := cfg.Observe
	cfg.Observe = func(ctx context.Context, e consumer.Event) {
		r.mu.Lock()
		r.events = append(r.events, e)
		r.mu.Unlock()
		if told != nil {
			told(ctx, e)
		}
	}
	w, err := consumer.New(r.operation, src, records, consumer.JSON(r.run), cfg)
	if err != nil {
		r.t.Fatal(err)
	}
	return w
}

func (r *rig) run(ctx context.Context, op *dedupe.Operation, o order) (string, error) {
	id := op.Key().ID
	r.mu.Lock()
	r.runs[id]++
	r.started = append(r.started, id)
	r.running++
	r.maxRun = max(r.maxRun, r.running)
	r.mu.Unlock()
	r.queue.journal.add("run %s", id)
	defer func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.running--
		r.ended = append(r.ended, id)
	}()
	return r.handle(ctx, op, o)
}

// worker is a running consumer.
type worker struct {
	*consumer.Consumer

	t      *testing.T
	cancel context.CancelFunc
	done   chan error
	ended  time.Time
}

// start runs a worker until stop, or else until the test ends.
func (r *rig) start() *worker {
	r.t.Helper()
	return startWorker(r.t, r.consumer())
}

func startWorker(t *testing.T, c *consumer.Consumer) *worker {
	t.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	w := &worker{Consumer: c, t: t, cancel: cancel, done: make(chan error, 1)}
	go func() {
		err := w.Run(ctx)
		w.ended = time.Now()
		w.done <- err
	}()
	return w
}

// stop tells the worker to stop and waits for it.
func (w *worker) stop() time.Duration {
	w.t.Helper()
	asked := time.Now()
	w.cancel()
	if err := <-w.done; err != nil {
		w.t.Errorf("Run returned %v, want nil", err)
	}
	return w.ended.Sub(asked)
}

// work runs one worker for a time.
func (r *rig) work(d time.Duration) {
	r.t.Helper()
	w := r.start()
	elapse(d)
	w.stop()
}

func (r *rig) ran(id string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.runs[id]
}

func (r *rig) order() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.started)
}

// told gives the events of one message's id.
func (r *rig) told(id string) []consumer.Event {
	r.mu.Lock()
	defer r.mu.Unlock()
	var es []consumer.Event
	for _, e := range r.events {
		if e.MessageID == id {
			es = append(es, e)
		}
	}
	return es
}

// first gives the first event of a message.
func (r *rig) first(id string) consumer.Event {
	r.t.Helper()
	es := r.told(id)
	if len(es) == 0 {
		r.t.Fatalf("nothing was told of message %s; journal: %q", id, r.queue.journal.all())
	}
	return es[0]
}

func (r *rig) wantRuns(id string, want int) {
	r.t.Helper()
	if got := r.ran(id); got != want {
		r.t.Errorf("the handler ran %d times for %s, want %d", got, id, want)
	}
}

func (r *rig) wantState(id string, want dedupe.State) {
	r.t.Helper()
	if got := r.store.record(keyOf(id)).State; got != want {
		r.t.Errorf("record %s is %s, want %s", id, got, want)
	}
}

// wantEmpty: every message was acked.
func (r *rig) wantEmpty() {
	r.t.Helper()
	if n := r.queue.left(); n != 0 {
		r.t.Errorf("%d messages are left in the queue, want none", n)
	}
	if dead := r.queue.letters(); len(dead) != 0 {
		r.t.Errorf("dead letters: %+v, want none", dead)
	}
}

// wantDead: the message is a dead letter with a reason.
func (r *rig) wantDead(id, reason string) deadLetter {
	r.t.Helper()
	for _, d := range r.queue.letters() {
		if d.id == id {
			if d.Reason != reason {
				r.t.Errorf("dead letter %s has the reason %q, want %q", id, d.Reason, reason)
			}
			return d
		}
	}
	r.t.Errorf("message %s is no dead letter, want reason %q; journal: %q", id, reason, r.queue.journal.all())
	return deadLetter{}
}

func wait(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

var errPlain = errors.New("connection reset")

// elapse lets the bubble's time pass.
func elapse(d time.Duration) { <-time.After(d) }

// page is a buffer for what many goroutines write.
type page struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (p *page) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.buf.Write(b)
}

func (p *page) String() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.buf.String()
}
