package memory_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/claimonce/claimonce/adapters/internal/sourcetest"
	"github.com/claimonce/claimonce/adapters/memory"
	"github.com/claimonce/claimonce/consumer"
)

func TestContract(t *testing.T) {
	t.Parallel()
	for _, c := range sourcetest.Checks(true) {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				q := memory.New(memory.Config{Visibility: 30 * time.Second})
				c.Run(t, &sourcetest.Rig{
					Open:        func(*testing.T) consumer.Source { return q.Source() },
					Send:        func(_ *testing.T, group string, m consumer.Message) string { return send(q, group, m) },
					DeadLetters: func(*testing.T) []consumer.Message { return dead(q) },
					Visibility:  30 * time.Second,
					Grain:       time.Millisecond,
					FakeTime:    true,
					AnyBytes:    true,
				})
			})
		})
	}
}

func send(q *memory.Queue, group string, m consumer.Message) (id string) {
	out := memory.Message{Group: group, Body: m.Body, Attributes: map[string]string{}, Binary: map[string][]byte{}}
	for _, a := range m.Attributes {
		if a.Binary {
			out.Binary[a.Name] = a.Value
		} else {
			out.Attributes[a.Name] = string(a.Value)
		}
	}
	return q.Send(out)[0]
}

func dead(q *memory.Queue) (out []consumer.Message) {
	for _, d := range q.DeadLetters() {
		m := consumer.Message{ID: d.ID, Group: d.Group, Body: d.Body}
		for name, v := range d.Attributes {
			m.Attributes = append(m.Attributes, consumer.Attribute{Name: name, Value: []byte(v)})
		}
		for name, v := range d.Binary {
			m.Attributes = append(m.Attributes, consumer.Attribute{Name: name, Value: v, Binary: true})
		}
		out = append(out, m)
	}
	return out
}
