package sqs_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	adapter "github.com/claimonce/claimonce/adapters/sqs"
)

// S34: a tool rewrote the time of sending. The dead letter of that is not made young by being moved back, however often.
func TestS34_UnreadableTimeIsNotReplaced(t *testing.T) {
	for name, stamp := range map[string]types.MessageAttributeValue{
		"no zone":    value("String", "2020-01-31T12:00:00"),
		"other text": value("String", "31.01.2020 12:00"),
		"binary":     value("Binary", "2020-01-31T12:00:00Z"),
	} {
		for _, attributes := range []int{1, 9} { // and the reason in several attributes, or folded
			t.Run(fmt.Sprint(name, " beside ", attributes), func(t *testing.T) {
				inBubble(t, func(t *testing.T, r *rig) {
					s := r.open(adapter.Config{})
					attrs := values{adapter.AttributeSent: stamp, adapter.AttributeDetail: value("String", "old")}
					for i := range attributes {
						attrs[fmt.Sprint("Name-", i)] = value("String", "v")
					}
					if len(attrs) > 10 {
						delete(attrs, adapter.AttributeDetail)
					}
					for range 3 {
						r.put(r.queue, "body", attrs)
						m := r.take(s, 1)[0]
						if m.Fault == nil || !strings.Contains(m.Fault.Error(), adapter.AttributeSent) {
							t.Fatalf("got fault %v, sent at %v, want it refused for its %s", m.Fault, m.SentAt, adapter.AttributeSent)
						}
						l := letter()
						l.Detail = ""
						if err := s.DeadLetter(t.Context(), m, l); err != nil {
							t.Fatal(err)
						}
						attrs = r.fetch(r.dead).MessageAttributes
						if got := told(values{adapter.AttributeSent: attrs[adapter.AttributeSent]}); got != told(values{adapter.AttributeSent: stamp}) {
							t.Errorf("got %s, want it as it came", got)
						}
						if _, stale := attrs[adapter.AttributeDetail]; stale {
							t.Errorf("got\n%s\nwant no detail of the reason before", told(attrs))
						}
					}
				})
			})
		}
	}
}

// S34: what cannot be read of a dead letter of ten attributes is not overwritten: where the reason has no place, the message is kept.
func TestS34_UnreadableFoldIsNotOverwritten(t *testing.T) {
	for _, removed := range []int{1, 3} {
		t.Run(fmt.Sprint(10-removed, " beside"), func(t *testing.T) {
			inBubble(t, func(t *testing.T, r *rig) {
				s := r.open(adapter.Config{})
				r.put(r.queue, "body", ten("X", value("String", "1")))
				m := r.take(s, 1)[0]
				m.Needed = []string{"Idempotency-Key", "Tenant"}
				if err := s.DeadLetter(t.Context(), m, letter()); err != nil {
					t.Fatal(err)
				}
				edited := r.fetch(r.dead).MessageAttributes
				folded := told(values{adapter.AttributeAll: edited[adapter.AttributeAll]})
				edited["X"] = value("String", "2") // which contradicts the fold
				for i := range removed {
					delete(edited, fmt.Sprint("A-longer-name-", 9-i))
				}
				r.put(r.queue, "body", edited)
				m = r.take(s, 1)[0]
				if m.Fault == nil {
					t.Fatal("got no fault, want it refused: X has two values")
				}
				err := s.DeadLetter(t.Context(), m, letter())
				if removed == 1 {
					if err == nil || !strings.Contains(err.Error(), adapter.AttributeAll) || !strings.Contains(err.Error(), "the message is kept") {
						t.Errorf("got %v, want what is to be done", err)
					}
					r.wantLeft(1)
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				dead := r.fetch(r.dead)
				if got := told(values{adapter.AttributeAll: dead.MessageAttributes[adapter.AttributeAll]}); got != folded {
					t.Errorf("got %s\nwant %s", got, folded)
				}
				r.put(r.queue, *dead.Body, dead.MessageAttributes)
				if m = r.take(s, 1)[0]; m.Fault == nil {
					t.Errorf("moved back it would run, as if sent at %v", m.SentAt)
				}
			})
		})
	}
}

// A time that cannot be read stays where it is, and what else there is stays with it.
func TestS34_AnUnreadableTimeKeepsTheFold(t *testing.T) {
	const readable = `"Attributes":{"X":{"Type":"String","Value":"v"}}`
	for name, attrs := range map[string]values{
		"beside":  {adapter.AttributeAll: value("String", `{`+readable+`}`), adapter.AttributeSent: value("String", "soon")},
		"in it":   {adapter.AttributeAll: value("String", `{"Claimonce-Sent":"soon",`+readable+`}`)},
		"nothing": {adapter.AttributeAll: value("String", `{"Claimonce-Sent":"",`+readable+`}`)},
		"own":     {adapter.AttributeAll: value("String", `{"Attributes":{"Claimonce-Sent":{"Type":"String","Value":"2030-01-01T00:00:00Z"}}}`)},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, r *rig) {
				s := r.open(adapter.Config{})
				r.put(r.queue, "body", attrs)
				m := r.take(s, 1)[0]
				if m.Fault == nil {
					t.Fatalf("got sent at %v, want it refused", m.SentAt)
				}
				if err := s.DeadLetter(t.Context(), m, letter()); err != nil {
					t.Fatal(err)
				}
				got := r.fetch(r.dead).MessageAttributes
				for name, want := range attrs {
					if name == adapter.AttributeAll && len(attrs) > 1 { // it could be read, and the new one says the same
						if x := got["X"]; aws.ToString(x.StringValue) != "v" {
							t.Errorf("got\n%s\nwant X back", told(got))
						}
						continue
					}
					if told(values{name: got[name]}) != told(values{name: want}) {
						t.Errorf("got\n%s\nwant %s as it came", told(got), name)
					}
				}
				if _, err := adapter.Restore(got); err == nil {
					t.Error("the dead letter of it can be read, although it could not")
				}
			})
		})
	}
}

// S34: of two times of sending the earlier one counts, wherever it stands.
func TestS34_TheFoldHidesNoTime(t *testing.T) {
	const early, late = "1999-12-01T00:00:00Z", "1999-12-31T00:00:00Z"
	for folded, beside := range map[string]string{
		`{"Claimonce-Reason":"x"}`:           early,
		`{"Claimonce-Sent":"` + late + `"}`:  early,
		`{"Claimonce-Sent":"` + early + `"}`: late,
	} {
		inBubble(t, func(t *testing.T, r *rig) {
			s := r.open(adapter.Config{})
			r.put(r.queue, "body", values{adapter.AttributeSent: value("String", beside), adapter.AttributeAll: value("String", folded)})
			m := r.take(s, 1)[0]
			if want := time.Date(1999, 12, 1, 0, 0, 0, 0, time.UTC); !m.SentAt.Equal(want) || m.Fault != nil {
				t.Errorf("%s beside %s: got sent at %v, fault %v, want %v", folded, beside, m.SentAt, m.Fault, want)
			}
		})
	}
}
