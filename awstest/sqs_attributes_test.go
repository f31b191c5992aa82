package awstest_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

type values = map[string]types.MessageAttributeValue

func text(s string) types.MessageAttributeValue { return value("String", s) }

func value(kind, s string) types.MessageAttributeValue {
	return types.MessageAttributeValue{DataType: &kind, StringValue: &s}
}

func binary(b []byte) types.MessageAttributeValue {
	return types.MessageAttributeValue{DataType: aws.String("Binary"), BinaryValue: b}
}

func with(attributes values) func(*sqs.SendMessageInput) {
	return func(in *sqs.SendMessageInput) { in.MessageAttributes = attributes }
}

// The SDK compares body and attributes with their digests, on a send and on a receive.
func TestMessageAttributesComeAsTheyWereSent(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	q := r.queue("q")
	attributes := values{
		"text": text("grüße 🎉"), "number": value("Number", "-1.5e3"), "custom": value("String.trace", "x"),
		"amount": value("Number.int", "42"), "bytes": binary([]byte{0, 1, 254, 255}),
	}
	sent := r.send(q, "body é", with(attributes))
	m := r.one(q)
	if len(m.MessageAttributes) != len(attributes) || aws.ToString(m.MD5OfMessageAttributes) != aws.ToString(sent.MD5OfMessageAttributes) || aws.ToString(m.MD5OfMessageAttributes) == "" {
		t.Errorf("got %d attributes with digest %q, want %d with %q", len(m.MessageAttributes), aws.ToString(m.MD5OfMessageAttributes), len(attributes), aws.ToString(sent.MD5OfMessageAttributes))
	}
	show := func(v types.MessageAttributeValue) string {
		return fmt.Sprintf("%s %s %x", aws.ToString(v.DataType), aws.ToString(v.StringValue), v.BinaryValue)
	}
	for name, v := range attributes {
		if got, want := show(m.MessageAttributes[name]), show(v); got != want {
			t.Errorf("attribute %s: got %s, want %s", name, got, want)
		}
	}
}

// The digest of AWS's documented algorithm for one attribute {a: String "b"}, worked out by hand: length and bytes of name and
// type, 1, length and bytes of the value.
func TestDigestOfAttributesIsAWSs(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	q := r.queue("q")
	sent := r.send(q, "m", with(values{"a": text("b")}))
	if got, want := aws.ToString(sent.MD5OfMessageAttributes), md5Of("\x00\x00\x00\x01a\x00\x00\x00\x06String\x01\x00\x00\x00\x01b"); got != want {
		t.Errorf("got digest %s, want %s", got, want)
	}
	sent = r.send(q, "m", with(values{"b": binary([]byte("x")), "a": value("Number.n", "7")}))
	want := md5Of("\x00\x00\x00\x01a\x00\x00\x00\x08Number.n\x01\x00\x00\x00\x017\x00\x00\x00\x01b\x00\x00\x00\x06Binary\x02\x00\x00\x00\x01x")
	if got := aws.ToString(sent.MD5OfMessageAttributes); got != want {
		t.Errorf("got digest %s, want %s", got, want)
	}
}

func TestAttributesAreReturnedWhenAskedFor(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"": "", "All": "key kind trace.id trace.span", ".*": "key kind trace.id trace.span", "key": "key", "trace.*": "trace.id trace.span",
		"trace": "", "ke": "", "key,trace.id": "key trace.id", "none": "",
	} {
		t.Run("names "+name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			q := r.queue("q")
			r.send(q, "m", with(values{"key": text("1"), "kind": text("2"), "trace.id": text("3"), "trace.span": text("4")}))
			var names []string
			if name != "" {
				names = strings.Split(name, ",")
			}
			m := r.one(q, func(in *sqs.ReceiveMessageInput) {
				in.MessageAttributeNames, in.MessageSystemAttributeNames = names, nil
			})
			got := strings.Join(slices.Sorted(maps.Keys(m.MessageAttributes)), " ")
			if got != want || len(m.Attributes) != 0 {
				t.Errorf("got attributes %q and system attributes %v, want %q and none", got, m.Attributes, want)
			}
			if (m.MD5OfMessageAttributes != nil) != (want != "") {
				t.Errorf("got digest %v of %q", m.MD5OfMessageAttributes, want)
			}
		})
	}
}

