package sqsd

import (
	"crypto/md5" //nolint:gosec // SQS's own check sum of a message, not a safeguard
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/claimonce/claimonce/awstest/internal/wire"
)

type message struct {
	id, body   string
	attributes map[string]attribute
	system     map[string]attribute // what a sender may set: AWSTraceHeader
	sent       time.Time
	visible    time.Time // not handed out before
	firstSeen  time.Time
	received   time.Time // last
	receives   int
	handle     string // of the last receive; "" before the first
	gone       bool
	source     string // ARN of the queue that it was moved from
}

// inFlight: it was received and is hidden.
func (m *message) inFlight(now time.Time) bool { return m.handle != "" && m.visible.After(now) }

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

const maxMessage = 1 << 20

// check refuses what SQS refuses of a message.
// https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-message-metadata.html
func check(body string, attributes map[string]attribute, limit int) (size int, err *wire.Error) {
	if body == "" {
		return 0, refuse("MissingParameter", "The request must contain the parameter MessageBody.")
	}
	if !textOK(body) {
		return 0, refuse("InvalidMessageContents", "Invalid characters in the message body.")
	}
	if len(attributes) > 10 {
		return 0, refuse("InvalidParameterValue", "Number of message attributes [%d] exceeds the allowed maximum [10].", len(attributes))
	}
	size = len(body)
	for _, name := range slices.Sorted(maps.Keys(attributes)) {
		a := attributes[name]
		if err := checkAttribute(name, a); err != nil {
			return 0, err
		}
		size += len(name) + len(a.DataType) + len(a.BinaryValue)
		if a.StringValue != nil {
			size += len(*a.StringValue)
		}
	}
	if size > limit {
		return 0, refuse("InvalidParameterValue", "One or more parameters are invalid. Reason: Message must be shorter than %d bytes.", limit)
	}
	return size, nil
}

func checkAttribute(name string, a attribute) *wire.Error {
	lower := strings.ToLower(name)
	if !madeOf(name, 256, "_-.") || strings.HasPrefix(name, ".") || strings.HasSuffix(name, ".") ||
		strings.Contains(name, "..") || strings.HasPrefix(lower, "aws.") || strings.HasPrefix(lower, "amazon.") {
		return refuse("InvalidParameterValue", "The message attribute name %q is invalid.", name)
	}
	kind, _, _ := strings.Cut(a.DataType, ".")
	switch {
	case kind != "String" && kind != "Number" && kind != "Binary":
		return refuse("InvalidParameterValue", "The type of message (user) attribute '%s' is invalid. You must use only the following supported type prefixes: Binary, Number, String.", name)
	case kind == "Binary" && len(a.BinaryValue) == 0, kind != "Binary" && (a.StringValue == nil || *a.StringValue == ""):
		return refuse("InvalidParameterValue", "Message (user) attribute '%s' must contain a non-empty value of type '%s'.", name, kind)
	case kind != "Binary" && !textOK(*a.StringValue):
		return refuse("InvalidParameterValue", "Invalid characters in the value of message attribute '%s'.", name)
	case kind == "Number":
		if _, ok := new(big.Rat).SetString(*a.StringValue); !ok || len(*a.StringValue) > 50 {
			return refuse("InvalidParameterValue", "Can't cast the value of message (user) attribute '%s' to a number.", name)
		}
	}
	return nil
}

// textOK: #x9 | #xA | #xD | #x20 to #xD7FF | #xE000 to #xFFFD | #x10000 to #x10FFFF.
func textOK(s string) bool {
	if !utf8.ValidString(s) {
		return false
	}
	for _, r := range s {
		if r < 0x20 && r != '\t' && r != '\n' && r != '\r' || r == 0xFFFE || r == 0xFFFF {
			return false
		}
	}
	return true
}

func md5Hex(s string) string {
	sum := md5.Sum([]byte(s)) //nolint:gosec // as above
	return hex.EncodeToString(sum[:])
}

// attributesMD5 is the digest that clients check.
// https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-message-metadata.html#sqs-attributes-md5-message-digest-calculation
func attributesMD5(attributes map[string]attribute) string {
	if len(attributes) == 0 {
		return ""
	}
	h := md5.New() //nolint:gosec // as above
	put := func(b []byte) {
		var n [4]byte
		binary.BigEndian.PutUint32(n[:], uint32(len(b))) //nolint:gosec // bounded by the message's size
		h.Write(n[:])
		h.Write(b)
	}
	for _, name := range slices.Sorted(maps.Keys(attributes)) {
		a := attributes[name]
		put([]byte(name))
		put([]byte(a.DataType))
		if strings.HasPrefix(a.DataType, "Binary") {
			h.Write([]byte{2})
			put(a.BinaryValue)
		} else {
			h.Write([]byte{1})
			put([]byte(*a.StringValue))
		}
	}
	return hex.EncodeToString(h.Sum(nil))
}

func millis(t time.Time) string { return strconv.FormatInt(t.UnixMilli(), 10) }

// newID is unique in this server and has the form of a UUID.
func (s *Server) newID() string {
	s.serial++
	return fmt.Sprintf("%08x-0000-4000-8000-%012x", time.Now().Unix()&0xffffffff, s.serial)
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
