package consumer

import (
	"bytes"
	"fmt"
	"strings"
	"time"

	"github.com/claimonce/claimonce/dedupe"
)

// A Message is one delivery of one message.
type Message struct {
	ID         string // the broker's identity of the message, stable over redelivery where the broker has one
	Group      string // messages of one group run one at a time and in order; "" = no order
	Attributes []Attribute
	Body       []byte    // nil and empty differ where the broker can tell them apart
	SentAt     time.Time // by the broker's clock; zero if it does not say
	Receives   int       // how often it was delivered, this time included; 0 if the broker does not say

	// Hint is what the source noticed that can explain why the key or tenant is missing, and what to do; it is told in that refusal.
	// It quotes nothing of the message.
	Hint string
	// Fault is why the source could not tell what the message says: it is refused as [ReasonMalformedBody], never run. It quotes
	// nothing of the message.
	Fault error

	// Needed names the attributes that tell which operation the message asks for, the most needed first. The consumer sets it: where
	// a dead letter cannot hold all attributes as they are, the others go first. It is shared by all messages and must not be changed.
	Needed []string

	// Receipt is the source's own; the consumer carries it and does not look at it.
	Receipt any

	revoked <-chan struct{}
}

// An Attribute is a name and value beside the body: an SQS message attribute or a Kafka header.
type Attribute struct {
	Name   string
	Value  []byte
	Binary bool // the broker declares the value as bytes, not as text
}

// SetRevoked gives the message a channel that the source closes when the delivery is no longer this worker's. A source calls
// it before it hands the message out.
func (m *Message) SetRevoked(c <-chan struct{}) { m.revoked = c }

// Revoked is closed when the delivery is no longer this worker's: the handler is then cancelled, and the message neither
// acked nor nacked. nil, which blocks for ever, if the source has no such news.
func (m *Message) Revoked() <-chan struct{} { return m.revoked }

// Attribute finds an attribute by name, ASCII case ignored, since gateways change it. ok is false if there is none.
// An attribute that stands several times with different values, or that is declared binary, is an error: guessing which one is
// meant could run an operation twice.
func (m *Message) Attribute(name string) (value string, ok bool, err error) {
	var found *Attribute
	for i := range m.Attributes {
		a := &m.Attributes[i]
		if !strings.EqualFold(a.Name, name) {
			continue
		}
		if a.Binary {
			return "", true, fmt.Errorf("%w: attribute %s is binary; send it as a string", dedupe.ErrMalformedKey, name)
		}
		if found != nil && !bytes.Equal(found.Value, a.Value) {
			return "", true, fmt.Errorf("%w: attribute %s is ambiguous: it stands several times with different values", dedupe.ErrMalformedKey, name)
		}
		found = a
	}
	if found == nil {
		return "", false, nil
	}
	return string(found.Value), true, nil
}
