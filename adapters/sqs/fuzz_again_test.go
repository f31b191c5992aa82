package sqs_test

import (
	"fmt"
	"testing"
	"time"
	"unicode/utf8"

	adapter "github.com/claimonce/claimonce/adapters/sqs"
)

// S34: whatever tools made of a dead letter, the next one of it is as old, and refused if this one is.
func FuzzS34_NextDeadLetter(f *testing.F) {
	const early = "1999-12-01T00:00:00Z"
	f.Add("", early, 3)
	f.Add(`{"Claimonce-Sent":"`+early+`"}`, "", 9)
	f.Add(`{"Claimonce-Sent":"soon","Attributes":{"X":{"Type":"String","Value":"v"}}}`, early, 4)
	f.Add(`{"Attributes":{"Claimonce-Sent":{"Type":"String","Value":"2030-01-01T00:00:00Z"}}}`, "", 9)
	f.Add(`{"Attributes":{"Name-0":{"Type":"String","Value":"other"}}}`, "31.01.2020", 5)
	f.Add(`{`, "soon", 0)
	f.Fuzz(func(t *testing.T, folded, sent string, n int) {
		if n < 0 || n > 10 || !utf8.ValidString(folded) || !utf8.ValidString(sent) {
			return // SQS takes no such message
		}
		received := values{}
		if folded != "" {
			received[adapter.AttributeAll] = value("String", folded)
		}
		if sent != "" {
			received[adapter.AttributeSent] = value("String", sent)
		}
		for i := len(received); i < n; i++ {
			received[fmt.Sprint("Name-", i)] = value("String", "v")
		}
		now := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
		was, unreadable := adapter.Past(received)
		next, err := adapter.NextLetter(received, letter(), now)
		if err != nil {
			return // kept
		}
		is, still := adapter.Past(next)
		if (unreadable == nil) != (still == nil) {
			t.Errorf("got %v of\n%s\nafter %v of\n%s", still, told(next), unreadable, told(received))
		}
		if was.IsZero() || was.After(now) {
			was = now
		}
		if is.IsZero() && unreadable == nil || is.After(was) {
			t.Errorf("got sent at %v, want %v:\n%s\nafter\n%s", is, was, told(next), told(received))
		}
	})
}
