package sqs_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	adapter "github.com/claimonce/claimonce/adapters/sqs"
	"github.com/claimonce/claimonce/consumer"
)

type values = map[string]types.MessageAttributeValue

func value(kind, v string) types.MessageAttributeValue {
	if strings.HasPrefix(kind, "Binary") {
		return types.MessageAttributeValue{DataType: &kind, BinaryValue: []byte(v)}
	}
	return types.MessageAttributeValue{DataType: &kind, StringValue: &v}
}

// told is what attributes say, in one text.
func told(attrs values) string {
	var all []string
	for name, a := range attrs {
		all = append(all, fmt.Sprintf("%s %s %q%q", name, aws.ToString(a.DataType), aws.ToString(a.StringValue), a.BinaryValue))
	}
	return strings.Join(sorted(all), "\n")
}

// ten attributes, of which least is the shortest one that is not needed to tell the operation.
func ten(least string, v types.MessageAttributeValue) values {
	all := values{least: v, "Idempotency-Key": value("String", "k"), "Tenant": value("String", "t")}
	for i := len(all); i < 10; i++ {
		all[fmt.Sprint("A-longer-name-", i)] = value("String", strings.Repeat("v", 30))
	}
	return all
}

func (r *rig) put(queue, body string, attrs values) {
	r.t.Helper()
	if _, err := r.client.SendMessage(r.t.Context(), &sqs.SendMessageInput{QueueUrl: &queue, MessageBody: &body, MessageAttributes: attrs}); err != nil {
		r.t.Fatal(err)
	}
}

// fetch receives a message without the adapter, and deletes it.
func (r *rig) fetch(queue string) types.Message {
	r.t.Helper()
	out, err := r.client.ReceiveMessage(r.t.Context(), &sqs.ReceiveMessageInput{
		QueueUrl: &queue, MessageAttributeNames: []string{"All"}, MessageSystemAttributeNames: []types.MessageSystemAttributeName{"All"},
	})
	if err != nil || len(out.Messages) != 1 {
		r.t.Fatalf("got %+v, %v, want one message", out, err)
	}
	m := out.Messages[0]
	if _, err := r.client.DeleteMessage(r.t.Context(), &sqs.DeleteMessageInput{QueueUrl: &queue, ReceiptHandle: m.ReceiptHandle}); err != nil {
		r.t.Fatal(err)
	}
	return m
}

// SQS-17: a message that has ten attributes is dead-lettered with ten, the key among them as it was, and what was taken in comes back.
func TestSQS17_DeadLetterOfTenAttributes(t *testing.T) {
	for name, least := range map[string]types.MessageAttributeValue{
		"text":   value("String", "<\"é\t&>"),
		"number": value("Number.eur", "4.20"),
		"binary": value("Binary.png", "\x00\xff"),
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, r *rig) {
				s := r.open(adapter.Config{})
				sent := ten("X", least)
				r.put(r.queue, "body", sent)
				m := r.take(s, 1)[0]
				m.Needed = []string{"idempotency-key", "Tenant"}
				if err := s.DeadLetter(t.Context(), m, letter()); err != nil {
					t.Fatal(err)
				}
				r.wantLeft(0)
				dead := r.fetch(r.dead)
				if _, there := dead.MessageAttributes["X"]; there || len(dead.MessageAttributes) != 10 || *dead.Body != "body" {
					t.Errorf("got %q with\n%s\nwant the body, and ten attributes without the least needed one", *dead.Body, told(dead.MessageAttributes))
				}
				var folded map[string]any
				if err := json.Unmarshal([]byte(*dead.MessageAttributes[adapter.AttributeAll].StringValue), &folded); err != nil {
					t.Fatal(err)
				}
				for name, want := range ownAttributes() {
					if folded[name] != want {
						t.Errorf("got %s %v, want %q", name, folded[name], want)
					}
				}
				if got, err := adapter.Restore(dead.MessageAttributes); err != nil || told(got) != told(sent) {
					t.Errorf("got %v and\n%s\nwant\n%s", err, told(got), told(sent))
				}

				// A redrive from the console moves it as it is.
				r.put(r.queue, *dead.Body, dead.MessageAttributes)
				m = r.take(s, 1)[0]
				i := slices.IndexFunc(m.Attributes, func(a consumer.Attribute) bool { return a.Name == "X" })
				want := string(least.BinaryValue) + aws.ToString(least.StringValue)
				if i < 0 || string(m.Attributes[i].Value) != want || m.Attributes[i].Binary != (name == "binary") || m.Fault != nil {
					t.Errorf("got %+v, want the attribute X back with %q", m, want)
				}
				// Which is taken in may be another one then.
				m.Needed = []string{"X", "Idempotency-Key", "Tenant"}
				if err := s.DeadLetter(t.Context(), m, letter()); err != nil {
					t.Fatal(err)
				}
				dead = r.fetch(r.dead)
				if got, err := adapter.Restore(dead.MessageAttributes); err != nil || told(got) != told(sent) || len(dead.MessageAttributes) != 10 {
					t.Errorf("second time: got %v and\n%s\nwant\n%s", err, told(got), told(sent))
				}
				if told(values{"X": dead.MessageAttributes["X"]}) != told(values{"X": least}) {
					t.Errorf("second time: X was taken in although it is needed")
				}
			})
		})
	}
}

