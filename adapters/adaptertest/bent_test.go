package adaptertest_test

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/claimonce/claimonce/adapters/adaptertest"
	"github.com/claimonce/claimonce/adapters/memory"
	"github.com/claimonce/claimonce/consumer"
)

const visibility = 30 * time.Second

// A bed is a queue in memory whose sources are bent: each of their calls can be replaced.
type bed struct {
	q    *memory.Queue
	end  context.Context //nolint:containedctx // of the bubble: what a mutant leaves running ends with it
	bend func(*bent)

	group      func(string) string // what the queue takes for a message's group
	noRevoke   bool
	deadBroken bool
	deads      func([]adaptertest.Dead) []adaptertest.Dead

	mu     sync.Mutex
	groups map[string]string // of the messages, as they were sent
	held   []handedOut
}

type handedOut struct {
	by *bent
	m  *consumer.Message
}

// rig makes beds. bend changes their sources; nil: they are healthy.
func rig(end context.Context, bend func(*bent), beds ...func(*bed)) adaptertest.Rig {
	return adaptertest.Rig{
		New: func(context.Context) (*adaptertest.Queue, error) {
			b := &bed{
				q: memory.New(memory.Config{Visibility: visibility}), end: end, bend: bend, groups: map[string]string{},
				group: func(g string) string { return g },
			}
			for _, f := range beds {
				f(b)
			}
			return b.queue(), nil
		},
		Visibility: visibility, Grain: time.Millisecond, FakeTime: true,
		Groups: true, AnyBytes: true, EmptyValues: true, Attributes: 20, MaxRedelivery: 4 * 24 * time.Hour,
	}
}

func (b *bed) queue() *adaptertest.Queue {
	return &adaptertest.Queue{
		Open: func(context.Context) (consumer.Source, error) { return b.open(), nil },
		Send: b.send,
		Crash: func(_ context.Context, s consumer.Source) error {
			s.(*bent).die() //nolint:forcetypeassert // opened above
			return nil
		},
		Revoke: func(_ context.Context, m *consumer.Message) error {
			if b.noRevoke {
				return nil
			}
			if !b.q.Revoke(m.ID) {
				return errors.New("nobody holds it")
			}
			return nil
		},
		DeadLetters: func(context.Context) ([]adaptertest.Dead, error) { return b.dead(), nil },
		BreakDeadLetters: func(context.Context) error {
			b.deadBroken = true
			return nil
		},
	}
}

func (b *bed) send(_ context.Context, m consumer.Message) (string, error) {
	out := memory.Message{Group: b.group(m.Group), Body: m.Body, Attributes: map[string]string{}, Binary: map[string][]byte{}}
	for _, a := range m.Attributes {
		if a.Binary {
			out.Binary[a.Name] = a.Value
		} else {
			out.Attributes[a.Name] = string(a.Value)
		}
	}
	b.mu.Lock() // until its group is known: it may be received at once
	defer b.mu.Unlock()
	id := b.q.Send(out)[0]
	b.groups[id] = m.Group
	return id, nil
}

func (b *bed) dead() (out []adaptertest.Dead) {
	for _, d := range b.q.DeadLetters() {
		m := consumer.Message{ID: d.ID, Body: d.Body}
		for name, v := range d.Attributes {
			m.Attributes = append(m.Attributes, consumer.Attribute{Name: name, Value: []byte(v)})
		}
		for name, v := range d.Binary {
			m.Attributes = append(m.Attributes, consumer.Attribute{Name: name, Value: v, Binary: true})
		}
		out = append(out, adaptertest.Dead{Message: m, Letter: d.Letter})
	}
	if b.deads != nil {
		out = b.deads(out)
	}
	return out
}

// A bent source is one of memory's, save for the calls that a mutant replaced. It has all abilities.
type bent struct {
	src   *memory.Source
	bed   *bed
	alive context.Context //nolint:containedctx // ends with the crash
	die   context.CancelFunc

	receive    func(ctx context.Context, limit int) ([]*consumer.Message, error)
	ack        func(ctx context.Context, m *consumer.Message) error
	nack       func(ctx context.Context, m *consumer.Message, delay time.Duration) error
	shut       func(ctx context.Context) error
	extend     func(ctx context.Context, m *consumer.Message) error
	hides      func() time.Duration
	deadLetter func(ctx context.Context, m *consumer.Message, d consumer.DeadLetter) error
	leave      func(ctx context.Context, m *consumer.Message) error
	redelivery func(ctx context.Context) (time.Duration, error)
	lastPoll   func() time.Time
	check      func(ctx context.Context) error
	window     func() time.Duration
}

