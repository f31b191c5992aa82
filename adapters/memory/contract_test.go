package memory_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/claimonce/claimonce/adapters/adaptertest"
	"github.com/claimonce/claimonce/adapters/memory"
	"github.com/claimonce/claimonce/consumer"
)

func TestContract(t *testing.T) {
	t.Parallel()
	adaptertest.Run(t, adaptertest.Rig{
		New:        func(context.Context) (*adaptertest.Queue, error) { return contractQueue(), nil },
		Visibility: 30 * time.Second, Grain: time.Millisecond, FakeTime: true,
		Groups: true, AnyBytes: true, EmptyValues: true, Attributes: 50, MaxRedelivery: time.Hour,
	})
}

func contractQueue() *adaptertest.Queue {
	q := memory.New(memory.Config{Visibility: 30 * time.Second, Retention: time.Hour})
	return &adaptertest.Queue{
		Open:        func(context.Context) (consumer.Source, error) { return q.Source(), nil },
		Send:        func(_ context.Context, m consumer.Message) (string, error) { return send(q, m), nil },
		DeadLetters: func(context.Context) ([]adaptertest.Dead, error) { return dead(q), nil },
		Revoke: func(_ context.Context, m *consumer.Message) error {
			if !q.Revoke(m.ID) {
				return errors.New("nobody holds it")
			}
			return nil
		},
	}
}

func send(q *memory.Queue, m consumer.Message) (id string) {
	out := memory.Message{Group: m.Group, Body: m.Body, Attributes: map[string]string{}, Binary: map[string][]byte{}}
	for _, a := range m.Attributes {
		if a.Binary {
			out.Binary[a.Name] = a.Value
		} else {
			out.Attributes[a.Name] = string(a.Value)
		}
	}
	return q.Send(out)[0]
}

func dead(q *memory.Queue) (out []adaptertest.Dead) {
	for _, d := range q.DeadLetters() {
		m := consumer.Message{ID: d.ID, Group: d.Group, Body: d.Body}
		for name, v := range d.Attributes {
			m.Attributes = append(m.Attributes, consumer.Attribute{Name: name, Value: []byte(v)})
		}
		for name, v := range d.Binary {
			m.Attributes = append(m.Attributes, consumer.Attribute{Name: name, Value: v, Binary: true})
		}
		out = append(out, adaptertest.Dead{Message: m, Letter: d.Letter})
	}
	return out
}
