package sqs

import (
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
