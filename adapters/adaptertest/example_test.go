package adaptertest_test

import (
	"context"
	"testing"
	"time"

	"github.com/claimonce/claimonce/adapters/adaptertest"
	"github.com/claimonce/claimonce/adapters/memory"
	"github.com/claimonce/claimonce/consumer"
)

// newQueue is what an adapter's author writes: an empty queue, how to open a source on it, and how to send to it without the source.
func newQueue(context.Context) (*adaptertest.Queue, error) {
	q := memory.New(memory.Config{Visibility: 30 * time.Second})
	return &adaptertest.Queue{
		Open: func(context.Context) (consumer.Source, error) { return q.Source(), nil },
		Send: func(_ context.Context, m consumer.Message) (string, error) {
			out := memory.Message{Group: m.Group, Body: m.Body, Attributes: map[string]string{}, Binary: map[string][]byte{}}
			for _, a := range m.Attributes {
				if a.Binary {
					out.Binary[a.Name] = a.Value
				} else {
					out.Attributes[a.Name] = string(a.Value)
				}
			}
			return q.Send(out)[0], nil
		},
	}, nil
}

func ExampleRun() {
	// In a test of the adapter; here it only shows how.
	_ = func(t *testing.T) {
		adaptertest.Run(t, adaptertest.Rig{
			New:        newQueue,
			Visibility: 30 * time.Second,
			Grain:      time.Millisecond, // the broker counts delays in these
			FakeTime:   true,
			Groups:     true,
			AnyBytes:   true,
		})
	}
}
