package adaptertest

import (
	"context"
	"time"

	"github.com/claimonce/claimonce/consumer"
)

func abilities() []Promise {
	return []Promise{
		{"max redelivery", "MaxRedelivery is how long after its sending a message can still come back", maxRedelivery},
		{"check", "Check finds nothing wrong with a queue that works, and takes no message", checkPasses},
		{"last poll", "LastPoll is when the broker last answered, be it with no message", lastPoll},
		{"window", "DefaultWindow is positive, and needs no broker", defaultWindow},
		{"leave", "a message that was left is not lost", leaveLosesNothing},
	}
}

func maxRedelivery(t *probe) {
	w := t.worker()
	r, ok := w.Source.(consumer.Redeliverer)
	t.need(ok, "the source is no Redeliverer")
	var got time.Duration
	err := w.call("max redelivery", func(ctx context.Context) (err error) {
		got, err = r.MaxRedelivery(ctx)
		return err
	})
	if want := t.rig.MaxRedelivery; err != nil || got <= 0 || want != 0 && got != want {
		t.Errorf("got %v and %v, want %v (0: any that is positive)", got, err, want)
	}
}

func checkPasses(t *probe) {
	w := t.worker()
	c, ok := w.Source.(consumer.Checker)
	t.need(ok, "the source is no Checker")
	id := t.send("body")[0]
	if err := w.call("check", c.Check); err != nil {
		t.Errorf("check: %v", err)
	}
	m := t.worker().one()
	if m.ID != id || m.Receives > 1 {
		t.Errorf("got %s, received %d times, want %s untouched by the check", m.ID, m.Receives, id)
	}
}

func lastPoll(t *probe) {
	w := t.worker()
	p, ok := w.Source.(consumer.Poller)
	t.need(ok, "the source is no Poller")
	if got := p.LastPoll(); !got.IsZero() {
		t.Errorf("got %v before anything was received, want zero", got)
	}
	before := time.Now()
	t.send("body")
	w.ack(w.one())
	answered := p.LastPoll()
	if answered.Before(before) || answered.After(time.Now()) {
		t.Errorf("got %v, want a time since %v, when the broker answered", answered, before)
	}
	idle := t.rig.pollTime()
	if idle <= 0 {
		return // nobody knows how long the broker keeps silent
	}
	before = time.Now()
	w.nothingFor(idle + soon)
	if got := p.LastPoll(); !got.After(before) {
		t.Errorf("got %v after the queue was empty since %v, want it to go on: an idle queue would look like a broker that does not answer", got, before)
	}
}

func defaultWindow(t *probe) {
	w, ok := t.worker().Source.(consumer.Windower)
	t.need(ok, "the source is no Windower")
	if got := w.DefaultWindow(); got <= 0 {
		t.Errorf("got %v, want a positive window", got)
	}
}

func leaveLosesNothing(t *probe) {
	w := t.worker()
	l, ok := w.Source.(consumer.Leaver)
	t.need(ok, "the source is no Leaver")
	id := t.send("body")[0]
	m := w.one()
	if err := w.call("leave", func(ctx context.Context) error { return l.Leave(ctx, m) }); err != nil {
		t.Errorf("leave: %v", err)
	}
	w.close()
	if again := t.worker().one(); again.ID != id {
		t.Errorf("got %s, want %s, which was left", again.ID, id)
	}
}
