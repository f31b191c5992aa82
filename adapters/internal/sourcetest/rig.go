package sourcetest

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/claimonce/claimonce/consumer"
)

// A Rig is an empty queue for one check.
type Rig struct {
	// Open makes a source on the queue, as one more worker does. The check closes it.
	Open func(t *testing.T) consumer.Source
	// Send sends one message and returns its id. Group is "" but for checks of groups.
	Send func(t *testing.T, group string, m consumer.Message) (id string)
	// DeadLetters lists what lies in the dead-letter queue; nil if the source has none.
	DeadLetters func(t *testing.T) []consumer.Message
	// Visibility is how long a received message stays hidden.
	Visibility time.Duration
	// Grain is the unit in which the broker counts delays.
	Grain time.Duration

	FakeTime bool // also checks that what is due comes at once
	AnyBytes bool // bodies may be any bytes, or empty
	// OldReceipts: this server takes the receipt of an earlier delivery for one of the current delivery, so that no source on it can
	// tell that a message was lost to another worker.
	OldReceipts bool
}

// A Check is one promise.
type Check struct {
	Name string
	Run  func(t *testing.T, r *Rig)
}

// Checks lists all promises; those of groups only if the source has groups.
func Checks(withGroups bool) []Check {
	var all []Check
	for _, part := range [][]Check{contents(), hiding(), settling(), receiving(), losing(), closing(), deadLetters()} {
		all = append(all, part...)
	}
	if withGroups {
		all = append(all, groups()...)
	}
	return all
}

// worker is a source with what checks do with it.
type worker struct {
	consumer.Source

	t *testing.T
	r *Rig
}

func (r *Rig) worker(t *testing.T) *worker {
	t.Helper()
	return &worker{r.Open(t), t, r}
}

// slack is how much longer than due a broker may take on real time.
const slack = 20 * time.Second

// take receives until it has n messages, or fails the test.
func (w *worker) take(n int) []*consumer.Message {
	w.t.Helper()
	return w.takeWithin(n, w.r.Visibility+slack)
}

func (w *worker) one() *consumer.Message {
	w.t.Helper()
	return w.take(1)[0]
}

func (w *worker) takeWithin(n int, d time.Duration) []*consumer.Message {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), d)
	defer cancel()
	var got []*consumer.Message
	for len(got) < n {
		msgs, err := w.Receive(ctx, n-len(got))
		if err != nil {
			w.t.Fatalf("got %d messages and %v, want %d messages", len(got), err, n)
		}
		got = append(got, msgs...)
	}
	return got
}

// later receives one message while the check does something else; the channel brings none if the receive failed.
func (w *worker) later() <-chan []*consumer.Message {
	got := make(chan []*consumer.Message, 1)
	ctx, cancel := context.WithTimeout(w.t.Context(), w.r.Visibility+slack)
	go func() {
		defer cancel()
		msgs, err := w.Receive(ctx, 1)
		if err != nil {
			w.t.Errorf("receive: %v", err)
		}
		got <- msgs
	}()
	return got
}

// nothingFor fails if a message comes within d.
func (w *worker) nothingFor(d time.Duration) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), d)
	defer cancel()
	msgs, err := w.Receive(ctx, 10)
	if len(msgs) > 0 || !errors.Is(err, context.DeadlineExceeded) {
		w.t.Fatalf("got messages %v and %v, want none for %v", ids(msgs), err, d)
	}
}

func (w *worker) ack(msgs ...*consumer.Message) {
	w.t.Helper()
	for _, m := range msgs {
		if err := w.Ack(w.t.Context(), m); err != nil {
			w.t.Errorf("ack: %v", err)
		}
	}
}

func (w *worker) nack(m *consumer.Message, delay time.Duration) {
	w.t.Helper()
	if err := w.Nack(w.t.Context(), m, delay); err != nil {
		w.t.Errorf("nack: %v", err)
	}
}

// extender skips the check if the source has no such ability.
func (w *worker) extender() consumer.Extender {
	w.t.Helper()
	x, ok := w.Source.(consumer.Extender)
	if !ok {
		w.t.Skip("the source is no Extender")
	}
	return x
}

func (w *worker) close() {
	w.t.Helper()
	if err := w.Close(w.t.Context()); err != nil {
		w.t.Errorf("close: %v", err)
	}
}

// send sends messages with these bodies.
func (r *Rig) send(t *testing.T, bodies ...string) (ids []string) {
	t.Helper()
	for _, b := range bodies {
		ids = append(ids, r.Send(t, "", consumer.Message{Body: []byte(b)}))
	}
	return ids
}

func ids(msgs []*consumer.Message) []string {
	out := make([]string, 0, len(msgs))
	for _, m := range msgs {
		out = append(out, m.ID)
	}
	return out
}

// elapse lets time pass: what is checked happens by the broker's clock alone.
func elapse(d time.Duration) {
	<-time.After(d)
}

// due fails if what happened now was due later, or, on fake time, earlier.
func (r *Rig) due(t *testing.T, since time.Time, want time.Duration) {
	t.Helper()
	// The broker counts from when it got the call, which began earlier than it ended.
	if got := time.Since(since); got < want {
		t.Errorf("it came after %v, want not before %v", got, want)
	} else if r.FakeTime && got > want+r.Grain {
		t.Errorf("it came after %v, want it at %v", got, want)
	}
}
