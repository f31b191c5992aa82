package consumer_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/claimonce/claimonce/consumer"
)

const hint = "it looks like something else: switch it on"

// What the source noticed stands in the refusal that it can explain, and in no other.
func TestHintOfAMissingKeyOrTenant(t *testing.T) {
	for name, c := range map[string]struct {
		attributes []consumer.Attribute
		cfg        func(*consumer.Config)
		reason     string
		told       bool
	}{
		"no key":        {nil, nil, consumer.ReasonMissingKey, true},
		"no tenant":     {[]consumer.Attribute{attr(consumer.DefaultKeyAttribute, "k")}, tenant("Tenant"), consumer.ReasonMissingTenant, true},
		"malformed key": {[]consumer.Attribute{attr(consumer.DefaultKeyAttribute, " k")}, nil, consumer.ReasonMalformedKey, false},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, r *rig) {
				if c.cfg != nil {
					c.cfg(&r.cfg)
				}
				r.queue.send(consumer.Message{ID: "m", Body: []byte(`{"amount":1}`), Attributes: c.attributes, Hint: hint})
				r.work(time.Second)
				r.wantNothingRan()
				if d := r.wantDead("m", c.reason); strings.Contains(d.Detail, hint) != c.told {
					t.Errorf("got detail %q, want the hint in it: %v", d.Detail, c.told)
				}
			})
		})
	}
}

// A message that its source could not read is refused for that, whatever seems to be there or missing.
func TestFaultOfAMessageIsARefusal(t *testing.T) {
	for name, attributes := range map[string][]consumer.Attribute{"with a key": {attr(consumer.DefaultKeyAttribute, "k")}, "without": nil} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, r *rig) {
				fault := errors.New("two bodies in one")
				r.queue.send(consumer.Message{ID: "m", Body: []byte(`{"amount":1}`), Attributes: attributes, Fault: fault})
				r.work(time.Second)
				r.wantNothingRan()
				if d := r.wantDead("m", consumer.ReasonMalformedBody); !strings.Contains(d.Detail, fault.Error()) {
					t.Errorf("got detail %q, want the fault", d.Detail)
				}
				if e := r.first("m"); !errors.Is(e.Err, fault) {
					t.Errorf("told the error %v, want the fault", e.Err)
				}
			})
		})
	}
}
