package sqs_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	adapter "github.com/claimonce/claimonce/adapters/sqs"
	"github.com/claimonce/claimonce/awstest"
	"github.com/claimonce/claimonce/consumer"
)

func letter() consumer.DeadLetter {
	return consumer.DeadLetter{Reason: consumer.ReasonExhausted, Detail: "the provider is away", KeyHash: "0f0f", Attempts: 5}
}

// bubbleStart is when a bubble's time begins, and so when most messages here are sent.
const bubbleStart = "2000-01-01T00:00:00.000Z"

func ownAttributes() map[string]string {
	return map[string]string{
		adapter.AttributeReason: consumer.ReasonExhausted, adapter.AttributeDetail: "the provider is away", adapter.AttributeKeyHash: "0f0f",
		adapter.AttributeAttempts: "5", adapter.AttributeSource: "work", adapter.AttributeSent: bubbleStart,
	}
}

// sendWith sends a message with n attributes and receives it.
func (r *rig) sendWith(s *adapter.Source, n int, body string) *consumer.Message {
	r.t.Helper()
	m := consumer.Message{Body: []byte(body)}
	for i := range n {
		m.Attributes = append(m.Attributes, consumer.Attribute{Name: fmt.Sprint("Name-", i), Value: fmt.Append(nil, "value ", i)})
	}
	send(r.t, r.client, r.queue, m)
	return r.take(s, 1)[0]
}

func (r *rig) onlyDead() awstest.Message {
	r.t.Helper()
	dead := r.server.Messages("work-dead")
	if len(dead) != 1 {
		r.t.Fatalf("got %d dead letters, want 1", len(dead))
	}
	return dead[0]
}

func (r *rig) wantKept(dead int) {
	r.t.Helper()
	if got := len(r.server.Messages("work-dead")); got != dead {
		r.t.Errorf("got %d dead letters, want %d", got, dead)
	}
	r.wantLeft(1)
	if got := r.server.Count("DeleteMessageBatch"); got != 0 && dead == 0 {
		r.t.Errorf("%d deletes, want none: there is no copy", got)
	}
}

func TestDeadLetterHasItsReason(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		s := r.open(adapter.Config{})
		m := r.sendWith(s, 4, "body")
		if err := s.DeadLetter(t.Context(), m, letter()); err != nil {
			t.Fatal(err)
		}
		want := ownAttributes()
		for i := range 4 {
			want[fmt.Sprint("Name-", i)] = fmt.Sprint("value ", i)
		}
		if got := r.onlyDead(); got.Body != "body" || !maps.Equal(got.Attributes, want) {
			t.Errorf("got %q with %v, want the body with %v", got.Body, got.Attributes, want)
		}
		r.wantLeft(0)
	})
}

// Up to nine attributes of its own a dead letter keeps all of them, and the reason in one more.
func TestDeadLetterInOneAttribute(t *testing.T) {
	for _, n := range []int{5, 9} {
		inBubble(t, func(t *testing.T, r *rig) {
			s := r.open(adapter.Config{})
			if err := s.DeadLetter(t.Context(), r.sendWith(s, n, "body"), letter()); err != nil {
				t.Fatal(err)
			}
			got := r.onlyDead().Attributes
			if len(got) != n+1 {
				t.Errorf("got %d attributes, want %d", len(got), n+1)
			}
			var own map[string]string
			if err := json.Unmarshal([]byte(got[adapter.AttributeAll]), &own); err != nil || !maps.Equal(own, ownAttributes()) {
				t.Errorf("got %v, %v, want %v", own, err, ownAttributes())
			}
		})
	}
}

// SQS counts attributes into the size of a message, so that one as large as the queue takes leaves no room for a reason.
func TestLargeDeadLetter(t *testing.T) {
	for _, c := range []struct {
		room int
		want []string // of the own attributes; nil: refused
	}{
		{400, []string{
			adapter.AttributeReason, adapter.AttributeSent, adapter.AttributeDetail, adapter.AttributeKeyHash, adapter.AttributeAttempts, adapter.AttributeSource,
		}},
		{200, []string{adapter.AttributeReason, adapter.AttributeSent, adapter.AttributeKeyHash, adapter.AttributeAttempts, adapter.AttributeSource}},
		{100, []string{adapter.AttributeReason, adapter.AttributeSent}},
		{60, nil}, // the reason alone would fit, and the message would look young if it came back
	} {
		synctest.Test(t, func(t *testing.T) {
			const limit = 4096
			r := newRig(t, map[string]string{"MaximumMessageSize": strconv.Itoa(limit)})
			set := map[string]string{"MaximumMessageSize": strconv.Itoa(limit)}
			if _, err := r.client.SetQueueAttributes(t.Context(), &sqs.SetQueueAttributesInput{QueueUrl: &r.dead, Attributes: set}); err != nil {
				t.Fatal(err)
			}
			s := r.open(adapter.Config{})
			m := r.sendWith(s, 0, strings.Repeat("x", limit-c.room))
			err := s.DeadLetter(t.Context(), m, letter())
			if c.want == nil {
				for _, want := range []string{"24 bytes less", "MaximumMessageSize", consumer.ReasonExhausted, "the message is kept"} {
					if err == nil || !strings.Contains(err.Error(), want) {
						t.Errorf("got %v, want it to say %q", err, want)
					}
				}
				r.wantKept(0)
				return
			}
			if err != nil {
				t.Fatalf("room for %d bytes: %v", c.room, err)
			}
			got := r.onlyDead().Attributes
			for _, name := range c.want {
				if got[name] == "" {
					t.Errorf("room for %d bytes: %s is missing in %v", c.room, name, got)
				}
			}
			if len(got) != len(c.want) {
				t.Errorf("room for %d bytes: got %v, want %v", c.room, got, c.want)
			}
		})
	}
}

