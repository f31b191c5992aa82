package sqsd

import (
	"crypto/md5" //nolint:gosec // SQS's own check sum of a message, not a safeguard
	"encoding/binary"
	"encoding/hex"
	"maps"
	"slices"
	"strings"
)

func md5Hex(s string) string {
	sum := md5.Sum([]byte(s)) //nolint:gosec // as above
	return hex.EncodeToString(sum[:])
}

// attributesMD5 is the digest that clients check; "" without attributes.
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
