package sqs

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/claimonce/claimonce/consumer"
)

// Envelope says what a message's body is wrapped in. The zero value is nothing: the body is the request.
type Envelope int

// SNS opens notifications of an SNS topic: Message is then the body, MessageAttributes are the attributes, and Timestamp is the time
// of sending if it is the earlier one. A body that is no notification is taken as it is, so that a subscription can change to raw
// delivery and back while messages are under way: either way a message has the same key, body and fingerprint. Only what is itself
// a notification must not be published so: one layer is opened, and by raw delivery that is the payload's own. A notification that
// can be read in two ways, or not wholly, is refused. An attribute that stands inside and outside with different values is
// ambiguous, as in [consumer.Message.Attribute]. The signature is not verified: the queue's policy decides who may send to it.
//
// https://docs.aws.amazon.com/sns/latest/dg/sns-message-and-json-formats.html#http-notification-json
const SNS Envelope = 1

// What a missing key of such a message most likely means.
const (
	hintNotification = "the message looks like an SNS envelope: set sqs.Config.Envelope to sqs.SNS, or switch raw message delivery of the subscription on"
	hintSubscription = "the message looks like SNS asking to confirm a subscription of this queue: confirm it as SNS documents, then delete the message"
)

// mayBeSNS is quick, since most messages are none.
func mayBeSNS(body string) bool {
	return strings.Contains(body, `"TopicArn"`) && strings.HasPrefix(strings.TrimLeft(body, " \t\r\n"), "{")
}

// unwrap changes what the consumer sees of a message; a dead letter's copy stays as it was received.
func (e Envelope) unwrap(m *consumer.Message, body string) {
	if !mayBeSNS(body) {
		return
	}
	object, err := readObject(body)
	kind := snsKind(object)
	switch {
	case kind == kindSubscription:
		m.Hint = hintSubscription
		return
	case kind != kindNotification:
		return
	case e != SNS:
		m.Hint = hintNotification
		return
	}
	var n notification
	if err == nil {
		n, err = readNotification(object)
	}
	if err != nil {
		m.Fault = fmt.Errorf("sqs: it looks like an SNS envelope that cannot be opened: %w", err)
		return
	}
	m.Body = []byte(n.message)
	m.Attributes = append(m.Attributes, n.attributes...)
	m.SentAt = earlier(m.SentAt, n.sent)
}

const (
	kindNotification = "Notification"
	kindSubscription = "SubscriptionConfirmation"
)

// snsKind is the kind of an SNS message, "" if it is none. Of a member that stands twice each value counts: what looks like a notification
// in any reading must not run as something else.
func snsKind(o object) string {
	if !o.anyText("TopicArn", "") || !o.anyText("MessageId", "") {
		return ""
	}
	for _, kind := range []string{kindNotification, kindSubscription} {
		if o.anyText("Type", kind) {
			return kind
		}
	}
	return ""
}

type notification struct {
	message    string
	attributes []consumer.Attribute
	sent       time.Time // zero if it does not say
}

func readNotification(o object) (n notification, err error) {
	for _, name := range []string{"Type", "TopicArn", "MessageId"} {
		if _, err := o.text(name); err != nil {
			return n, err
		}
	}
	if n.message, err = o.text("Message"); err != nil {
		return n, err
	}
	if o.has("Timestamp") {
		stamp, err := o.text("Timestamp")
		if err != nil {
			return n, err
		}
		if n.sent, err = time.Parse(time.RFC3339, stamp); err != nil {
			return n, errors.New("its Timestamp is no time such as 2026-01-31T12:00:00.000Z")
		}
	}
	if o.has("MessageAttributes") {
		n.attributes, err = readAttributes(o)
	}
	return n, err
}

func readAttributes(o object) ([]consumer.Attribute, error) {
	raw, err := o.one("MessageAttributes")
	if err != nil {
		return nil, err
	}
	list, err := readObject(string(raw))
	if err != nil {
		return nil, fmt.Errorf("its MessageAttributes: %w", err)
	}
	seen := make(map[string]bool, len(list)) // there can be tens of thousands: to search the list for each would take seconds of each poll
	var out []consumer.Attribute
	for _, m := range list {
		a, err := readAttribute(m, seen[m.name])
		if err != nil {
			return nil, fmt.Errorf("an attribute in it: %w", err) // unnamed: its name can be anything that a sender wrote
		}
		seen[m.name] = true
		out = append(out, a)
	}
	return out, nil
}

// readAttribute: a String.Array stays the JSON text that it is.
func readAttribute(m member, twice bool) (a consumer.Attribute, err error) {
	if twice {
		return a, errors.New("its name stands twice")
	}
	v, err := readValue(m.value)
	return attributeOf(m.name, v), err
}