// A dead-letter queue may take less than its queue, as those do that were made when 256 KiB were the most.
func TestMessageThatTheDeadLetterQueueDoesNotTake(t *testing.T) {
	for name, c := range map[string]struct {
		queue, dead int
		attributes  int
		body        int // bytes
	}{
		"256 KiB":                     {1 << 20, 262_144, 0, 262_144 - 20},
		"256 KiB with ten attributes": {1 << 20, 262_144, 10, 262_144 - 200},
		"1 MiB":                       {1 << 20, 1 << 20, 0, 1<<20 - 20},
		"1 MiB with ten attributes":   {1 << 20, 1 << 20, 10, 1<<20 - 250},
		"more than the queue takes":   {1 << 20, 262_144, 0, 500_000},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, map[string]string{"MaximumMessageSize": strconv.Itoa(c.queue)})
				set := map[string]string{"MaximumMessageSize": strconv.Itoa(c.dead)}
				if _, err := r.client.SetQueueAttributes(t.Context(), &sqs.SetQueueAttributesInput{QueueUrl: &r.dead, Attributes: set}); err != nil {
					t.Fatal(err)
				}
				s := r.open(adapter.Config{})
				m := r.sendWith(s, c.attributes, strings.Repeat("x", c.body))
				err := s.DeadLetter(t.Context(), m, letter())
				if err == nil || !strings.Contains(err.Error(), "MaximumMessageSize") || !strings.Contains(err.Error(), "the message is kept") {
					t.Errorf("got %v, want what to do", err)
				}
				if n := r.server.Count("SendMessage"); n != 1 {
					t.Errorf("%d sends, want the one of this test: it is known to be too large", n)
				}
				r.wantKept(0)
			})
		})
	}
}

func TestDetailIsValidText(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		s := r.open(adapter.Config{})
		l := letter()
		l.Detail = "nul \x00, escape \x1b, not UTF-8 \xff, \ufffe, tab \t, " + strings.Repeat("鍵", 300)
		if err := s.DeadLetter(t.Context(), r.sendWith(s, 0, "body"), l); err != nil {
			t.Fatal(err)
		}
		got := r.onlyDead().Attributes[adapter.AttributeDetail]
		if !strings.HasPrefix(got, "nul ?, escape ?, not UTF-8 ?, ?, tab \t, 鍵") || len(got) > 500 || len(got) < 498 || !utf8.ValidString(got) {
			t.Errorf("got %d bytes %q, want up to 500 bytes of valid text", len(got), got)
		}
	})
}

// A dead letter that was moved back and fails again tells its new reason, and no more than it has to.
func TestSecondDeadLetter(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		s := r.open(adapter.Config{})
		send(t, r.client, r.queue, consumer.Message{Body: []byte("body"), Attributes: []consumer.Attribute{
			{Name: "Idempotency-Key", Value: []byte("k")},
			{Name: adapter.AttributeReason, Value: []byte("old")},
			{Name: adapter.AttributeAll, Value: []byte("{}")},
		}})
		if err := s.DeadLetter(t.Context(), r.take(s, 1)[0], consumer.DeadLetter{Reason: consumer.ReasonKeyReuse}); err != nil {
			t.Fatal(err)
		}
		want := map[string]string{
			"Idempotency-Key": "k", adapter.AttributeReason: consumer.ReasonKeyReuse, adapter.AttributeSource: "work", adapter.AttributeSent: bubbleStart,
		}
		if got := r.onlyDead().Attributes; !maps.Equal(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
	})
}

