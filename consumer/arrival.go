package consumer

import (
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/claimonce/claimonce/dedupe"
)

// An Arrival is what a worker saw of a [PathCheck]'s message. It holds names, no values.
type Arrival struct {
	Operation  string    `json:"operation"` // of the worker
	Key        Arrived   `json:"key"`
	Tenant     Arrived   `json:"tenant"`
	CreatedAt  Arrived   `json:"created_at"`
	Attributes []string  `json:"attributes"`  // the names of those that arrived, as they did, the first 100 of them
	Group      bool      `json:"group"`       // it came in a group
	SentAt     time.Time `json:"sent_at"`     // by the broker's clock; zero if it does not say
	ReceivedAt time.Time `json:"received_at"` // by the worker's clock
	Receives   int       `json:"receives"`    // how often it was delivered, this time included; 0 if the broker does not say
}

// Arrived says how one value of the message arrived.
type Arrived struct {
	State     ArrivalState
	Attribute string // where the worker looks for it; "" if it does not
	Detail    string // for people
}

// ArrivalState is how a value arrived.
type ArrivalState string

// The states of arrival. All but the first two mean that messages which take this path are refused, or judged by something else
// than their producer said.
const (
	ArrivedEqual   ArrivalState = "equal"
	ArrivedUnused  ArrivalState = "unused"  // neither sent nor looked for
	ArrivedMissing ArrivalState = "missing" // stripped, or sent under another name than the worker looks for
	ArrivedChanged ArrivalState = "changed"
	ArrivedIgnored ArrivalState = "ignored" // sent, but the worker takes it from elsewhere
)

func (s ArrivalState) good() bool { return s == ArrivedEqual || s == ArrivedUnused }

// OK reports whether all arrived as it was sent.
func (a Arrival) OK() bool {
	return a.Key.State.good() && a.Tenant.State.good() && a.CreatedAt.State.good()
}

// String is a verdict for people, some lines long.
func (a Arrival) String() string {
	var b strings.Builder
	verdict := "all arrived"
	if !a.OK() {
		verdict = "not all arrived as it was sent"
	}
	fmt.Fprintf(&b, "path check of %q: %s\n", a.Operation, verdict)
	for _, p := range []struct {
		name string
		Arrived
	}{{"key", a.Key}, {"tenant", a.Tenant}, {"time", a.CreatedAt}} {
		fmt.Fprintf(&b, "  %s: %s", p.name, p.State)
		if p.Attribute != "" {
			fmt.Fprintf(&b, " (attribute %s)", p.Attribute)
		}
		if p.Detail != "" {
			fmt.Fprintf(&b, ": %s", p.Detail)
		}
		b.WriteByte('\n')
	}
	fmt.Fprintf(&b, "  attributes that arrived: %q\n", a.Attributes)
	if !a.SentAt.IsZero() {
		fmt.Fprintf(&b, "  from the broker to the worker: %v\n", a.ReceivedAt.Sub(a.SentAt).Round(time.Millisecond))
	}
	return b.String()
}

// stored is an Arrival as its record holds it.
type stored struct {
	Version int `json:"version"`
	Arrival
}

// read gives the worker's answer.
func (p *PathCheck) read(rec dedupe.Record) (Arrival, error) {
	var s stored
	if rec.Result == nil || json.Unmarshal(rec.Result.Body, &s) != nil {
		return Arrival{}, errors.New("consumer: path check: it arrived, but the worker's answer cannot be read; does this program have the workers' release?")
	}
	return s.Arrival, nil
}

// maxNames bounds the record: a bridge may add whatever it likes.
const maxNames = 100

// arrival looks at a check's message as the worker would at any other.
func (c *Consumer) arrival(m *Message, p *pathProbe, now time.Time) stored {
	s := Arrival{
		Operation: c.operation, Group: m.Group != "", SentAt: m.SentAt.UTC(), ReceivedAt: now.UTC(), Receives: m.Receives,
		Key: c.keyArrival(m, p), Tenant: c.tenantArrival(m, p),
		CreatedAt: arrived(m, c.cfg.CreatedAtAttribute, p.CreatedAt, "the operation's age is told by the broker's time, which a redrive or a bridge makes new"),
	}
	for _, a := range m.Attributes[:min(len(m.Attributes), maxNames)] {
		s.Attributes = append(s.Attributes, a.Name)
	}
	return stored{1, s}
}

func (c *Consumer) keyArrival(m *Message, p *pathProbe) Arrived {
	if c.cfg.MessageIDAsKey {
		return Arrived{State: ArrivedIgnored, Detail: "the worker takes the message's id as the key"}
	}
	a := arrived(m, c.cfg.KeyAttribute, p.Key, "messages are refused as "+ReasonMissingKey)
	if old := c.cfg.OldKeyAttribute; a.State == ArrivedMissing && old != "" {
		if b := arrived(m, old, p.Key, ""); b.State != ArrivedMissing {
			return b
		}
	}
	return a
}

func (c *Consumer) tenantArrival(m *Message, p *pathProbe) Arrived {
	switch name := c.cfg.Tenant.attribute; {
	case name == "" && p.Tenant == "":
		return Arrived{State: ArrivedUnused}
	case name == "":
		return Arrived{State: ArrivedIgnored, Detail: "the worker takes no tenant from messages"}
	case p.Tenant == "":
		return Arrived{State: ArrivedMissing, Attribute: name, Detail: "the check sent none, but the worker asks for one: name TenantAttribute"}
	default:
		return arrived(m, name, p.Tenant, "messages are refused as "+ReasonMissingTenant)
	}
}

// arrived compares one attribute with what was sent. The faults of Attribute quote no values.
func arrived(m *Message, name, sent, ifMissing string) Arrived {
	a := Arrived{State: ArrivedEqual, Attribute: name}
	got, ok, err := m.Attribute(name)
	switch {
	case err != nil:
		a.State, a.Detail = ArrivedChanged, err.Error()
	case !ok:
		a.State, a.Detail = ArrivedMissing, "stripped on the way, or sent under another name"
		if ifMissing != "" {
			a.Detail += "; " + ifMissing
		}
	case subtle.ConstantTimeCompare([]byte(got), []byte(sent)) != 1:
		a.State, a.Detail = ArrivedChanged, fmt.Sprintf("%d bytes arrived, %d were sent", len(got), len(sent))
	}
	return a
}
