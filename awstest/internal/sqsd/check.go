package sqsd

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/claimonce/claimonce/awstest/internal/wire"
)

// maxMessage bounds a message, and all messages of a batch together, in bytes.
// https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/quotas-messages.html
const maxMessage = 1 << 20

// size counts what AWS counts: the body, and of each attribute the name, the type and the value.
func (in sendInput) size() int {
	n := len(in.MessageBody)
	for name, a := range in.MessageAttributes {
		n += len(name) + len(a.DataType) + len(a.BinaryValue)
		if a.StringValue != nil {
			n += len(*a.StringValue)
		}
	}
	return n
}

// check refuses what SQS refuses of a message for any queue.
// https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-message-metadata.html
func (in sendInput) check(limit int) *wire.Error {
	if in.MessageBody == "" {
		return missing("MessageBody")
	}
	if !textOK(in.MessageBody) {
		return refuse("InvalidMessageContents", "Invalid characters in the message body.")
	}
	if len(in.MessageAttributes) > 10 {
		return refuse("InvalidParameterValue", "Number of message attributes [%d] exceeds the allowed maximum [10].", len(in.MessageAttributes))
	}
	for _, name := range slices.Sorted(maps.Keys(in.MessageAttributes)) {
		if err := checkAttribute(name, in.MessageAttributes[name]); err != nil {
			return err
		}
	}
	for name, a := range in.MessageSystemAttributes {
		if name != "AWSTraceHeader" || a.DataType != "String" || a.StringValue == nil || *a.StringValue == "" {
			return refuse("InvalidParameterValue", "Message system attribute '%s' is invalid: only AWSTraceHeader can be set, as a String that is not empty.", name)
		}
	}
	if in.size() > limit {
		return refuse("InvalidParameterValue", "One or more parameters are invalid. Reason: Message must be shorter than %d bytes.", limit)
	}
	return nil
}

func checkAttribute(name string, a attribute) *wire.Error {
	lower := strings.ToLower(name)
	if !madeOf(name, 256, "_-.") || strings.HasPrefix(name, ".") || strings.HasSuffix(name, ".") ||
		strings.Contains(name, "..") || strings.HasPrefix(lower, "aws.") || strings.HasPrefix(lower, "amazon.") {
		return refuse("InvalidParameterValue", "The message attribute name %q is invalid.", name)
	}
	kind, _, _ := strings.Cut(a.DataType, ".")
	switch {
	case kind != "String" && kind != "Number" && kind != "Binary" || len(a.DataType) > 256:
		return refuse("InvalidParameterValue", "The type of message (user) attribute '%s' is invalid. You must use only the following supported type prefixes: Binary, Number, String.", name)
	case kind == "Binary" && len(a.BinaryValue) == 0, kind != "Binary" && (a.StringValue == nil || *a.StringValue == ""):
		return refuse("InvalidParameterValue", "Message (user) attribute '%s' must contain a non-empty value of type '%s'.", name, kind)
	case kind == "Binary" && a.StringValue != nil, kind != "Binary" && a.BinaryValue != nil:
		return refuse("InvalidParameterValue", "Message (user) attribute '%s' has a value that is not of its type.", name)
	case kind != "Binary" && !textOK(*a.StringValue):
		return refuse("InvalidParameterValue", "Invalid characters in the value of message attribute '%s'.", name)
	case kind == "Number" && !isNumber(*a.StringValue):
		return refuse("InvalidParameterValue", "Can't cast the value of message (user) attribute '%s' to a number.", name)
	}
	return nil
}

// isNumber: decimal, with up to 38 digits, between 1e-128 and 1e126.
func isNumber(s string) bool {
	digits, exponent, exact := 0, 0, s
	if i := strings.IndexAny(s, "eE"); i >= 0 {
		n, err := strconv.Atoi(s[i+1:])
		if err != nil {
			return false
		}
		exact, exponent = s[:i], n
	}
	point, started := false, false
	unsigned := strings.TrimLeft(exact, "+-")
	for _, r := range unsigned {
		switch {
		case r == '.' && !point:
			point = true
		case r < '0' || r > '9':
			return false
		case r != '0' || started:
			digits, started = digits+1, true
		}
	}
	return len(exact)-len(unsigned) <= 1 && strings.ContainsAny(exact, "0123456789") && digits <= 38 && exponent >= -128 && exponent <= 126
}

// madeOf: 1 to limit ASCII letters, digits and extra characters.
func madeOf(s string, limit int, extra string) bool {
	for _, r := range s {
		if (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune(extra, r) {
			return false
		}
	}
	return s != "" && len(s) <= limit
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