// Types, the trace and the group go along.
func TestDeadLetterIsACopy(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		s := r.open(adapter.Config{})
		number := types.MessageAttributeValue{DataType: aws.String("Number.money"), StringValue: aws.String("4200")}
		binary := types.MessageAttributeValue{DataType: aws.String("Binary.png"), BinaryValue: []byte{0, 0xff}}
		_, err := r.client.SendMessage(t.Context(), &sqs.SendMessageInput{
			QueueUrl: &r.queue, MessageBody: aws.String("body"), MessageGroupId: aws.String("tenant-7"),
			MessageAttributes: map[string]types.MessageAttributeValue{"Amount": number, "Logo": binary},
			MessageSystemAttributes: map[string]types.MessageSystemAttributeValue{
				"AWSTraceHeader": {DataType: aws.String("String"), StringValue: aws.String("Root=1-5759e988-bd862e3fe1be46a994272793")},
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		m := r.take(s, 1)[0]
		if m.Group != "" {
			t.Errorf("got group %q: on a standard queue it is no order", m.Group)
		}
		for _, a := range m.Attributes {
			if a.Binary != (a.Name == "Logo") {
				t.Errorf("attribute %s: binary %v", a.Name, a.Binary)
			}
			a.Value[0] = 'X' // a handler may do so
		}
		m.Body[0] = 'X'
		if err := s.DeadLetter(t.Context(), m, letter()); err != nil {
			t.Fatal(err)
		}
		out, err := r.client.ReceiveMessage(t.Context(), &sqs.ReceiveMessageInput{
			QueueUrl: &r.dead, MessageAttributeNames: []string{"All"}, MessageSystemAttributeNames: []types.MessageSystemAttributeName{"All"},
		})
		if err != nil || len(out.Messages) != 1 {
			t.Fatalf("got %v, %v", out, err)
		}
		got := out.Messages[0]
		if *got.Body != "body" {
			t.Errorf("got body %q, want it as it was sent", *got.Body)
		}
		if a := got.MessageAttributes["Amount"]; *a.DataType != "Number.money" || *a.StringValue != "4200" {
			t.Errorf("got amount %v, want it with its type", a)
		}
		if a := got.MessageAttributes["Logo"]; *a.DataType != "Binary.png" || string(a.BinaryValue) != "\x00\xff" {
			t.Errorf("got logo %v, want it with its type", a)
		}
		if got.Attributes["AWSTraceHeader"] == "" || got.Attributes["MessageGroupId"] != "tenant-7" {
			t.Errorf("trace or group are missing in %v", got.Attributes)
		}
	})
}

func TestDeadLetterWithoutAQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, map[string]string{"RedrivePolicy": ""})
		s := r.open(adapter.Config{})
		err := s.DeadLetter(t.Context(), r.sendWith(s, 0, "body"), letter())
		if err == nil || !strings.Contains(err.Error(), "DeadLetterURL") {
			t.Errorf("got %v, want what to set", err)
		}
		r.wantKept(0)
	})
}

func TestConfiguredDeadLetterQueue(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		s := r.open(adapter.Config{DeadLetterURL: r.makeQueue("elsewhere", nil)})
		if err := s.DeadLetter(t.Context(), r.sendWith(s, 0, "body"), letter()); err != nil {
			t.Fatal(err)
		}
		if got := len(r.server.Messages("elsewhere")); got != 1 {
			t.Errorf("got %d messages there, want the dead letter", got)
		}
	})
}

// The copy first: whatever fails, the original stays.
func TestFailedDeadLetterDeletesNothing(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		s := r.open(adapter.Config{})
		m := r.sendWith(s, 1, "body")
		remove := r.server.Inject(awstest.FailBefore("SendMessage", http.StatusForbidden, "AccessDenied"))
		err := s.DeadLetter(t.Context(), m, letter())
		if !errors.Is(err, consumer.ErrSetup) || !strings.Contains(err.Error(), "work-dead") {
			t.Errorf("got %v, want the set-up error of the dead-letter queue", err)
		}
		r.wantKept(0)
		remove()
		remove = r.server.Inject(awstest.FailEntries("DeleteMessageBatch", true, 0))
		if err := s.DeadLetter(t.Context(), m, letter()); err == nil {
			t.Error("a dead letter whose original was not deleted counts as moved")
		}
		r.wantKept(1)
		remove()
		if err := s.DeadLetter(t.Context(), m, letter()); err != nil { // two copies are better than none
			t.Error(err)
		}
		r.wantLeft(0)
	})
}

func TestHandedBackIsNoDeadLetter(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		s := r.open(adapter.Config{})
		m := r.sendWith(s, 1, "body")
		if err := s.Nack(t.Context(), m, time.Minute); err != nil {
			t.Fatal(err)
		}
		if err := s.DeadLetter(t.Context(), m, letter()); !errors.Is(err, consumer.ErrNotHeld) {
			t.Errorf("got %v, want ErrNotHeld", err)
		}
		r.wantKept(0)
	})
}
