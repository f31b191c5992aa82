package sqs

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/claimonce/claimonce/consumer"
)

// A delivery is the receipt of a message.
type delivery struct {
	source     *Source
	handle     string
	received   time.Time // when it was asked for: its twelve hours cannot have begun before
	body       string    // as it came, for a dead letter's copy: a handler can change the message's
	past       past      // its attributes with their types, before it was a dead letter if it was one
	unreadable error     // why the past cannot be told
	sent       time.Time // first, if it was a dead letter; zero if unknown
	system     map[string]string

	// turn is taken by whoever changes the visibility, until that can change no more. An extension whose answer nobody waits for any
	// longer would else arrive after the nack, and hide for a while what was handed back.
	turn chan struct{}

	mu    sync.Mutex
	state state
	until time.Time // hidden at least so long, as far as is known
	told  bool      // that it can be hidden no longer
}

type state int

const (
	open     state = iota // ours
	lost                  // SQS says that the handle no longer counts
	returned              // handed back
	deleted
)

// over is why nothing more can be done in a state, nil if something can.
func (s state) over() error {
	switch s {
	case open:
		return nil
	case lost:
		return errLost
	case returned, deleted:
	}
	return errSettled
}

func (s *Source) newDelivery(m *types.Message, asked, hidden time.Time) *delivery {
	d := &delivery{
		source: s, handle: aws.ToString(m.ReceiptHandle), received: asked, body: aws.ToString(m.Body), system: m.Attributes,
		turn: make(chan struct{}, 1), until: hidden,
	}
	d.past, d.unreadable = readPast(m.MessageAttributes)
	return d
}

// enter takes the turn. It fails if the delivery is no longer ours.
func (d *delivery) enter(ctx context.Context) error {
	select {
	case d.turn <- struct{}{}:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if err := d.now().over(); err != nil {
		<-d.turn
		return err
	}
	return nil
}

func (d *delivery) leave(s state) {
	d.become(s)
	<-d.turn
}

func (d *delivery) now() state {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.state
}

// become never undoes a state that is final.
func (d *delivery) become(s state) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.state = max(d.state, s)
}

func (d *delivery) hiddenUntil(t time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.until = t
}

func (d *delivery) isHidden(now time.Time) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.until.After(now)
}

// settledBy is what an attempt to hand a message back makes of it.
func settledBy(err error) state {
	switch {
	case err == nil:
		return returned
	case handleIsOver(err):
		return lost
	}
	return open
}

func (s *Source) deliveryOf(what string, m *consumer.Message) (*delivery, error) {
	d, ok := m.Receipt.(*delivery)
	if !ok || d.source != s {
		return nil, fmt.Errorf("sqs: %s %s: %w", what, nameOf(s.url), errNoReceipt)
	}
	return d, nil
}

// holdLocked also forgets what was left alone and is no longer hidden: nobody settles that.
func (s *Source) holdLocked(ds []*delivery) {
	now := time.Now()
	s.held = slices.DeleteFunc(s.held, func(d *delivery) bool { return !d.isHidden(now) })
	s.held = append(s.held, ds...)
}

func (s *Source) drop(ds ...*delivery) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held = slices.DeleteFunc(s.held, func(d *delivery) bool { return slices.Contains(ds, d) })
}

func (s *Source) takeHeld() []*delivery {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.holdLocked(nil)
	held := s.held
	s.held = nil
	return held
}

// view is a message as the consumer sees it. Attributes come in the order of their names: SQS sends them as a map. A group id is no
// order on a standard queue (it only spreads load among tenants), so it is not shown as one.
func view(m *types.Message, d *delivery) *consumer.Message {
	v := &consumer.Message{ID: aws.ToString(m.MessageId), Body: []byte(aws.ToString(m.Body)), Receipt: d}
	for name, a := range m.MessageAttributes {
		v.Attributes = append(v.Attributes, attributeOf(name, a))
	}
	if _, beside := m.MessageAttributes[d.past.taken]; d.past.taken != "" && !beside {
		v.Attributes = append(v.Attributes, attributeOf(d.past.taken, d.past.original[d.past.taken]))
	}
	slices.SortFunc(v.Attributes, func(a, b consumer.Attribute) int { return strings.Compare(a.Name, b.Name) })
	if ms, err := strconv.ParseInt(m.Attributes[string(types.MessageSystemAttributeNameSentTimestamp)], 10, 64); err == nil {
		v.SentAt = time.UnixMilli(ms).UTC()
	}
	v.Receives, _ = strconv.Atoi(m.Attributes[string(types.MessageSystemAttributeNameApproximateReceiveCount)])
	d.source.cfg.Envelope.unwrap(v, d.body)
	if d.unreadable != nil {
		v.Fault = fmt.Errorf("sqs: it was a dead letter: %w", d.unreadable)
	}
	v.SentAt = earlier(v.SentAt, d.past.sent)
	d.sent = v.SentAt
	return v
}

func attributeOf(name string, v types.MessageAttributeValue) consumer.Attribute {
	if isBinary(aws.ToString(v.DataType)) {
		return consumer.Attribute{Name: name, Value: slices.Clone(v.BinaryValue), Binary: true} // the copy for a dead letter stays as it came
	}
	return consumer.Attribute{Name: name, Value: []byte(aws.ToString(v.StringValue))}
}

// earlier: whoever claims a time can make a message older by it, never younger.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// isBinary: a type can have a label of the application's, as in Binary.png.
// https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-message-metadata.html
func isBinary(dataType string) bool {
	return dataType == "Binary" || strings.HasPrefix(dataType, "Binary.")
}
