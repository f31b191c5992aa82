package sqsd

import (
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"
	"time"
)

type message struct {
	id, body   string
	attributes map[string]attribute
	system     map[string]attribute // what a sender may set: AWSTraceHeader
	group      string               // MessageGroupId
	dedup      string               // MessageDeduplicationId, in FIFO queues
	source     string               // ARN of the queue that it was a dead letter of

	seq       int64 // order of arrival
	sent      time.Time
	visible   time.Time // not handed out before
	firstSeen time.Time
	received  time.Time // last
	receives  int
	handle    string // of the last receive; "" before the first
	flying    bool   // received, and still hidden by that

	in    *pile // the pile that it lies in, if any
	index int   // in that pile
}

type attribute struct {
	DataType    string
	StringValue *string `json:",omitempty"`
	BinaryValue []byte  `json:",omitempty"`
}

func (a attribute) text() string {
	if a.StringValue != nil {
		return *a.StringValue
	}
	return base64.StdEncoding.EncodeToString(a.BinaryValue)
}

func millis(t time.Time) string { return strconv.FormatInt(t.UnixMilli(), 10) }

// sequence is a FIFO message's SequenceNumber: 20 digits, so that it compares as text too.
func (m *message) sequence() string { return fmt.Sprintf("%020d", m.seq) }

// newID is unique in this server and has the form of a UUID.
func (s *Server) newID(now time.Time) string {
	s.serial++
	return fmt.Sprintf("%08x-0000-4000-8000-%012x", now.Unix()&0xffffffff, s.serial)
}

func (s *Server) newHandle(q *queue, m *message) string {
	s.serial++
	return base64.StdEncoding.EncodeToString(fmt.Appendf(nil, "%s %s %d", q.name, m.id, s.serial))
}

// parseHandle tells which message a receipt handle is of.
func parseHandle(q *queue, handle string) (id string, ok bool) {
	raw, err := base64.StdEncoding.DecodeString(handle)
	if err != nil {
		return "", false
	}
	parts := strings.Split(string(raw), " ")
	if len(parts) != 3 || parts[0] != q.name {
		return "", false
	}
	return parts[1], true
}
