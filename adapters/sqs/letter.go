package sqs

import (
	"encoding/json"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/claimonce/claimonce/consumer"
)

// Attributes of a dead letter, beside those that the message had. Where they do not fit beside those, all of them are in
// AttributeAll, as a JSON object of the same names.
const (
	AttributeReason   = "Claimonce-Reason"
	AttributeDetail   = "Claimonce-Detail" // for people; at most 500 bytes
	AttributeAttempts = "Claimonce-Attempts"
	AttributeKeyHash  = "Claimonce-Key-Hash"
	AttributeSource   = "Claimonce-Source" // the queue's name
	AttributeAll      = "Claimonce-Dead-Letter"
)

const (
	ownPrefix     = "Claimonce-"
	maxAttributes = 10
	maxDetail     = 500
)

// letterAttributes are the message's own ones and the reason's, in no more bytes than there is room for. Where room is short the
// detail goes first, then everything but the reason: SQS counts attributes into a message's size.
// https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-message-metadata.html
func letterAttributes(
	original map[string]types.MessageAttributeValue, d consumer.DeadLetter, source string, room int,
) (map[string]types.MessageAttributeValue, error) {
	attrs := maps.Clone(original)
	maps.DeleteFunc(attrs, func(name string, _ types.MessageAttributeValue) bool {
		return strings.HasPrefix(name, ownPrefix) // of an earlier dead letter that was moved back
	})
	own := ownAttributes(d, source)
	for _, names := range [][]string{
		{AttributeReason, AttributeSource, AttributeAttempts, AttributeKeyHash, AttributeDetail},
		{AttributeReason, AttributeSource, AttributeAttempts, AttributeKeyHash},
		{AttributeReason},
	} {
		all := maps.Clone(attrs)
		if all == nil {
			all = map[string]types.MessageAttributeValue{}
		}
		if err := addOwn(all, own, names); err != nil {
			return nil, err
		}
		if sizeOf(all) <= room {
			return all, nil
		}
	}
	return nil, fmt.Errorf("the message is as large as the dead-letter queue takes, so that the reason (%s) has no place; the message is kept", d.Reason)
}

func ownAttributes(d consumer.DeadLetter, source string) map[string]string {
	own := map[string]string{
		AttributeReason: d.Reason, AttributeDetail: clean(d.Detail), AttributeKeyHash: d.KeyHash, AttributeSource: source,
	}
	if d.Attempts > 0 {
		own[AttributeAttempts] = strconv.Itoa(d.Attempts)
	}
	maps.DeleteFunc(own, func(_, v string) bool { return v == "" }) // SQS refuses empty values
	return own
}

// addOwn adds the named attributes, as one if there is no place for each.
func addOwn(all map[string]types.MessageAttributeValue, own map[string]string, names []string) error {
	chosen := map[string]string{}
	for _, name := range names {
		if v, ok := own[name]; ok {
			chosen[name] = v
		}
	}
	if len(all)+len(chosen) > maxAttributes {
		text, err := json.Marshal(chosen)
		if err != nil {
			return err
		}
		chosen = map[string]string{AttributeAll: string(text)}
	}
	if len(all)+len(chosen) > maxAttributes {
		return fmt.Errorf("the message has %d attributes already, so that the reason has no place; the message is kept", len(all))
	}
	for name, v := range chosen {
		all[name] = types.MessageAttributeValue{DataType: aws.String("String"), StringValue: aws.String(v)}
	}
	return nil
}

func sizeOf(attrs map[string]types.MessageAttributeValue) (n int) {
	for name, a := range attrs {
		n += len(name) + len(aws.ToString(a.DataType)) + len(aws.ToString(a.StringValue)) + len(a.BinaryValue)
	}
	return n
}

// clean keeps what SQS takes as text, and bounds it.
func clean(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < 0x20 && r != '\t' && r != '\n' && r != '\r' || r == utf8.RuneError || r == 0xFFFE || r == 0xFFFF {
			return '?'
		}
		return r
	}, s)
	if len(s) <= maxDetail {
		return s
	}
	cut := maxDetail
	for !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut]
}