var (
	_ consumer.Extender     = (*bent)(nil)
	_ consumer.DeadLetterer = (*bent)(nil)
	_ consumer.Leaver       = (*bent)(nil)
	_ consumer.Redeliverer  = (*bent)(nil)
	_ consumer.Poller       = (*bent)(nil)
	_ consumer.Checker      = (*bent)(nil)
	_ consumer.Windower     = (*bent)(nil)
)

func (b *bed) open() *bent {
	src := b.q.Source()
	s := &bent{
		src: src, bed: b, ack: src.Ack, nack: src.Nack, shut: src.Close, extend: src.Extend, hides: src.Visibility,
		redelivery: src.MaxRedelivery,
		leave:      func(context.Context, *consumer.Message) error { return nil },
		check:      func(context.Context) error { return nil },
		window:     func() time.Duration { return time.Hour },
	}
	s.alive, s.die = context.WithCancel(b.end)
	polled := make(chan time.Time, 1)
	polled <- time.Time{}
	s.lastPoll = func() time.Time {
		last := <-polled
		polled <- last
		return last
	}
	s.receive = func(ctx context.Context, limit int) ([]*consumer.Message, error) {
		for {
			msgs, err := s.poll(ctx, limit)
			if err == nil {
				<-polled
				polled <- time.Now()
			}
			if len(msgs) > 0 || err != nil {
				return msgs, err
			}
		}
	}
	s.deadLetter = func(ctx context.Context, m *consumer.Message, d consumer.DeadLetter) error {
		if b.deadBroken {
			return errors.New("there is no room for the copy")
		}
		return src.DeadLetter(ctx, m, d)
	}
	if b.bend != nil {
		b.bend(s)
	}
	return s
}

// poll brings nothing if there is nothing for a while, as a broker's long poll does.
func (s *bent) poll(ctx context.Context, limit int) ([]*consumer.Message, error) {
	short, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	msgs, err := s.fromMemory(short, limit)
	if err != nil && short.Err() != nil && ctx.Err() == nil {
		err = nil
	}
	return msgs, err
}

// fromMemory ends with the process, too, and gives messages the groups that they were sent with.
func (s *bent) fromMemory(ctx context.Context, limit int) ([]*consumer.Message, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(s.alive, cancel)()
	msgs, err := s.src.Receive(ctx, limit)
	s.bed.mu.Lock()
	defer s.bed.mu.Unlock()
	for _, m := range msgs {
		m.Group = s.bed.groups[m.ID]
		s.bed.held = append(s.bed.held, handedOut{s, m})
	}
	return msgs, err
}

func (s *bent) Receive(ctx context.Context, limit int) ([]*consumer.Message, error) {
	return s.receive(ctx, limit)
}
func (s *bent) Ack(ctx context.Context, m *consumer.Message) error { return s.ack(ctx, m) }
func (s *bent) Nack(ctx context.Context, m *consumer.Message, delay time.Duration) error {
	return s.nack(ctx, m, delay)
}
func (s *bent) Close(ctx context.Context) error                       { return s.shut(ctx) }
func (s *bent) Extend(ctx context.Context, m *consumer.Message) error { return s.extend(ctx, m) }
func (s *bent) Visibility() time.Duration                             { return s.hides() }
func (s *bent) DeadLetter(ctx context.Context, m *consumer.Message, d consumer.DeadLetter) error {
	return s.deadLetter(ctx, m, d)
}
func (s *bent) Leave(ctx context.Context, m *consumer.Message) error { return s.leave(ctx, m) }
func (s *bent) MaxRedelivery(ctx context.Context) (time.Duration, error) {
	return s.redelivery(ctx)
}
func (s *bent) LastPoll() time.Time             { return s.lastPoll() }
func (s *bent) Check(ctx context.Context) error { return s.check(ctx) }
func (s *bent) DefaultWindow() time.Duration    { return s.window() }