// SQS-17: never the key if another will do, and the key last of those that are needed.
func TestSQS17_TheKeyIsTakenInLast(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		s := r.open(adapter.Config{})
		sent := ten("X", value("String", strings.Repeat("x", 1000)))
		r.put(r.queue, "body", sent)
		m := r.take(s, 1)[0]
		m.Needed = []string{"Idempotency-Key"}
		for name := range sent {
			if name != "Idempotency-Key" {
				m.Needed = append(m.Needed, name)
			}
		}
		last := m.Needed[9]
		if err := s.DeadLetter(t.Context(), m, letter()); err != nil {
			t.Fatal(err)
		}
		got := r.fetch(r.dead).MessageAttributes
		if _, there := got[last]; there || len(got) != 10 {
			t.Errorf("got\n%s\nwant %s taken in", told(got), last)
		}
	})
}

func TestRestoreOfWhatWasNoDeadLetter(t *testing.T) {
	t.Parallel()
	for _, attrs := range []values{nil, {"Name": value("Number", "1")}, ten("X", value("Binary", "\xff"))} {
		before := maps.Clone(attrs)
		if got, err := adapter.Restore(attrs); err != nil || told(got) != told(before) {
			t.Errorf("got %v, %v, want %v", got, err, before)
		}
		if told(attrs) != told(before) {
			t.Errorf("the argument was changed from %v to %v", before, attrs)
		}
	}
}

// What contradicts itself is refused, not guessed: and nothing of it is lost on the way to the dead-letter queue.
func TestDeadLetterThatCannotBeRead(t *testing.T) {
	t.Parallel()
	x := func(v string) string { return `{"Attributes":{"X":` + v + `}}` }
	for folded, want := range map[string]string{
		`{`:                    "no valid JSON",
		`[]`:                   "no JSON object",
		`{}{}`:                 "more after its end",
		`{"Attributes":1}`:     "not one attribute",
		`{"Attributes":{}}`:    "not one attribute",
		x(`1`):                 "no JSON object",
		x(`{"Type":"String"}`): "0 members Value",
		x(`{"Value":"v"}`):     "0 members Type",
		`{"Attributes":{"X":{"Type":"String","Value":"v"},"Y":{"Type":"String","Value":"v"}}}`: "not one attribute",
		x(`{"Type":"String","Value":"v"}},"Attributes":{"Y":{"Type":"String","Value":"v"}`):    "2 members Attributes",
		x(`{"Type":"Binary","Value":"/w"}`):                                                    "no base64",
		x(`{"Type":"String","Value":"other"}`):                                                 "with another value",
		x(`{"Type":"Number","Value":"v"}`):                                                     "with another value",
		`{"Claimonce-Sent":"yesterday"}`:                                                       "no time",
		`{"Claimonce-Sent":5}`:                                                                 "no text",
	} {
		attrs := values{adapter.AttributeAll: value("String", folded), "X": value("String", "v"), "Idempotency-Key": value("String", "k")}
		if _, err := adapter.Restore(attrs); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", folded, err, want)
		}
	}
	inBubble(t, func(t *testing.T, r *rig) {
		s := r.open(adapter.Config{})
		r.put(r.queue, "body", values{adapter.AttributeAll: value("String", `{"a":`), "Idempotency-Key": value("String", "k")})
		m := r.take(s, 1)[0]
		if m.Fault == nil || !strings.Contains(m.Fault.Error(), adapter.AttributeAll) {
			t.Errorf("got fault %v, want what cannot be read", m.Fault)
		}
		if err := s.DeadLetter(t.Context(), m, letter()); err != nil {
			t.Fatal(err)
		}
		if got := r.onlyDead().Attributes; got[adapter.AttributeAll] != `{"a":` || got[adapter.AttributeReason] != consumer.ReasonExhausted {
			t.Errorf("got %v, want the old attribute and the new reason", got)
		}
	})
}

