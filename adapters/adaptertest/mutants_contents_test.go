package adaptertest_test

import (
	"bytes"
	"context"
	"strings"
	"sync"
	"time"

	"github.com/claimonce/claimonce/consumer"
)

// onMessages changes what Receive returns.
func onMessages(f func(m *consumer.Message)) func(*bent) {
	return func(s *bent) {
		receive := s.receive
		s.receive = func(ctx context.Context, limit int) ([]*consumer.Message, error) {
			msgs, err := receive(ctx, limit)
			for _, m := range msgs {
				f(m)
			}
			return msgs, err
		}
	}
}

func contentMutants() []mutant {
	text := func(f func(string) string) func(*bent) {
		return onMessages(func(m *consumer.Message) { m.Body = []byte(f(string(m.Body))) })
	}
	attribute := func(f func(a *consumer.Attribute)) func(*bent) {
		return onMessages(func(m *consumer.Message) {
			for i := range m.Attributes {
				f(&m.Attributes[i])
			}
		})
	}
	return []mutant{
		{"bodies are trimmed", "body exact", text(strings.TrimSpace), nil},
		{"bodies are composed", "body exact", text(func(s string) string { return strings.ReplaceAll(s, "e\u0301", "é") }), nil},
		{"the mark of byte order is dropped", "body exact", text(func(s string) string { return strings.TrimPrefix(s, "\ufeff") }), nil},
		{"lines end in one way", "body exact", text(func(s string) string { return strings.ReplaceAll(s, "\r\n", "\n") }), nil},
		{"bodies are made valid text", "bytes exact", text(func(s string) string { return strings.ToValidUTF8(s, "\ufffd") }), nil},
		{"bodies end at a zero byte", "bytes exact", text(func(s string) string { s, _, _ = strings.Cut(s, "\x00"); return s }), nil},
		{"nil is empty", "empty bodies", text(func(s string) string { return s }), nil},
		{"attributes are lost", "attributes exact|same message", onMessages(func(m *consumer.Message) { m.Attributes = nil }), nil},
		{"bytes are text", "attributes exact", attribute(func(a *consumer.Attribute) { a.Binary = false }), nil},
		{"values are cut at a zero byte", "attributes exact", attribute(func(a *consumer.Attribute) { a.Value, _, _ = bytes.Cut(a.Value, []byte{0}) }), nil},
		{"names lose their case", "attributes exact", attribute(func(a *consumer.Attribute) { a.Name = strings.ToLower(a.Name) }), nil},
		{"ten attributes are enough", "many attributes", onMessages(func(m *consumer.Message) { m.Attributes = m.Attributes[:min(10, len(m.Attributes))] }), nil},
		{"bodies are cut", "large body", text(func(s string) string { return s[:min(len(s), 128<<10)] }), nil},
		{"parts of long bodies change places", "large body", text(func(s string) string {
			const part = 100 << 10
			if len(s) <= part {
				return s
			}
			return s[part:] + s[:part]
		}), nil},
		{"values are cut", "long values", attribute(func(a *consumer.Attribute) { a.Value = a.Value[:min(len(a.Value), 300)] }), nil},
		{"empty values are dropped", "empty values", onMessages(func(m *consumer.Message) {
			var some []consumer.Attribute
			for _, a := range m.Attributes {
				if len(a.Value) > 0 {
					some = append(some, a)
				}
			}
			m.Attributes = some
		}), nil},
		{"slices are kept", "no aliases", keepsSlices, nil},
		{"a new id at redelivery", "same message", onMessages(func(m *consumer.Message) {
			if m.Receives > 1 {
				m.ID += "-again"
			}
		}), nil},
		{"the time is that of receipt", "same message|sent at", onMessages(func(m *consumer.Message) {
			if m.SentAt = time.Now(); m.Receives > 1 {
				m.SentAt = m.SentAt.Add(time.Second)
			}
		}), nil},
		{"the group is lost", "group order|same message", onMessages(func(m *consumer.Message) { m.Group = "" }), nil},
		{"the group is lost at redelivery", "same message|group waits|group nacked|group crash", onMessages(func(m *consumer.Message) {
			if m.Receives > 1 {
				m.Group = ""
			}
		}), nil},
		{"receives are not counted", "receives", onMessages(func(m *consumer.Message) { m.Receives = 1 }), nil},
	}
}

// keepsSlices hands out the slices of the first delivery at each later one.
func keepsSlices(s *bent) {
	var mu sync.Mutex
	first := map[string]*consumer.Message{}
	onMessages(func(m *consumer.Message) {
		mu.Lock()
		defer mu.Unlock()
		if was := first[m.ID]; was != nil {
			m.Body, m.Attributes = was.Body, was.Attributes
		}
		first[m.ID] = m
	})(s)
}
