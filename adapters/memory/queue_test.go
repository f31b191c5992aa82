package memory_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/claimonce/claimonce/adapters/memory"
	"github.com/claimonce/claimonce/consumer"
)

var (
	_ consumer.Extender     = (*memory.Source)(nil)
	_ consumer.DeadLetterer = (*memory.Source)(nil)
	_ consumer.Redeliverer  = (*memory.Source)(nil)
)

func take(t *testing.T, s *memory.Source, n int) []*consumer.Message {
	t.Helper()
	msgs, err := s.Receive(t.Context(), n)
	if err != nil || len(msgs) != n {
		t.Fatalf("got %d messages, %v, want %d", len(msgs), err, n)
	}
	return msgs
}

func TestDefaults(t *testing.T) {
	t.Parallel()
	s := memory.New(memory.Config{Visibility: -1, Retention: -1}).Source()
	if got, want := s.Visibility(), 30*time.Second; got != want {
		t.Errorf("got visibility %v, want %v", got, want)
	}
	if got, err := s.MaxRedelivery(t.Context()); err != nil || got != 4*24*time.Hour {
		t.Errorf("got %v, %v, want four days", got, err)
	}
	s = memory.New(memory.Config{Retention: time.Hour}).Source()
	if got, err := s.MaxRedelivery(t.Context()); err != nil || got != time.Hour {
		t.Errorf("got %v, %v, want the configured hour", got, err)
	}
}

func TestAttributesComeInTheOrderOfTheirNames(t *testing.T) {
	t.Parallel()
	q := memory.New(memory.Config{})
	q.Send(memory.Message{Attributes: map[string]string{"c": "", "a": "", "e": ""}, Binary: map[string][]byte{"d": nil, "b": nil}})
	var names []string
	for _, a := range take(t, q.Source(), 1)[0].Attributes {
		names = append(names, a.Name)
	}
	if want := []string{"a", "b", "c", "d", "e"}; !slices.Equal(names, want) {
		t.Errorf("got %v, want %v", names, want)
	}
}

func TestAReceiptOfAnotherQueueSettlesNothing(t *testing.T) {
	t.Parallel()
	one, two := memory.New(memory.Config{}), memory.New(memory.Config{})
	one.Send(memory.Message{}, memory.Message{})
	two.Send(memory.Message{}, memory.Message{})
	b := two.Source()
	if err := b.Ack(t.Context(), take(t, b, 2)[1]); err != nil {
		t.Fatal(err)
	}
	for _, m := range take(t, one.Source(), 2) { // of the first there is the same id here, of the second none
		for what, err := range map[string]error{
			"ack": b.Ack(t.Context(), m), "nack": b.Nack(t.Context(), m, 0), "extend": b.Extend(t.Context(), m),
			"dead letter": b.DeadLetter(t.Context(), m, consumer.DeadLetter{}),
		} {
			if !errors.Is(err, consumer.ErrNotHeld) {
				t.Errorf("%s of %s: got %v, want ErrNotHeld", what, m.ID, err)
			}
		}
	}
	if two.Len() != 1 {
		t.Errorf("got %d messages, want the one untouched", two.Len())
	}
}

func TestCloseGivesBackAtOnceAndOnlyItsOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := memory.New(memory.Config{})
		ids := q.Send(memory.Message{}, memory.Message{}, memory.Message{})
		one, two, three := q.Source(), q.Source(), q.Source()
		take(t, one, 1)
		take(t, two, 1)
		nacked := take(t, one, 1)[0]
		if err := one.Nack(t.Context(), nacked, time.Hour); err != nil {
			t.Fatal(err)
		}
		if err := one.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		if m := take(t, three, 1)[0]; m.ID != ids[0] {
			t.Errorf("got %s, want %s, which the closed source held", m.ID, ids[0])
		}
		ctx, cancel := context.WithTimeout(t.Context(), 29*time.Second)
		defer cancel()
		if msgs, err := three.Receive(ctx, 10); err == nil {
			t.Errorf("got %s, which another worker holds or which was handed back for an hour", msgs[0].ID)
		}
	})
}

func TestAnEndedVisibilityIsNotHeldThoughNobodyHasTheMessage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := memory.New(memory.Config{Visibility: 10 * time.Second})
		q.Send(memory.Message{})
		s := q.Source()
		m := take(t, s, 1)[0]
		<-time.After(10 * time.Second)
		for what, err := range map[string]error{
			"extend": s.Extend(t.Context(), m), "ack": s.Ack(t.Context(), m), "nack": s.Nack(t.Context(), m, time.Hour),
		} {
			if !errors.Is(err, consumer.ErrNotHeld) {
				t.Errorf("%s: got %v, want ErrNotHeld", what, err)
			}
		}
		take(t, s, 1)
	})
}

func TestCloseWakesAWorkerThatWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := memory.New(memory.Config{})
		q.Send(memory.Message{})
		one, two := q.Source(), q.Source()
		take(t, one, 1)
		before := time.Now()
		time.AfterFunc(time.Second, func() {
			if err := one.Close(t.Context()); err != nil {
				t.Error(err)
			}
		})
		take(t, two, 1)
		if got := time.Since(before); got != time.Second {
			t.Errorf("the message came after %v, want it when the other closed", got)
		}
	})
}

// What a worker held too long and another has by now stays with the other when the first one closes.
func TestCloseLeavesWhatWasTakenOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := memory.New(memory.Config{Visibility: 10 * time.Second})
		q.Send(memory.Message{})
		one, two := q.Source(), q.Source()
		take(t, one, 1)
		m := take(t, two, 1)[0]
		if err := one.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := two.Ack(t.Context(), m); err != nil {
			t.Errorf("got %v, want the taker to hold it still", err)
		}
	})
}

func TestWhatAQueueTells(t *testing.T) {
	t.Parallel()
	q := memory.New(memory.Config{})
	ids := q.Send(memory.Message{Group: "g", Body: []byte("one")}, memory.Message{Group: "g", Body: []byte("two")})
	s := q.Source()
	m := take(t, s, 1)[0]
	if got := q.Receives(ids[0]); got != 1 {
		t.Errorf("got %d receives, want 1", got)
	}
	letter := consumer.DeadLetter{Reason: consumer.ReasonPermanent, Detail: "why", KeyHash: "hash", Attempts: 3}
	if err := s.DeadLetter(t.Context(), m, letter); err != nil {
		t.Fatal(err)
	}
	if q.Len() != 1 || q.Receives(ids[0]) != 0 {
		t.Errorf("got %d messages and %d receives, want one message left and none of the dead one", q.Len(), q.Receives(ids[0]))
	}
	dead := q.DeadLetters()
	if len(dead) != 1 || dead[0].ID != ids[0] || dead[0].Letter != letter || string(dead[0].Body) != "one" || dead[0].Group != "g" {
		t.Fatalf("got %+v, want the message with its letter", dead)
	}
	dead[0].Body[0] = 'X'
	if got := string(q.DeadLetters()[0].Body); got != "one" {
		t.Errorf("got %q after a reader changed its copy", got)
	}
	if m := take(t, s, 1)[0]; m.ID != ids[1] {
		t.Errorf("got %s, want the next of the group after its head was dead-lettered", m.ID)
	}
}

func TestOfAGroupSeveralCanComeInOneReceive(t *testing.T) {
	t.Parallel()
	q := memory.New(memory.Config{})
	ids := q.Send(memory.Message{Group: "a"}, memory.Message{Group: "b"}, memory.Message{Group: "a"})
	for i, m := range take(t, q.Source(), 3) {
		if m.ID != ids[i] {
			t.Errorf("got %s in place %d, want %s", m.ID, i, ids[i])
		}
	}
}

func TestOnlyWhatIsHeldCanBeRevoked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := memory.New(memory.Config{Visibility: 10 * time.Second})
		ids := q.Send(memory.Message{}, memory.Message{})
		s := q.Source()
		if q.Revoke(ids[0]) || q.Revoke("nobody") {
			t.Error("revoked what nobody holds")
		}
		first := take(t, s, 1)[0]
		if err := s.Nack(t.Context(), first, time.Minute); err != nil {
			t.Fatal(err)
		}
		if q.Revoke(ids[0]) {
			t.Error("revoked what was handed back: its delay must stand")
		}
		second := take(t, s, 1)[0]
		<-time.After(10 * time.Second)
		if q.Revoke(ids[1]) {
			t.Error("revoked what is visible anyway")
		}
		select {
		case <-second.Revoked():
			t.Error("Revoked is closed, although nobody revoked it")
		default:
		}
		again := take(t, s, 1)[0]
		if !q.Revoke(ids[1]) {
			t.Fatal("did not revoke what is held")
		}
		<-again.Revoked()
		if err := s.Ack(t.Context(), again); !errors.Is(err, consumer.ErrNotHeld) {
			t.Errorf("ack: got %v, want ErrNotHeld", err)
		}
		take(t, s, 1)
	})
}