func TestSystemAttributes(t *testing.T) {
	bubble(t, func(r *rig) {
		q := r.queue("q", "VisibilityTimeout", "0")
		r.send(q, "m", func(in *sqs.SendMessageInput) {
			in.MessageGroupId = aws.String("tenant-1")
			in.MessageSystemAttributes = map[string]types.MessageSystemAttributeValue{
				"AWSTraceHeader": {DataType: aws.String("String"), StringValue: aws.String("Root=1")},
			}
		})
		all := r.one(q).Attributes
		// The bubble's clock starts at midnight UTC 2000-01-01.
		want := map[string]string{
			"SenderId": "000000000000", "SentTimestamp": "946684800000", "ApproximateReceiveCount": "1",
			"ApproximateFirstReceiveTimestamp": "946684800000", "AWSTraceHeader": "Root=1", "MessageGroupId": "tenant-1",
		}
		if !maps.Equal(all, want) {
			r.Errorf("got %v, want %v", all, want)
		}
		one := r.one(q, func(in *sqs.ReceiveMessageInput) {
			in.MessageSystemAttributeNames = []types.MessageSystemAttributeName{"ApproximateReceiveCount"}
		}).Attributes
		if !maps.Equal(one, pairs("ApproximateReceiveCount", "2")) {
			r.Errorf("got %v, want the count that was asked for", one)
		}
		old := r.one(q, func(in *sqs.ReceiveMessageInput) {
			in.MessageSystemAttributeNames = nil
			in.AttributeNames = []types.QueueAttributeName{"SentTimestamp"} //nolint:staticcheck // older clients use it
		}).Attributes
		if !maps.Equal(old, pairs("SentTimestamp", "946684800000")) {
			r.Errorf("got %v, want the time that was asked for by the older parameter", old)
		}
		_, err := r.tryReceive(r.Context(), q, func(in *sqs.ReceiveMessageInput) {
			in.MessageSystemAttributeNames = []types.MessageSystemAttributeName{"Sender"}
		})
		typed[*types.InvalidAttributeName](r.T, err)
	})
}

func TestAttributesRefused(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	q := r.queue("q")
	for name, attributes := range map[string]values{
		"empty name":             {"": text("x")},
		"space":                  {"a b": text("x")},
		"dot first":              {".a": text("x")},
		"dot last":               {"a.": text("x")},
		"two dots":               {"a..b": text("x")},
		"AWS's prefix":           {"AWS.x": text("x")},
		"Amazon's prefix":        {"amazon.x": text("x")},
		"long name":              {strings.Repeat("a", 257): text("x")},
		"type":                   {"a": value("Text", "x")},
		"type like a known one":  {"a": value("Strings", "x")},
		"empty value":            {"a": text("")},
		"empty binary":           {"a": binary([]byte{})},
		"not a number":           {"a": value("Number", "12a")},
		"39 digits":              {"a": value("Number", strings.Repeat("1", 39))},
		"control character":      {"a": text("\x02")},
		"text in binary":         {"a": value("Binary", "x")},
		"number without a digit": {"a": value("Number", "-.")},
	} {
		_, err := r.trySend(q, "m", with(attributes))
		coded(t, err, "InvalidParameterValue", "")
		if err == nil {
			t.Errorf("%s was accepted", name)
		}
	}
	many := values{}
	for i := range 11 {
		many[fmt.Sprint("a", i)] = text("x")
	}
	_, err := r.trySend(q, "m", with(many))
	coded(t, err, "InvalidParameterValue", "[11]")
	r.wantCounts(q, "0/0/0")
	delete(many, "a0")
	r.send(q, "m", with(many)) // ten may be
	r.send(q, "m", with(values{strings.Repeat("a", 256): text("x"), "A_b-c.9": value("Number", "+.5e-3")}))
	r.send(q, "m", with(values{"a": value("Number", "000"+strings.Repeat("1", 38))}))
	for _, system := range []map[string]types.MessageSystemAttributeValue{
		{"Other": {DataType: aws.String("String"), StringValue: aws.String("x")}},
		{"AWSTraceHeader": {DataType: aws.String("Number"), StringValue: aws.String("1")}},
	} {
		_, err := r.trySend(q, "m", func(in *sqs.SendMessageInput) { in.MessageSystemAttributes = system })
		coded(t, err, "InvalidParameterValue", "AWSTraceHeader")
	}
}
