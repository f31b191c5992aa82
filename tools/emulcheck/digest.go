package main

import (
	"crypto/md5" //nolint:gosec // SQS digests attributes with it
	"encoding/binary"
	"encoding/hex"
	"maps"
	"slices"
	"strings"
)

// digest is MD5OfMessageAttributes as
// https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-message-metadata.html has it.
func digest(attrs map[string]attribute) string {
	var b []byte
	add := func(data string) {
		b = binary.BigEndian.AppendUint32(b, uint32(len(data))) //nolint:gosec // at most 1 MiB
		b = append(b, data...)
	}
	for _, name := range slices.Sorted(maps.Keys(attrs)) {
		v := attrs[name]
		add(name)
		add(*v.DataType)
		if strings.HasPrefix(*v.DataType, "Binary") {
			b = append(b, 2)
			add(string(v.BinaryValue))
		} else {
			b = append(b, 1)
			add(*v.StringValue)
		}
	}
	sum := md5.Sum(b) //nolint:gosec // as above
	return hex.EncodeToString(sum[:])
}
