package adaptertest

import (
	"context"

	"github.com/claimonce/claimonce/consumer"
)

func deadLetters() []Promise {
	return []Promise{
		{"dead letter", "a dead letter has body and attributes of the message and the reason, and the message is gone", deadLetter},
		{"dead letter fails", "a message stays if it cannot be copied to the dead letters, and the error says so", deadLetterFails},
	}
}

func (t *probe) deadLetterer() (*worker, consumer.DeadLetterer) {
	w := t.worker()
	d, ok := w.Source.(consumer.DeadLetterer)
	t.need(ok && t.queue.DeadLetters != nil, "the source has no dead letters")
	return w, d
}

func deadLetter(t *probe) {
	w, d := t.deadLetterer()
	attrs := []consumer.Attribute{
		{Name: "Idempotency-Key", Value: []byte("k")}, {Name: "Bytes", Value: []byte{0, 0xff}, Binary: true},
	}
	t.sendMessage(consumer.Message{Body: []byte("ключ 鍵"), Attributes: attrs})
	m := w.one()
	letter := consumer.DeadLetter{Reason: consumer.ReasonMalformedBody, Detail: "why", KeyHash: "hash", Attempts: 3}
	if err := w.call("dead letter", func(ctx context.Context) error { return d.DeadLetter(ctx, m, letter) }); err != nil {
		t.Fatalf("dead letter: %v", err)
	}
	dead := t.deadNow()
	if len(dead) != 1 {
		t.Fatalf("got %d dead letters, want the one message", len(dead))
	}
	if got := dead[0]; string(got.Message.Body) != "ключ 鍵" || got.Letter != letter {
		t.Errorf("got dead letter %q, %+v, want what was sent with %+v", got.Message.Body, got.Letter, letter)
	}
	for _, a := range attrs {
		t.hasAttribute(dead[0].Message.Attributes, a)
	}
	w.nothingFor(t.rig.Visibility + t.rig.Grain)
}

func (t *probe) deadNow() []Dead {
	dead, err := t.queue.DeadLetters(t.ctx)
	if err != nil {
		t.Fatalf("the rig cannot list dead letters: %v", err)
	}
	return dead
}

func deadLetterFails(t *probe) {
	w, d := t.deadLetterer()
	t.need(t.queue.BreakDeadLetters != nil, "the rig cannot make a copy fail")
	id := t.send("body")[0]
	m := w.one()
	if err := t.queue.BreakDeadLetters(t.ctx); err != nil {
		t.Fatalf("the rig cannot make a copy fail: %v", err)
	}
	err := w.call("dead letter", func(ctx context.Context) error {
		return d.DeadLetter(ctx, m, consumer.DeadLetter{Reason: consumer.ReasonMalformedBody})
	})
	if err == nil {
		t.Errorf("the dead letter succeeded, although it could not be copied")
	}
	w.nack(m, 0)
	if again := w.one(); again.ID != id || string(again.Body) != "body" {
		t.Errorf("got %s with %q, want %s, which was not copied", again.ID, again.Body, id)
	} else {
		w.ack(again)
	}
}
