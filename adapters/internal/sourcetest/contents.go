package sourcetest

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/claimonce/claimonce/consumer"
)

func contents() []Check {
	return []Check{
		{"a body comes as it was sent", exactBodies},
		{"attributes come as they were sent", exactAttributes},
		{"ten attributes come", tenAttributes},
		{"what the handler changes does not reach the queue", noAliases},
		{"a message keeps its id, time and contents over redelivery", sameMessage},
	}
}

func exactBodies(t *testing.T, r *Rig) {
	bodies := []string{
		`{"amount":4200}`, " ", "\t line one\r\n line two\n", `quotes " and \ and <&>`, "ключ 鍵 🔑 é e\u0301", strings.Repeat("long ", 20_000),
	}
	if r.AnyBytes {
		bodies = append(bodies, "\x00\x01\xff\xfe", "not UTF-8: \xc3\x28")
	}
	w := r.worker(t)
	defer w.close()
	for _, body := range bodies {
		r.send(t, body)
		m := w.one()
		if string(m.Body) != body {
			t.Errorf("got body %.60q, want %.60q", m.Body, body)
		}
		w.ack(m)
	}
	if !r.AnyBytes {
		return
	}
	for _, body := range [][]byte{nil, {}} {
		r.Send(t, "", consumer.Message{Body: body})
		m := w.one()
		if len(m.Body) != 0 || (m.Body == nil) != (body == nil) {
			t.Errorf("got body %#v, want %#v", m.Body, body)
		}
		w.ack(m)
	}
}

func exactAttributes(t *testing.T, r *Rig) {
	wantAttributes(t, r, []consumer.Attribute{
		{Name: "Idempotency-Key", Value: []byte("k-1_A")},
		{Name: "Unicode", Value: []byte("ключ 鍵 🔑")},
		{Name: "dotted.name_x", Value: []byte(` " \ <&> `)},
		{Name: "Binary", Value: []byte{0, 1, 0xff, 0xfe, '\n'}, Binary: true},
		{Name: "Text-As-Binary", Value: []byte("text"), Binary: true},
	})
	wantAttributes(t, r, nil)
}

func tenAttributes(t *testing.T, r *Rig) {
	var attrs []consumer.Attribute
	for i := range 10 {
		attrs = append(attrs, consumer.Attribute{Name: fmt.Sprint("Name-", i), Value: fmt.Append(nil, "value ", i)})
	}
	wantAttributes(t, r, attrs)
}

func wantAttributes(t *testing.T, r *Rig, attrs []consumer.Attribute) {
	t.Helper()
	w := r.worker(t)
	defer w.close()
	r.Send(t, "", consumer.Message{Body: []byte("body"), Attributes: attrs})
	m := w.one()
	sameAttributes(t, m.Attributes, attrs)
	w.ack(m)
}

// sameAttributes in any order: where a broker has none of its own, none is promised.
func sameAttributes(t *testing.T, got, want []consumer.Attribute) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("got %d attributes, want %d", len(got), len(want))
	}
	for _, a := range want {
		sameAttribute(t, got, a)
	}
}

func sameAttribute(t *testing.T, attrs []consumer.Attribute, want consumer.Attribute) {
	t.Helper()
	i := slices.IndexFunc(attrs, func(x consumer.Attribute) bool { return x.Name == want.Name })
	if i < 0 {
		t.Errorf("attribute %s is missing", want.Name)
	} else if got := attrs[i]; !bytes.Equal(got.Value, want.Value) || got.Binary != want.Binary {
		t.Errorf("got attribute %s = %q, binary %v, want %q, %v", want.Name, got.Value, got.Binary, want.Value, want.Binary)
	}
}

func noAliases(t *testing.T, r *Rig) {
	w := r.worker(t)
	defer w.close()
	body, value := []byte("body"), []byte("value")
	r.Send(t, "", consumer.Message{Body: body, Attributes: []consumer.Attribute{{Name: "Bytes", Value: value, Binary: true}}})
	body[0], value[0] = 'X', 'X'
	m := w.one()
	if string(m.Body) != "body" || string(m.Attributes[0].Value) != "value" {
		t.Errorf("got %q, %q, want what was sent before the sender changed its slices", m.Body, m.Attributes[0].Value)
	}
	m.Body[0], m.Attributes[0].Value[0] = 'Y', 'Y'
	w.nack(m, 0)
	m = w.one()
	if string(m.Body) != "body" || string(m.Attributes[0].Value) != "value" {
		t.Errorf("got %q, %q after a handler changed them, want what was sent", m.Body, m.Attributes[0].Value)
	}
	w.ack(m)
}

func sameMessage(t *testing.T, r *Rig) {
	w := r.worker(t)
	defer w.close()
	attrs := []consumer.Attribute{{Name: "Idempotency-Key", Value: []byte("k")}}
	id := r.Send(t, "", consumer.Message{Body: []byte("body"), Attributes: attrs})
	first := w.one()
	w.nack(first, 0)
	second := w.one()
	if first.ID != id || second.ID != id || id == "" {
		t.Errorf("got ids %q and %q, want %q twice", first.ID, second.ID, id)
	}
	if first.SentAt.IsZero() || !first.SentAt.Equal(second.SentAt) {
		t.Errorf("got sent at %v and %v, want one time twice", first.SentAt, second.SentAt)
	}
	if first.Receives != 1 || second.Receives != 2 {
		t.Errorf("got receives %d and %d, want 1 and 2", first.Receives, second.Receives)
	}
	if string(second.Body) != "body" {
		t.Errorf("got body %q the second time", second.Body)
	}
	sameAttributes(t, second.Attributes, attrs)
	w.ack(second)
}
