package sqs_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

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

// What an attribute costs does not grow with their number: whoever may publish could else keep a poll until its messages are visible again.
// Only the ratio is looked at, of the fastest of several tries. Searching all of them for each makes it about 30.
func TestManyAttributesInANotification(t *testing.T) {
	t.Parallel()
	each := func(n, tries int) time.Duration {
		body, best := crowded(n), time.Duration(1<<63-1)
		for range tries {
			start := time.Now()
			m := adapter.Unwrap(adapter.SNS, body)
			best = min(best, time.Since(start))
			if m.Fault != nil || len(m.Attributes) != n {
				t.Fatalf("got %d attributes, fault %v, want %d", len(m.Attributes), m.Fault, n)
			}
		}
		return best / time.Duration(n)
	}
	few, many := each(100, 50), each(16_000, 3)
	if many > 10*few {
		t.Errorf("one of 16,000 takes %v and one of 100 takes %v, want about the same", many, few)
	}
}
