package sqsd

import (
	"time"

	"github.com/claimonce/claimonce/awstest/internal/wire"
)

type sendInput struct {
	QueueUrl                string //nolint:revive // the field's name on the wire
	Id                      string //nolint:revive // as above; of a batch entry
	MessageBody             string
	DelaySeconds            *int
	MessageAttributes       map[string]attribute
	MessageSystemAttributes map[string]attribute
}

func (s at) sendMessage(in sendInput) (any, *wire.Error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	q, err := s.find(in.QueueUrl)
	if err != nil {
		return nil, err
	}
	m, err := s.take(q, in)
	if err != nil {
		return nil, err
	}
	s.wake()
	return sent(m), nil
}

func sent(m *message) map[string]any {
	out := map[string]any{"MessageId": m.id, "MD5OfMessageBody": md5Hex(m.body)}
	if sum := attributesMD5(m.attributes); sum != "" {
		out["MD5OfMessageAttributes"] = sum
	}
	if sum := attributesMD5(m.system); sum != "" {
		out["MD5OfMessageSystemAttributes"] = sum
	}
	return out
}

// take puts one message into a queue; called with mu held.
func (s *Server) take(q *queue, in sendInput) (*message, *wire.Error) {
	if _, err := check(in.MessageBody, in.MessageAttributes, q.number("MaximumMessageSize")); err != nil {
		return nil, err
	}
	for name := range in.MessageSystemAttributes {
		if name != "AWSTraceHeader" {
			return nil, refuse("InvalidParameterValue", "The message system attribute %s cannot be set.", name)
		}
	}
	delay := q.seconds("DelaySeconds")
	if in.DelaySeconds != nil {
		if *in.DelaySeconds < 0 || *in.DelaySeconds > 900 {
			return nil, refuse("InvalidParameterValue", "Value %d for parameter DelaySeconds is invalid. Reason: DelaySeconds must be >= 0 and <= 900.", *in.DelaySeconds)
		}
		delay = time.Duration(*in.DelaySeconds) * time.Second
	}
	now := time.Now()
	m := &message{
		id: s.newID(), body: in.MessageBody, attributes: in.MessageAttributes, system: in.MessageSystemAttributes,
		sent: now, visible: now.Add(delay),
	}
	q.messages = append(q.messages, m)
	return m, nil
}

type batchInput[T any] struct {
	QueueUrl string //nolint:revive // the field's name on the wire
	Entries  []T
}

func (s at) sendMessageBatch(in batchInput[sendInput]) (any, *wire.Error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	q, err := s.find(in.QueueUrl)
	if err != nil {
		return nil, err
	}
	ids, total := []string{}, 0
	for _, e := range in.Entries {
		ids = append(ids, e.Id)
		if size, err := check(e.MessageBody, e.MessageAttributes, maxMessage); err == nil {
			total += size
		}
	}
	if err := checkBatch(ids); err != nil {
		return nil, err
	}
	if total > maxMessage {
		return nil, refuse("BatchRequestTooLong", "Batch requests cannot be longer than %d bytes. You have sent %d bytes.", maxMessage, total)
	}
	var res results
	for _, e := range in.Entries {
		m, err := s.take(q, e)
		if err != nil {
			res.fail(e.Id, err)
			continue
		}
		out := sent(m)
		out["Id"] = e.Id
		res.ok(out)
	}
	s.wake()
	return res.answer(), nil
}

// results of a batch.
type results struct{ successful, failed []map[string]any }

func (r *results) ok(entry map[string]any) { r.successful = append(r.successful, entry) }

func (r *results) fail(id string, err *wire.Error) {
	r.failed = append(r.failed, map[string]any{"Id": id, "SenderFault": true, "Code": plain(err.Code), "Message": err.Message})
}

func (r *results) answer() map[string]any {
	out := map[string]any{"Successful": r.successful, "Failed": r.failed}
	if r.successful == nil {
		out["Successful"] = []any{}
	}
	if r.failed == nil {
		delete(out, "Failed")
	}
	return out
}
