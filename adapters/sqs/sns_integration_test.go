//go:build integration

package sqs_test

import (
	"encoding/xml"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	adapter "github.com/claimonce/claimonce/adapters/sqs"
	"github.com/claimonce/claimonce/consumer"
)

type snsResult struct {
	Topic string `xml:"CreateTopicResult>TopicArn"`
}

// sns calls the SNS of the server, which the SQS endpoint serves too, in its query protocol.
// https://docs.aws.amazon.com/sns/latest/api/CommonParameters.html
func sns(t *testing.T, action string, fields url.Values) (result snsResult) {
	t.Helper()
	fields.Set("Action", action)
	fields.Set("Version", "2010-03-31")
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, os.Getenv("CLAIMONCE_SQS_ENDPOINT"), strings.NewReader(fields.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	// By this the server finds the service; the signature is not looked at.
	req.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential=test/20260101/us-east-1/sns/aws4_request, SignedHeaders=host, Signature=none")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%s: %d %s, %v; does the server serve SNS too?", action, resp.StatusCode, body, err)
	}
	if err := xml.Unmarshal(body, &result); err != nil {
		t.Fatalf("%s: %v in %s", action, err, body)
	}
	return result
}

// subscribe gives the rig's queue what a topic publishes.
func (r *rig) subscribe(topic string, raw bool) {
	r.t.Helper()
	sns(r.t, "Subscribe", url.Values{
		"TopicArn": {topic}, "Protocol": {"sqs"}, "Endpoint": {r.arnOf(r.queue)}, "ReturnSubscriptionArn": {"true"},
		"Attributes.entry.1.key": {"RawMessageDelivery"}, "Attributes.entry.1.value": {fmt.Sprint(raw)},
	})
}

func publish(t *testing.T, topic, body string, attributes values) {
	t.Helper()
	fields := url.Values{"TopicArn": {topic}, "Message": {body}}
	n := 0
	for name, v := range attributes {
		n++
		entry := fmt.Sprintf("MessageAttributes.entry.%d.", n)
		fields.Set(entry+"Name", name)
		fields.Set(entry+"Value.DataType", aws.ToString(v.DataType))
		fields.Set(entry+"Value.StringValue", aws.ToString(v.StringValue))
	}
	sns(t, "Publish", fields)
}

func attributesOf(m *consumer.Message) string {
	var all []string
	for _, a := range m.Attributes {
		all = append(all, fmt.Sprintf("%s %q binary %v", a.Name, a.Value, a.Binary))
	}
	return strings.Join(sorted(all), "\n")
}

// SQS-14 on an SNS by other people: one publish, delivered raw to one queue and as a notification to another.
func TestServerSQS14_RawAndNotificationAreTheSame(t *testing.T) {
	t.Parallel()
	wrapped, raw := onServer(t), onServer(t)
	topic := sns(t, "CreateTopic", url.Values{"Name": {nameOf(wrapped.queue)}}).Topic
	wrapped.subscribe(topic, false)
	raw.subscribe(topic, true)
	const body = "{\"amount\": 42.50, \"note\": \"ключ <&> \\u00e9 \\\"quoted\\\"\"}\n"
	// No binary attribute: in ministack's notification its value is empty, and moto cannot deliver one raw. Both keep the rest.
	sent := values{consumer.DefaultKeyAttribute: value("String", "key-1"), "Count": value("Number", "7")}
	before := time.Now().Add(-5 * time.Second)
	publish(t, topic, body, sent)

	a := wrapped.take(wrapped.open(adapter.Config{Envelope: adapter.SNS}), 1)[0]
	b := raw.take(raw.open(adapter.Config{Envelope: adapter.SNS}), 1)[0]
	want := "Count \"7\" binary false\nIdempotency-Key \"key-1\" binary false"
	for name, m := range map[string]*consumer.Message{"notification": a, "raw": b} {
		if string(m.Body) != body || m.Fault != nil || m.Hint != "" {
			t.Errorf("%s: got body %q, fault %v, hint %q, want %q", name, m.Body, m.Fault, m.Hint, body)
		}
		if got := attributesOf(m); got != want {
			t.Errorf("%s: got attributes\n%s\nwant\n%s", name, got, want)
		}
		if m.SentAt.Before(before) || m.SentAt.After(time.Now().Add(5*time.Second)) {
			t.Errorf("%s: got sent at %v, want about now", name, m.SentAt)
		}
	}
}

// SQS-14: with envelopes off the message has no key, and a hint.
func TestServerSQS14_EnvelopesOff(t *testing.T) {
	t.Parallel()
	r := onServer(t)
	topic := sns(t, "CreateTopic", url.Values{"Name": {nameOf(r.queue)}}).Topic
	r.subscribe(topic, false)
	publish(t, topic, `{"amount":1}`, values{consumer.DefaultKeyAttribute: value("String", "key-1")})
	m := r.take(r.open(adapter.Config{}), 1)[0]
	if _, ok, err := m.Attribute(consumer.DefaultKeyAttribute); ok || err != nil || !strings.Contains(m.Hint, "sqs.SNS") {
		t.Errorf("got key %v, %v, hint %q, want none and what to set", ok, err, m.Hint)
	}
}

func nameOf(queueURL string) string { return queueURL[strings.LastIndexByte(queueURL, '/')+1:] }
