package sqs_test

import (
	"fmt"
	"strings"
	"testing"

	adapter "github.com/claimonce/claimonce/adapters/sqs"
)

// crowded is a notification with n attributes. The largest body that SQS takes has room for 32,000.
func crowded(n int) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `"%05d":{"Type":"S","Value":""}`, i)
	}
	return `{` + topic + `,"Message":"x","MessageAttributes":{` + b.String() + `}}`
}

// Every attribute of a full body is read.
func TestManyAttributesInANotification(t *testing.T) {
	t.Parallel()
	const n = 16_000
	body := crowded(n)
	if m := adapter.Unwrap(adapter.SNS, body); m.Fault != nil || len(m.Attributes) != n {
		t.Errorf("got %d attributes, fault %v, want %d", len(m.Attributes), m.Fault, n)
	}
}

// The cost of an attribute must not grow with their number: a poll of such messages would outlast its visibility before any of them is
// held. Compare ns/attribute of the two.
func BenchmarkAttributesOfANotification(b *testing.B) {
	for _, n := range []int{100, 16_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			body := crowded(n)
			for b.Loop() {
				adapter.Unwrap(adapter.SNS, body)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/attribute")
		})
	}
}
