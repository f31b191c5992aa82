package sourcetest

import (
	"testing"

	"github.com/claimonce/claimonce/consumer"
)

func deadLetters() []Check {
	return []Check{
		{"a dead letter has body and attributes of the message, which is gone", deadLetter},
	}
}

func deadLetter(t *testing.T, r *Rig) {
	w := r.worker(t)
	defer w.close()
	d, ok := w.Source.(consumer.DeadLetterer)
	if !ok || r.DeadLetters == nil {
		t.Skip("the source has no dead letters")
	}
	attrs := []consumer.Attribute{
		{Name: "Idempotency-Key", Value: []byte("k")}, {Name: "Bytes", Value: []byte{0, 0xff}, Binary: true},
	}
	r.Send(t, "", consumer.Message{Body: []byte("ключ 鍵"), Attributes: attrs})
	if err := d.DeadLetter(t.Context(), w.one(), consumer.DeadLetter{Reason: consumer.ReasonMalformedBody, Detail: "why"}); err != nil {
		t.Fatalf("dead letter: %v", err)
	}
	dead := r.DeadLetters(t)
	if len(dead) != 1 || string(dead[0].Body) != "ключ 鍵" {
		t.Fatalf("got dead letters %q, want the one message", bodies(dead))
	}
	for _, a := range attrs {
		sameAttribute(t, dead[0].Attributes, a)
	}
	w.nothingFor(r.Visibility + r.Grain)
}

func bodies(msgs []consumer.Message) []string {
	out := make([]string, 0, len(msgs))
	for _, m := range msgs {
		out = append(out, string(m.Body))
	}
	return out
}