// S34: a dead letter that comes back has a new time of sending by SQS, and is as old as it was before all the same.
func TestSentTimeSurvivesADeadLetter(t *testing.T) {
	for name, attributes := range map[string]int{"in an attribute": 0, "folded": 9, "folded with another": 10} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, r *rig) {
				s := r.open(adapter.Config{})
				first := time.Now()
				m := r.sendWith(s, attributes, "body")
				for range 3 {
					if err := s.DeadLetter(t.Context(), m, letter()); err != nil {
						t.Fatal(err)
					}
					dead := r.fetch(r.dead)
					elapse(24 * time.Hour)
					r.put(r.queue, *dead.Body, dead.MessageAttributes)
					if m = r.take(s, 1)[0]; !m.SentAt.Equal(first) {
						t.Errorf("got sent at %v, want %v", m.SentAt, first)
					}
				}
			})
		})
	}
}

// Only an earlier time is believed.
func TestForgedSentTimeDoesNotHelp(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		s := r.open(adapter.Config{})
		now := time.Now()
		for stamp, want := range map[string]time.Time{
			"2030-01-01T00:00:00Z":          now,
			"1999-12-31T23:00:00.000Z":      now.Add(-time.Hour),
			"2000-01-01T02:00:00.000+03:00": now.Add(-time.Hour),
		} {
			r.put(r.queue, "body", values{adapter.AttributeSent: value("String", stamp)})
			if m := r.take(s, 1)[0]; !m.SentAt.Equal(want) || m.Fault != nil {
				t.Errorf("%s: got %v, fault %v, want %v", stamp, m.SentAt, m.Fault, want)
			}
		}
		r.put(r.queue, "body", values{adapter.AttributeSent: value("String", "soon")})
		if m := r.take(s, 1)[0]; m.Fault == nil {
			t.Errorf("got sent at %v, want a fault: the time cannot be read", m.SentAt)
		}
	})
}

// SQS-17: SQS's own redrive, as the console starts it, is enough.
func TestSQS17_RedriveBringsTenAttributesBack(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		s := r.open(adapter.Config{})
		sent := ten("X", value("Binary", "\xff"))
		r.put(r.queue, "body", sent)
		m := r.take(s, 1)[0]
		first := m.SentAt
		elapse(20 * time.Second)
		if err := s.DeadLetter(t.Context(), m, letter()); err != nil {
			t.Fatal(err)
		}
		if _, err := r.client.StartMessageMoveTask(t.Context(), &sqs.StartMessageMoveTaskInput{
			SourceArn: aws.String(r.arnOf(r.dead)), DestinationArn: aws.String(r.arnOf(r.queue)),
		}); err != nil {
			t.Fatal(err)
		}
		m = r.take(s, 1)[0]
		got := values{}
		for _, a := range m.Attributes {
			if !strings.HasPrefix(a.Name, "Claimonce-") {
				got[a.Name] = value(aws.ToString(sent[a.Name].DataType), string(a.Value))
			}
		}
		if told(got) != told(sent) || !m.SentAt.Equal(first) || m.Fault != nil {
			t.Errorf("got sent at %v, fault %v,\n%s\nwant %v and\n%s", m.SentAt, m.Fault, told(got), first, told(sent))
		}
	})
}

func (r *rig) arnOf(url string) string {
	r.t.Helper()
	out, err := r.client.GetQueueAttributes(r.t.Context(), &sqs.GetQueueAttributesInput{
		QueueUrl: &url, AttributeNames: []types.QueueAttributeName{types.QueueAttributeNameQueueArn},
	})
	if err != nil {
		r.t.Fatal(err)
	}
	return out.Attributes[string(types.QueueAttributeNameQueueArn)]
}
