package sqsd

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"time"

	"github.com/claimonce/claimonce/awstest/internal/wire"
)

type sendInput struct {
	QueueUrl                string
	ID                      string `json:"Id"` // of a batch entry
	MessageBody             string
	DelaySeconds            *int
	MessageAttributes       map[string]attribute
	MessageSystemAttributes map[string]attribute
	MessageGroupID          string `json:"MessageGroupId"`
	MessageDeduplicationID  string `json:"MessageDeduplicationId"`
}

type sent struct {
	ID                           string `json:"Id,omitempty"` // of a batch entry
	MessageID                    string `json:"MessageId"`
	MD5OfMessageBody             string
	MD5OfMessageAttributes       string `json:",omitempty"`
	MD5OfMessageSystemAttributes string `json:",omitempty"`
	SequenceNumber               string `json:",omitempty"`
}

func (s at) sendMessage(in sendInput) (any, *wire.Error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	q, err := s.find(in.QueueUrl)
	if err != nil {
		return nil, err
	}
	out, err := s.put(q, in)
	if err != nil {
		return nil, err
	}
	out.ID = ""
	return out, nil
}

// put adds one message to a queue, unless a FIFO queue had it already; called with mu held.
func (s *Server) put(q *queue, in sendInput) (sent, *wire.Error) {
	if err := in.check(q.number("MaximumMessageSize")); err != nil {
		return sent{}, err
	}
	if err := q.checkIDs(in); err != nil {
		return sent{}, err
	}
	delay, err := q.delay(in)
	if err != nil {
		return sent{}, err
	}
	now := time.Now()
	m := &message{
		body: in.MessageBody, attributes: in.MessageAttributes, system: in.MessageSystemAttributes,
		group: in.MessageGroupID, dedup: in.MessageDeduplicationID, sent: now, visible: now.Add(delay),
	}
	first := s.firstSend(q, m, now)
	if first == nil {
		m.id = s.newID(now)
		m.seq = s.serial
		q.insert(m, now)
		first = m
	}
	out := sent{
		ID: in.ID, MessageID: first.id, MD5OfMessageBody: md5Hex(in.MessageBody),
		MD5OfMessageAttributes: attributesMD5(in.MessageAttributes), MD5OfMessageSystemAttributes: attributesMD5(in.MessageSystemAttributes),
	}
	if q.fifo {
		out.SequenceNumber = first.sequence()
	}
	return out, nil
}

// firstSend is the message that a FIFO queue recognises in m: it was sent less than five minutes ago. nil: m is new, and from now
// on will be recognised.
func (s *Server) firstSend(q *queue, m *message, now time.Time) *message {
	if !q.fifo {
		return nil
	}
	if m.dedup == "" { // content-based, or checkIDs would have refused it
		sum := sha256.Sum256([]byte(m.body))
		m.dedup = hex.EncodeToString(sum[:])
	}
	key := q.dedupKey(m)
	if first := q.sends.find(key, now); first != nil {
		return first
	}
	q.sends.add(key, m, now)
	return nil
}

// checkIDs: a standard queue takes a group for fairness, but no deduplication.
func (q *queue) checkIDs(in sendInput) *wire.Error {
	if !idOK(in.MessageGroupID) {
		return badValue(in.MessageGroupID, "MessageGroupId", "MessageGroupId can only include alphanumeric and punctuation characters. 1 to 128 in length.")
	}
	if !idOK(in.MessageDeduplicationID) {
		return badValue(in.MessageDeduplicationID, "MessageDeduplicationId", "MessageDeduplicationId can only include alphanumeric and punctuation characters. 1 to 128 in length.")
	}
	switch {
	case !q.fifo && in.MessageDeduplicationID != "":
		return badValue(in.MessageDeduplicationID, "MessageDeduplicationId", "The request include parameter that is not valid for this queue type.")
	case q.fifo && in.MessageGroupID == "":
		return missing("MessageGroupId")
	case q.fifo && in.MessageDeduplicationID == "" && q.attributes["ContentBasedDeduplication"] != "true":
		return refuse("InvalidParameterValue", "The queue should either have ContentBasedDeduplication enabled or MessageDeduplicationId provided explicitly.")
	}
	return nil
}

func idOK(id string) bool {
	return len(id) <= 128 && !strings.ContainsFunc(id, func(r rune) bool { return r <= ' ' || r > '~' })
}

func (q *queue) delay(in sendInput) (time.Duration, *wire.Error) {
	switch d := in.DelaySeconds; {
	case d == nil:
		return q.seconds("DelaySeconds"), nil
	case *d < 0 || *d > 900:
		return 0, badValue(*d, "DelaySeconds", "DelaySeconds must be >= 0 and <= 900.")
	case q.fifo && *d > 0:
		return 0, badValue(*d, "DelaySeconds", "The request include parameter that is not valid for this queue type.")
	default:
		return time.Duration(*d) * time.Second, nil
	}
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
		ids = append(ids, e.ID)
		total += e.size()
	}
	if err := checkBatch(ids); err != nil {
		return nil, err
	}
	if total > maxMessage {
		return nil, refuse("BatchRequestTooLong", "Batch requests cannot be longer than %d bytes. You have sent %d bytes.", maxMessage, total)
	}
	var res results
	for _, e := range in.Entries {
		if out, err := s.put(q, e); err != nil {
			res.fail(e.ID, err)
		} else {
			res.ok(out)
		}
	}
	return res, nil
}
