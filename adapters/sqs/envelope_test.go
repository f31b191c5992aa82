package sqs_test

import (
	"encoding/json"
	"errors"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	adapter "github.com/claimonce/claimonce/adapters/sqs"
	"github.com/claimonce/claimonce/consumer"
)

const topic = `"Type":"Notification","MessageId":"b2f1","TopicArn":"arn:aws:sns:eu-west-1:000000000000:refunds"`

// notification is an envelope with the members of SNS's own, and those given.
func notification(members string) string {
	return `{` + topic + `,` + members + `,"SignatureVersion":"1","Signature":"EXAMPLE","UnsubscribeURL":"https://sns.invalid/"}`
}

// takeOf sends a body with attributes and receives it.
func (r *rig) takeOf(s *adapter.Source, body string, attributes ...consumer.Attribute) *consumer.Message {
	r.t.Helper()
	send(r.t, r.client, r.queue, consumer.Message{Body: []byte(body), Attributes: attributes})
	return r.take(s, 1)[0]
}

func text(name, value string) consumer.Attribute {
	return consumer.Attribute{Name: name, Value: []byte(value)}
}

func TestNotificationIsOpened(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		s := r.open(adapter.Config{Envelope: adapter.SNS})
		elapse(time.Hour)
		sent := time.Now().Add(-time.Minute).UTC().Truncate(time.Millisecond)
		const body = "{\"amount\": 1e2, \"note\":\"\\u00e9 <&> \u2028\"}\n"
		quoted, err := json.Marshal(body)
		if err != nil {
			t.Fatal(err)
		}
		m := r.takeOf(s, " \n"+notification(`"Subject":"s","Message":`+string(quoted)+`,"Timestamp":"`+sent.Format("2006-01-02T15:04:05.000Z")+`",
			"MessageAttributes":{"Idempotency-Key":{"Type":"String","Value":"k"},"Logo":{"Type":"Binary.png","Value":"AP8="},
			"Tags":{"Type":"String.Array","Value":"[\"a\",\"b\"]"},"Count":{"Type":"Number","Value":"4200"}}`)+"\n")
		if string(m.Body) != body || !m.SentAt.Equal(sent) || m.Fault != nil || m.Hint != "" {
			t.Errorf("got body %q, sent at %v, fault %v, hint %q; want %q of %v", m.Body, m.SentAt, m.Fault, m.Hint, body, sent)
		}
		got := map[string]string{}
		for _, a := range m.Attributes {
			if got[a.Name] = string(a.Value); a.Binary != (a.Name == "Logo") {
				t.Errorf("attribute %s: binary %v", a.Name, a.Binary)
			}
		}
		if want := map[string]string{"Idempotency-Key": "k", "Logo": "\x00\xff", "Tags": `["a","b"]`, "Count": "4200"}; !maps.Equal(got, want) {
			t.Errorf("got attributes %q, want %q", got, want)
		}
	})
}

func TestTheEarlierTimeOfANotificationCounts(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		s := r.open(adapter.Config{Envelope: adapter.SNS})
		now := time.Now().UTC()
		for _, members := range []string{
			`"Message":"{}"`,
			`"Message":"{}","Timestamp":"` + now.Add(time.Hour).Format(time.RFC3339) + `"`,
		} {
			if m := r.takeOf(s, notification(members)); !m.SentAt.Equal(now) || m.Fault != nil {
				t.Errorf("%s: got %v, fault %v, want the queue's own time %v", members, m.SentAt, m.Fault, now)
			}
		}
	})
}

// Raw delivery can be switched on while notifications are under way.
func TestWhatIsNoNotificationIsTakenAsItIs(t *testing.T) {
	for _, body := range []string{
		`{"amount":1}`, ``, ` `, `TopicArn`, `"TopicArn"`, `{"TopicArn"`, `[{` + topic + `,"Message":"{}"}]`, `not JSON, but "TopicArn"`,
		`{"Type":"Notification","Message":"{}","TopicArn":"a"}`,
		`{"Type":"Notification","Message":"{}","MessageId":"a","TopicArn":1}`,
		`{"Type":"Notification","Message":"{}","MessageId":"","TopicArn":"a"}`,
		`{"Type":"Notification","Message":"{}","MessageId":"a","TopicArn":""}`,
		`{"type":"Notification","messageId":"a","TopicArn":"a","message":"{}"}`,
		`{"Type":"notification","MessageId":"a","TopicArn":"a","Message":"{}"}`,
		`{"TopicArn":"a","data":` + `{` + topic + `,"Message":"{}"}}`,
		`{"TopicArn":"a","TopicArn":"b"}`,
	} {
		if strings.TrimSpace(body) == "" {
			continue // SQS takes no empty body
		}
		for _, envelope := range []adapter.Envelope{0, adapter.SNS} {
			inBubble(t, func(t *testing.T, r *rig) {
				m := r.takeOf(r.open(adapter.Config{Envelope: envelope}), body, text("Idempotency-Key", "k"))
				if string(m.Body) != body || len(m.Attributes) != 1 || m.Fault != nil || m.Hint != "" {
					t.Errorf("%s: got %+v, want it as it is", body, m)
				}
			})
		}
	}
}

