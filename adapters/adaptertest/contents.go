package adaptertest

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/claimonce/claimonce/consumer"
)

func contents() []Promise {
	return []Promise{
		{"body exact", "a body comes as it was sent, whatever text it is", exactText},
		{"bytes exact", "a body of any bytes comes as it was sent", exactBytes},
		{"empty bodies", "a body that is empty and one that is nil come as they were sent", emptyBodies},
		{"attributes exact", "attributes come as they were sent: names, text, bytes, and which of them are bytes", exactAttributes},
		{"empty values", "the value of an attribute may be empty", emptyValues},
		{"many attributes", "as many attributes come as the broker allows", manyAttributes},
		{"no aliases", "what the sender or a handler changes in its slices reaches neither the queue nor a later delivery", noAliases},
	}
}

func exactText(t *probe) {
	bodies := []string{
		`{"amount":4200}`, " ", "\t line one\r\n line two\n", "  spaces around  ", `quotes " and ' and \ and <&> and ]]> and %41+`, "ключ 鍵 🔑",
		"composed é, decomposed e\u0301, ligature \ufb01", "\ufeffafter a mark of byte order", "\u007f\u0085\u00a0\u2028",
		"edges \u0080\u07ff\u0800\ud7ff\ue000\ufffd\U00010000\U0010ffff", "null", "true", "0042", "Zm9v", strings.Repeat("long ", 20_000),
	}
	t.exact(bodies...)
}

func exactBytes(t *probe) {
	t.need(t.rig.AnyBytes, "the broker's bodies are text")
	t.exact(everyByte(), "\x00\x01\xff\xfe", "not UTF-8: \xc3\x28", "\x1b\x00")
}

// exact sends bodies in one go: each costs a broker a round trip, and a promise waits for few.
func (t *probe) exact(bodies ...string) {
	w := t.worker()
	want := map[string]string{}
	for i, id := range t.send(bodies...) {
		want[id] = bodies[i]
	}
	for _, m := range w.take(len(bodies)) {
		if body, ok := want[m.ID]; !ok || string(m.Body) != body {
			t.Errorf("got body %.80q of %s, want %.80q", m.Body, m.ID, body)
		}
		w.ack(m)
	}
}

func everyByte() string {
	all := make([]byte, 256)
	for i := range all {
		all[i] = byte(i)
	}
	return string(all)
}

func emptyBodies(t *probe) {
	t.need(t.rig.AnyBytes, "the broker's bodies are text")
	w := t.worker()
	for _, body := range [][]byte{nil, {}} {
		t.sendMessage(consumer.Message{Body: body})
		m := w.one()
		if len(m.Body) != 0 || (m.Body == nil) != (body == nil) {
			t.Errorf("got body %#v, want %#v", m.Body, body)
		}
		w.ack(m)
	}
}

func exactAttributes(t *probe) {
	t.attributes([]consumer.Attribute{
		{Name: "Idempotency-Key", Value: []byte("k-1_A")},
		{Name: "Unicode", Value: []byte("ключ 鍵 🔑 é e\u0301")},
		{Name: "dotted.name_x", Value: []byte(` " \ <&> `)},
		{Name: "Lines", Value: []byte(" \tone\r\ntwo\n ")},
		{Name: "Digits", Value: []byte("0042")},
		{Name: "Binary", Value: []byte(everyByte()), Binary: true},
		{Name: "Text-As-Binary", Value: []byte("text"), Binary: true},
		{Name: "Base64-As-Binary", Value: []byte("Zm9v"), Binary: true},
	})
	t.attributes(nil)
}

func emptyValues(t *probe) {
	t.need(t.rig.EmptyValues, "the broker refuses empty values")
	t.attributes([]consumer.Attribute{{Name: "Text", Value: []byte{}}, {Name: "Bytes", Value: []byte{}, Binary: true}})
}

func manyAttributes(t *probe) {
	var attrs []consumer.Attribute
	for i := range t.rig.attributes() {
		attrs = append(attrs, consumer.Attribute{Name: fmt.Sprint("Name-", i), Value: fmt.Append(nil, "value ", i)})
	}
	t.attributes(attrs)
}

func (t *probe) attributes(attrs []consumer.Attribute) {
	w := t.worker()
	t.sendMessage(consumer.Message{Body: []byte("body"), Attributes: attrs})
	m := w.one()
	t.sameAttributes(m.Attributes, attrs)
	w.ack(m)
	w.close()
}

// sameAttributes in any order: where a broker has none of its own, none is promised.
func (t *probe) sameAttributes(got, want []consumer.Attribute) {
	if len(got) != len(want) {
		t.Errorf("got %d attributes, want %d", len(got), len(want))
	}
	for _, a := range want {
		t.hasAttribute(got, a)
	}
}

func (t *probe) hasAttribute(attrs []consumer.Attribute, want consumer.Attribute) {
	i := slices.IndexFunc(attrs, func(x consumer.Attribute) bool { return x.Name == want.Name })
	if i < 0 {
		t.Errorf("attribute %s is missing", want.Name)
	} else if got := attrs[i]; !bytes.Equal(got.Value, want.Value) || got.Binary != want.Binary {
		t.Errorf("got attribute %s = %q, binary %v, want %q, %v", want.Name, got.Value, got.Binary, want.Value, want.Binary)
	}
}

func noAliases(t *probe) {
	w := t.worker()
	body, value := []byte("body"), []byte("value")
	t.sendMessage(consumer.Message{Body: body, Attributes: []consumer.Attribute{{Name: "Bytes", Value: value, Binary: true}}})
	body[0], value[0] = 'X', 'X'
	m := w.one()
	t.wantUntouched(m, "the sender")
	m.Body[0], m.Attributes[0].Value[0] = 'Y', 'Y'
	w.nack(m, 0)
	m = w.one()
	t.wantUntouched(m, "a handler")
	w.ack(m)
}

func (t *probe) wantUntouched(m *consumer.Message, by string) {
	if len(m.Attributes) != 1 || string(m.Body) != "body" || string(m.Attributes[0].Value) != "value" {
		t.Fatalf("got %q with %+v after %s changed its own, want what was sent", m.Body, m.Attributes, by)
	}
}
