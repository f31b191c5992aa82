package sqsd

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/claimonce/claimonce/awstest/internal/wire"
)

type receiveOutput struct {
	Messages []received `json:",omitempty"`
}

// received is a message as it is handed out.
type received struct {
	MessageID              string `json:"MessageId"`
	ReceiptHandle          string
	Body                   string
	MD5OfBody              string
	Attributes             map[string]string    `json:",omitempty"`
	MessageAttributes      map[string]attribute `json:",omitempty"`
	MD5OfMessageAttributes string               `json:",omitempty"` // of those that are returned
}

// view is the message as a receive answers it: attributes only if they were asked for.
func (m *message) view(q *queue, in receiveInput, account string) received {
	out := received{MessageID: m.id, ReceiptHandle: m.handle, Body: m.body, MD5OfBody: md5Hex(m.body), MessageAttributes: map[string]attribute{}}
	for name, a := range m.attributes {
		if asked(in.MessageAttributeNames, name) {
			out.MessageAttributes[name] = a
		}
	}
	out.MD5OfMessageAttributes = attributesMD5(out.MessageAttributes)
	names := slices.Concat(in.AttributeNames, in.MessageSystemAttributeNames)
	out.Attributes = m.systemAttributes(q, account)
	maps.DeleteFunc(out.Attributes, func(name, _ string) bool { return !slices.Contains(names, name) && !slices.Contains(names, "All") })
	return out
}

func (m *message) systemAttributes(q *queue, account string) map[string]string {
	all := map[string]string{
		"SenderId": account, "SentTimestamp": millis(m.sent), "ApproximateReceiveCount": strconv.Itoa(m.receives),
		"ApproximateFirstReceiveTimestamp": millis(m.firstSeen),
	}
	if q.fifo {
		all["MessageDeduplicationId"], all["SequenceNumber"] = m.dedup, m.sequence()
	}
	if m.group != "" {
		all["MessageGroupId"] = m.group
	}
	if m.source != "" {
		all["DeadLetterQueueSourceArn"] = m.source
	}
	for name, a := range m.system {
		all[name] = a.text()
	}
	return all
}

// checkNames refuses names that no message has. AttributeNames, the older parameter, may also be names of a queue's attributes.
func (in receiveInput) checkNames() *wire.Error {
	known := []string{
		"All", "SenderId", "SentTimestamp", "ApproximateReceiveCount", "ApproximateFirstReceiveTimestamp", "SequenceNumber",
		"MessageDeduplicationId", "MessageGroupId", "AWSTraceHeader", "DeadLetterQueueSourceArn",
	}
	for _, name := range in.MessageSystemAttributeNames {
		if !slices.Contains(known, name) {
			return refuse("InvalidAttributeName", "Unknown Attribute %s.", name)
		}
	}
	return nil
}

// asked: by name, by the beginning with .* after it, or all.
// https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_ReceiveMessage.html#SQS-ReceiveMessage-request-MessageAttributeNames
func asked(names []string, name string) bool {
	return slices.ContainsFunc(names, func(n string) bool {
		prefix, wild := strings.CutSuffix(n, ".*")
		return n == "All" || n == name || wild && strings.HasPrefix(name, prefix)
	})
}
