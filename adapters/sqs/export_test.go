package sqs

import (
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/claimonce/claimonce/consumer"
)

// What fuzzing calls without a queue.

func Unwrap(e Envelope, body string) *consumer.Message {
	m := &consumer.Message{Body: []byte(body)}
	e.unwrap(m, body)
	return m
}

// Letter gives a dead letter's attributes.
func Letter(original map[string]types.MessageAttributeValue, d consumer.DeadLetter, room int) (map[string]types.MessageAttributeValue, error) {
	return sheet{letter: d, source: "work", original: original}.attributes(room)
}

// Past gives the time of sending that a message's attributes tell, zero if none.
func Past(received map[string]types.MessageAttributeValue) (time.Time, error) {
	p, err := readPast(received)
	return p.sent, err
}

// NextLetter gives the attributes of the dead letter that is made of a message which SQS says was sent then.
func NextLetter(received map[string]types.MessageAttributeValue, d consumer.DeadLetter, sent time.Time) (map[string]types.MessageAttributeValue, error) {
	p, _ := readPast(received)
	return sheet{letter: d, source: "work", sent: earlier(sent, p.sent), original: p.original}.attributes(largestMessage)
}