// What looks like a notification and can be read in two ways, or not wholly, is refused: a guess could run something else.
func TestNotificationThatCannotBeOpened(t *testing.T) {
	attributes := func(text string) string { return notification(`"Message":"{}","MessageAttributes":` + text) }
	for body, want := range map[string]string{
		notification(`"Subject":"s"`):                                                       "0 members Message",
		notification(`"Message":{"amount":1}`):                                              "Message is no text",
		notification(`"Message":null`):                                                      "Message is no text",
		notification(`"Message":"{}","Message":"{}"`):                                       "2 members Message",
		notification(`"Message":"{}","Type":"Notification"`):                                "2 members Type",
		notification(`"Message":"{}","Type":"Other"`):                                       "2 members Type",
		notification(`"Message":"{}","TopicArn":1`):                                         "2 members TopicArn",
		notification(`"Message":"{}","MessageId":"b2f2"`):                                   "2 members MessageId",
		notification(`"Message":"\ud800"`):                                                  "no valid Unicode",
		notification(`"Message":"\\ufffd \ud800"`):                                          "no valid Unicode",
		notification(`"Message":"\\\ud800 \\ufffd"`):                                        "no valid Unicode",
		notification(`"Message":"\ufffd \udc00"`):                                           "no valid Unicode",
		notification(`"Message":"{}","Timestamp":"yesterday"`):                              "no time",
		notification(`"Message":"{}","Timestamp":5`):                                        "Timestamp is no text",
		notification(`"Message":"{}"`) + `{}`:                                               "more after its end",
		notification(`"Message":"{}"`) + notification(`"Message":"{}"`):                     "more after its end",
		`{` + topic + `,"Message":"{}"`:                                                     "no valid JSON",
		`{` + topic + `,"Message":"{}",}`:                                                   "no valid JSON",
		`{` + topic + `,"Message":"{`:                                                       "no valid JSON",
		attributes(`[]`):                                                                    "no JSON object",
		attributes(`null`):                                                                  "no JSON object",
		attributes(`{},"MessageAttributes":{}`):                                             "2 members MessageAttributes",
		attributes(`{"a":"b"}`):                                                             "no JSON object",
		attributes(`{"a":{"Type":"String"}}`):                                               "0 members Value",
		attributes(`{"a":{"Value":"b"}}`):                                                   "0 members Type",
		attributes(`{"a":{"Type":"Number","Value":1}}`):                                     "Value is no text",
		attributes(`{"a":{"Type":"String","Value":"b","Value":"c"}}`):                       "2 members Value",
		attributes(`{"a":{"Type":"Binary","Value":"AP8"}}`):                                 "no base64",
		attributes(`{"a":{"Type":"String","Value":"b"},"a":{"Type":"String","Value":"b"}}`): "name stands twice",
	} {
		inBubble(t, func(t *testing.T, r *rig) {
			m := r.takeOf(r.open(adapter.Config{Envelope: adapter.SNS}), body, text("Idempotency-Key", "k"))
			if m.Fault == nil || !strings.Contains(m.Fault.Error(), want) || !strings.Contains(m.Fault.Error(), "SNS envelope") {
				t.Errorf("%s: got fault %v, want %q", body, m.Fault, want)
			}
			if string(m.Body) != body {
				t.Errorf("got body %q, want it as it came", m.Body)
			}
		})
	}
}

// U+FFFD is a character like others.
func TestNotificationWithAReplacementCharacter(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		m := r.takeOf(r.open(adapter.Config{Envelope: adapter.SNS}), notification(`"Message":"\uFFFD \ufffd `+"\ufffd"+` \\\ufffd \\ufffd \ud83d\ude00"`))
		if want := "\ufffd \ufffd \ufffd \\\ufffd \\ufffd \U0001f600"; m.Fault != nil || string(m.Body) != want {
			t.Errorf("got %q, %v, want %q", m.Body, m.Fault, want)
		}
	})
}

