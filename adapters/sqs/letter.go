package sqs

import (
	"fmt"
	"maps"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/claimonce/claimonce/consumer"
)

// Attributes of a dead letter, beside those that the message had. Where they do not fit beside those, all of them are in
// AttributeAll, as a JSON object of the same names. It takes in one of the message's own too if there are ten already: see [Restore].
// A message of other origin must not use names that begin with Claimonce-.
const (
	AttributeReason   = "Claimonce-Reason"
	AttributeDetail   = "Claimonce-Detail" // for people; at most 500 bytes
	AttributeAttempts = "Claimonce-Attempts"
	AttributeKeyHash  = "Claimonce-Key-Hash"
	AttributeSource   = "Claimonce-Source" // the queue's name
	AttributeSent     = "Claimonce-Sent"   // when the message was first sent, as in 2026-01-31T12:00:00.000Z
	AttributeAll      = "Claimonce-Dead-Letter"
)

const (
	ownPrefix = "Claimonce-"
	// maxAttributes: https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/quotas-messages.html
	maxAttributes = 10
	maxDetail     = 500
	sentLayout    = "2006-01-02T15:04:05.000Z07:00"
)

// A sheet is what a dead letter says beside its body.
type sheet struct {
	letter   consumer.DeadLetter
	needed   []string // of the message's attributes
	source   string
	sent     time.Time // zero if unknown
	original map[string]types.MessageAttributeValue
}

// attributes are the message's own ones and the reason's, in no more bytes than there is room for. Where room is short the detail goes
// first, then what else a record or a log can tell; never the reason, nor the time of sending, without which a message that is
// moved back would look young. SQS counts attributes into a message's size.
// https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-message-metadata.html
func (s sheet) attributes(room int) (map[string]types.MessageAttributeValue, error) {
	own := s.own()
	least := 0
	var noPlace error
	for _, names := range [][]string{
		{AttributeReason, AttributeSent, AttributeSource, AttributeAttempts, AttributeKeyHash, AttributeDetail},
		{AttributeReason, AttributeSent, AttributeSource, AttributeAttempts, AttributeKeyHash},
		{AttributeReason, AttributeSent},
	} {
		chosen := map[string]string{}
		for _, name := range names {
			if v, ok := own[name]; ok {
				chosen[name] = v
			}
		}
		all, err := s.with(chosen)
		if noPlace = err; err != nil {
			continue
		}
		if least = sizeOf(all); least <= room {
			return all, nil
		}
	}
	if noPlace != nil {
		return nil, noPlace
	}
	return nil, fmt.Errorf("the dead-letter queue takes %d bytes less than the message needs with the reason (%s); the message is kept: "+
		"raise the dead-letter queue's MaximumMessageSize to 1 MiB; a message of that size itself must be moved by hand", least-room, s.letter.Reason)
}

func (s sheet) own() map[string]string {
	d := s.letter
	own := map[string]string{AttributeReason: d.Reason, AttributeDetail: clean(d.Detail), AttributeKeyHash: d.KeyHash, AttributeSource: s.source}
	if d.Attempts > 0 {
		own[AttributeAttempts] = strconv.Itoa(d.Attempts)
	}
	if !s.sent.IsZero() {
		own[AttributeSent] = s.sent.UTC().Format(sentLayout)
	}
	maps.DeleteFunc(own, func(_, v string) bool { return v == "" }) // SQS refuses empty values
	return own
}

// with adds own attributes to the message's, as one if there is no place for each. What readPast could not read is replaced by none.
func (s sheet) with(own map[string]string) (map[string]types.MessageAttributeValue, error) {
	all := map[string]types.MessageAttributeValue{}
	maps.Copy(all, s.original)
	if _, unread := all[AttributeSent]; unread || len(all)+len(own) > maxAttributes {
		if _, unread := all[AttributeAll]; unread {
			return nil, fmt.Errorf("its attribute %s cannot be read and is not overwritten, and beside it there is no place for the reason; "+
				"the message is kept: correct that attribute, or move the message by hand", AttributeAll)
		}
		taken := ""
		if len(all) >= maxAttributes {
			taken = s.leastNeeded()
		}
		text, err := foldIn(own, taken, all[taken])
		if err != nil {
			return nil, err
		}
		delete(all, taken)
		own = map[string]string{AttributeAll: text}
	}
	if len(all)+len(own) > maxAttributes {
		return nil, fmt.Errorf("the message has more than %d attributes already, so that the reason has no place; the message is kept", maxAttributes)
	}
	for name, v := range own {
		all[name] = types.MessageAttributeValue{DataType: aws.String("String"), StringValue: aws.String(v)}
	}
	return all, nil
}

// leastNeeded is the attribute that is missed least: not one that tells which operation is asked for if there is another, and then
// the one that takes the least room. Never one of this package: it is there because it cannot be read.
func (s sheet) leastNeeded() (found string) {
	rank := func(name string) int {
		for i, kept := range s.needed {
			if strings.EqualFold(name, kept) {
				return len(s.needed) - i
			}
		}
		return 0
	}
	better := func(a, b string) bool {
		if ra, rb := rank(a), rank(b); ra != rb {
			return ra < rb
		}
		if na, nb := bytesOf(a, s.original[a]), bytesOf(b, s.original[b]); na != nb {
			return na < nb
		}
		return a < b // the same one each time
	}
	for name := range s.original {
		if !strings.HasPrefix(name, ownPrefix) && (found == "" || better(name, found)) {
			found = name
		}
	}
	return found
}

func sizeOf(attrs map[string]types.MessageAttributeValue) (n int) {
	for name, a := range attrs {
		n += bytesOf(name, a)
	}
	return n
}

func bytesOf(name string, a types.MessageAttributeValue) int {
	return len(name) + len(aws.ToString(a.DataType)) + len(aws.ToString(a.StringValue)) + len(a.BinaryValue)
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
