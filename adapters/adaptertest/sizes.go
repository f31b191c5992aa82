package adaptertest

import (
	"bytes"
	"strconv"

	"github.com/claimonce/claimonce/consumer"
)

func sizes() []Promise {
	return []Promise{
		{"large body", "a body comes whole, as large as the broker takes it", largeBody},
		{"long values", "the values of attributes come whole, as long as the broker takes them", longValues},
	}
}

func largeBody(t *probe) {
	w := t.worker()
	body := countUp(t.rig.bodyBytes())
	t.sendMessage(consumer.Message{Body: body})
	m := w.one()
	t.whole("the body", m.Body, body)
	w.ack(m)
}

func longValues(t *probe) {
	w := t.worker()
	value := countUp(t.rig.valueBytes())
	sent := []consumer.Attribute{{Name: "Text", Value: value}, {Name: "Bytes", Value: value, Binary: true}}
	t.sendMessage(consumer.Message{Body: []byte("body"), Attributes: sent})
	m := w.one()
	if len(m.Attributes) != len(sent) {
		t.Errorf("got %d attributes, want %d", len(m.Attributes), len(sent))
	}
	for _, a := range m.Attributes {
		t.whole("the value of "+a.Name, a.Value, value)
	}
	w.ack(m)
}

// countUp is n bytes of text whose parts differ, so that none can be missing or change places unseen.
func countUp(n int) []byte {
	out := make([]byte, 0, n+20)
	for i := 0; len(out) < n; i++ {
		out = append(strconv.AppendInt(out, int64(i), 10), ' ')
	}
	return out[:n]
}

// whole does not print what differs: it is long.
func (t *probe) whole(what string, got, want []byte) {
	if bytes.Equal(got, want) {
		return
	}
	same := 0
	for same < min(len(got), len(want)) && got[same] == want[same] {
		same++
	}
	t.Errorf("got %d bytes as %s, the first %d as they were sent, want all %d", len(got), what, same, len(want))
}