// One layer is opened, never the payload's own: which of two was meant, nothing says.
func TestNotificationInANotification(t *testing.T) {
	t.Parallel()
	inner := notification(`"Message":"{}"`)
	quoted, err := json.Marshal(inner)
	if err != nil {
		t.Fatal(err)
	}
	for body, want := range map[string]string{inner: "{}", notification(`"Message":` + string(quoted)): inner} {
		if m := adapter.Unwrap(adapter.SNS, body); string(m.Body) != want || m.Fault != nil || m.Hint != "" {
			t.Errorf("%s: got body %q, fault %v, hint %q, want %q", body, m.Body, m.Fault, m.Hint, want)
		}
	}
}

// Inside and outside count alike, so that different values are no value.
func TestAttributeInsideAndOutside(t *testing.T) {
	for outside, want := range map[string]string{"k": "k", "other": ""} {
		inBubble(t, func(t *testing.T, r *rig) {
			body := notification(`"Message":"{}","MessageAttributes":{"idempotency-key":{"Type":"String","Value":"k"}}`)
			m := r.takeOf(r.open(adapter.Config{Envelope: adapter.SNS}), body, text("Idempotency-Key", outside))
			got, _, err := m.Attribute("Idempotency-Key")
			if got != want || (err == nil) != (want != "") {
				t.Errorf("outside %q: got %q, %v, want %q", outside, got, err, want)
			}
		})
	}
}

func TestHintOfAnUnopenedNotification(t *testing.T) {
	subscription := strings.Replace(notification(`"Message":"You have chosen to subscribe","Token":"t"`), "Notification", "SubscriptionConfirmation", 1)
	for _, c := range []struct {
		body     string
		envelope adapter.Envelope
		want     string
	}{
		{notification(`"Message":"{}"`), 0, "set sqs.Config.Envelope to sqs.SNS, or switch raw message delivery"},
		{subscription, 0, "confirm a subscription"},
		{subscription, adapter.SNS, "confirm a subscription"},
	} {
		inBubble(t, func(t *testing.T, r *rig) {
			m := r.takeOf(r.open(adapter.Config{Envelope: c.envelope}), c.body)
			if !strings.Contains(m.Hint, c.want) || m.Fault != nil || string(m.Body) != c.body {
				t.Errorf("%s: got hint %q, fault %v, body %q, want %q", c.body, m.Hint, m.Fault, m.Body, c.want)
			}
		})
	}
}

func TestDeadLetterOfANotificationIsTheNotification(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		s := r.open(adapter.Config{Envelope: adapter.SNS})
		body := notification(`"Message":"{}","MessageAttributes":{"Idempotency-Key":{"Type":"String","Value":"k"}}`)
		if err := s.DeadLetter(t.Context(), r.takeOf(s, body), letter()); err != nil {
			t.Fatal(err)
		}
		dead := r.onlyDead()
		if _, inside := dead.Attributes["Idempotency-Key"]; inside || dead.Body != body {
			t.Errorf("got %q with %v, want it as it was received", dead.Body, dead.Attributes)
		}
		// Moved back it is the same message again.
		values := map[string]types.MessageAttributeValue{}
		for name, v := range dead.Attributes {
			values[name] = types.MessageAttributeValue{DataType: aws.String("String"), StringValue: &v}
		}
		if _, err := r.client.SendMessage(t.Context(), &sqs.SendMessageInput{QueueUrl: &r.queue, MessageBody: &dead.Body, MessageAttributes: values}); err != nil {
			t.Fatal(err)
		}
		m := r.take(s, 1)[0]
		if id, ok, err := m.Attribute("Idempotency-Key"); id != "k" || !ok || err != nil || string(m.Body) != "{}" {
			t.Errorf("got key %q, %v, %v and body %q of the message that came back", id, ok, err, m.Body)
		}
	})
}

func TestUnknownEnvelopeIsRefused(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		_, err := adapter.New(r.client, r.queue, adapter.Config{Envelope: 2})
		if !errors.Is(err, consumer.ErrSetup) || !strings.Contains(err.Error(), "sqs.SNS") {
			t.Errorf("got %v, want what to set", err)
		}
	})
}
