package sqs_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	adapter "github.com/claimonce/claimonce/adapters/sqs"
)

// A body is run as it is, or as what any JSON reader takes for the message of a notification, or not at all.
func FuzzEnvelope(f *testing.F) {
	f.Add(`{"amount":1}`)
	f.Add(notification(`"Message":"{}","Timestamp":"2026-01-31T12:00:00.000Z"`))
	f.Add(notification(`"Message":"\ud800\ufffd","MessageAttributes":{"a":{"Type":"String","Value":"b"},"c":{"Type":"Binary","Value":"AP8="}}`))
	f.Add(notification(`"Message":"{}","Message":"[]"`))
	f.Fuzz(func(t *testing.T, body string) {
		if m := adapter.Unwrap(0, body); string(m.Body) != body || m.Fault != nil || len(m.Attributes) > 0 {
			t.Errorf("envelopes off: got %+v of %q", m, body)
		}
		m := adapter.Unwrap(adapter.SNS, body)
		if m.Fault != nil || string(m.Body) == body {
			return
		}
		var read map[string]any
		if err := json.Unmarshal([]byte(body), &read); err != nil {
			t.Fatalf("%q was opened, although it is no JSON: %v", body, err)
		}
		attributes, _ := read["MessageAttributes"].(map[string]any)
		if read["Type"] != "Notification" || read["Message"] != string(m.Body) || read["TopicArn"] == "" || len(attributes) != len(m.Attributes) {
			t.Errorf("%q was opened as %q with %+v, want %+v", body, m.Body, m.Attributes, read)
		}
	})
}

// Whatever a message says, its dead letter has ten attributes at most in the room there is, and gives back what it took in.
func FuzzDeadLetter(f *testing.F) {
	f.Add("X", "value", false, 10, 100_000)
	f.Add("a <name>", "\x00\xff", true, 10, 100_000)
	f.Add("X", "4.20", false, 9, 300)
	f.Fuzz(func(t *testing.T, name, v string, binary bool, n, room int) {
		kind := "Number.eur"
		if binary {
			kind = "Binary.png"
		}
		if n < 1 || n > 10 || name == "" || !utf8.ValidString(name) || !binary && !utf8.ValidString(v) {
			return // SQS takes no such message
		}
		original := values{name: value(kind, v)}
		for i := len(original); i < n; i++ {
			original[fmt.Sprint("Another-name-", i)] = value("String", fmt.Sprint("another value of some length ", i))
		}
		got, err := adapter.Letter(original, letter(), room)
		if err != nil {
			return
		}
		if size := bytesIn(got); len(got) > 10 || size > room {
			t.Errorf("got %d attributes of %d bytes, want ten of %d", len(got), size, room)
		}
		if _, ok := original[adapter.AttributeAll]; ok {
			return
		}
		before := values{}
		for name, v := range original {
			if len(name) < 10 || name[:10] != "Claimonce-" {
				before[name] = v
			}
		}
		if back, err := adapter.Restore(got); err == nil && told(back) != told(before) {
			t.Errorf("got back\n%s\nwant\n%s", told(back), told(before))
		} else if err != nil && len(before) == len(original) {
			t.Errorf("got %v, want\n%s", err, told(before))
		}
	})
}

func bytesIn(attrs map[string]types.MessageAttributeValue) (n int) {
	for name, a := range attrs {
		n += len(name) + len(*a.DataType) + len(a.BinaryValue)
		if a.StringValue != nil {
			n += len(*a.StringValue)
		}
	}
	return n
}
