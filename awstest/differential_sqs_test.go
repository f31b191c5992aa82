//go:build integration

package awstest_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/claimonce/claimonce/awstest"
)

const sqsCalls = 400

// Long enough that no timeout ends within a test: what depends on time is for tests on fake time.
const hidden = 600

func TestSQSAnswersAsOthersDo(t *testing.T) {
	t.Parallel()
	url, name := endpointOf(t, "CLAIMONCE_SQS_ENDPOINT")
	for kind, attrs := range map[string]map[string]string{
		"standard": {"VisibilityTimeout": fmt.Sprint(hidden)},
		"fifo":     {"VisibilityTimeout": fmt.Sprint(hidden), "FifoQueue": "true"},
	} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			p := newPair(t, name, knownSQS(name, kind))
			queue := fmt.Sprintf("differential-%s-%d", kind, time.Now().UnixNano())
			if kind == "fifo" {
				queue += ".fifo"
			}
			ours := newSide(t, sqs.NewFromConfig(configOf(awstest.New(awstest.Config{}))), queue, attrs)
			theirs := newSide(t, sqs.NewFromConfig(configAt(url)), queue, attrs)
			w := &queueWalk{pair: p, ours: ours, theirs: theirs, fifo: kind == "fifo", group: map[int]string{}}
			for range sqsCalls {
				w.step()
			}
			p.finish()
		})
	}
}

// queueWalk chooses calls by what awstest's side holds. Never more than ten messages lie in the queue, so that one receive has to bring
// all that can be received, in whatever order a server looks for them.
type queueWalk struct {
	*pair

	ours, theirs *side
	fifo         bool
	sent         int
	group        map[int]string // of a FIFO queue's messages
}

// shared tells whether others of the message's group are in flight too.
func (w *queueWalk) shared(m int, held []int) bool {
	return slices.ContainsFunc(held, func(o int) bool { return o != m && w.group[o] == w.group[m] })
}

func (w *queueWalk) step() {
	held := w.ours.numbers(w.ours.held)
	released := w.ours.numbers(w.ours.released)
	gone := w.ours.numbers(w.ours.gone)
	switch n := w.IntN(20); {
	case n < 7 && len(w.ours.alive) < 10:
		w.send()
	case n < 11:
		w.both("receive", "receive", func(s *side) string { return s.receive(w.fifo) })
	case n < 13 && len(held) > 0:
		m := choose(w.pair, held)
		w.both("delete", fmt.Sprintf("delete m%d", m), func(s *side) string { return s.remove(m, s.held) })
	case n < 15 && len(held) > 0:
		m := choose(w.pair, held)
		if w.known.leavesOut("release-of-several") && w.shared(m, held) {
			return
		}
		w.both("release", fmt.Sprintf("release m%d", m), func(s *side) string { return s.hide(m, s.held, 0) })
	case n < 16 && len(held) > 0:
		m := choose(w.pair, held)
		w.both("extend", fmt.Sprintf("extend m%d", m), func(s *side) string { return s.hide(m, s.held, hidden) })
	case n < 17 && len(gone) > 0:
		m := choose(w.pair, gone)
		w.both("delete-again", fmt.Sprintf("delete m%d again", m), func(s *side) string { return s.remove(m, s.gone) })
	case n < 18 && len(released) > 0:
		m := choose(w.pair, released)
		w.both("extend-released", fmt.Sprintf("extend released m%d", m), func(s *side) string { return s.hide(m, s.released, hidden) })
		w.theirs.hide(m, w.theirs.released, 0) // a server that hid it again must not go its own way from here
	case n < 19:
		w.invalid()
	default:
		w.both("counts", "counts", (*side).counts)
	}
}

func (w *queueWalk) both(kind, call string, do func(*side) string) {
	w.Helper()
	w.compare(kind, call, do(w.ours), do(w.theirs))
}

func (w *queueWalk) send() {
	w.sent++
	number := w.sent
	in := &sqs.SendMessageInput{MessageBody: aws.String(fmt.Sprintf("m%d", number)), MessageAttributes: map[string]types.MessageAttributeValue{
		"number": {DataType: aws.String("Number"), StringValue: aws.String(fmt.Sprint(number))},
	}}
	kind := "send"
	if w.fifo {
		in.MessageGroupId = aws.String(choose(w.pair, []string{"a", "b", "c"}))
		w.group[number] = *in.MessageGroupId
		id := number
		if number > 1 && w.IntN(4) == 0 && !w.known.leavesOut("send-duplicate") {
			id = 1 + w.IntN(number-1)
			kind = "send-duplicate"
		}
		in.MessageDeduplicationId = aws.String(fmt.Sprint("d", id))
	}
	w.both(kind, fmt.Sprintf("%s m%d %s/%s", kind, number, aws.ToString(in.MessageGroupId), aws.ToString(in.MessageDeduplicationId)),
		func(s *side) string { return s.send(number, in) })
}

// invalid makes a call that breaks one rule of the API.
func (w *queueWalk) invalid() {
	attr := func(typ, value string) map[string]types.MessageAttributeValue {
		return map[string]types.MessageAttributeValue{"x": {DataType: &typ, StringValue: &value}}
	}
	eleven := map[string]types.MessageAttributeValue{}
	for i := range 11 {
		eleven[fmt.Sprint("x", i)] = attr("String", "v")["x"]
	}
	fault := choose(w.pair, []struct {
		name string
		in   sqs.SendMessageInput
	}{
		{"empty-body", sqs.SendMessageInput{MessageBody: aws.String("")}},
		{"control-character", sqs.SendMessageInput{MessageBody: aws.String("a\x01")}},
		{"too-large", sqs.SendMessageInput{MessageBody: aws.String(strings.Repeat("x", 1<<20+1))}},
		{"long-delay", sqs.SendMessageInput{MessageBody: aws.String("x"), DelaySeconds: 901}},
		{"eleven-attributes", sqs.SendMessageInput{MessageBody: aws.String("x"), MessageAttributes: eleven}},
		{"type-of-attribute", sqs.SendMessageInput{MessageBody: aws.String("x"), MessageAttributes: attr("Text", "v")}},
		{"empty-attribute", sqs.SendMessageInput{MessageBody: aws.String("x"), MessageAttributes: attr("String", "")}},
		{"no-number", sqs.SendMessageInput{MessageBody: aws.String("x"), MessageAttributes: attr("Number", "one")}},
		{"no-group", sqs.SendMessageInput{MessageBody: aws.String("x")}},
	})
	if fault.name == "no-group" && !w.fifo {
		return
	}
	if w.fifo && fault.name != "no-group" {
		fault.in.MessageGroupId, fault.in.MessageDeduplicationId = aws.String("z"), aws.String("invalid")
	}
	w.both("invalid-"+fault.name, "send with "+fault.name, func(s *side) string { return s.trySend(&fault.in) })
}

// side is one server's queue, and what was received of it: messages by number.
type side struct {
	t              *testing.T
	client         *sqs.Client
	url, spare     string          // spare is for what should be refused: nobody receives from it
	ids            map[string]int  // of messages by their MessageId
	alive          map[int]bool    // sent and not deleted
	held           map[int]*string // handles of what is in flight
	released, gone map[int]*string // the last handle of what was made visible, or deleted
}

func newSide(t *testing.T, client *sqs.Client, queue string, attrs map[string]string) *side {
	t.Helper()
	var urls []string
	for _, name := range []string{queue, "spare-" + queue} {
		out, err := client.CreateQueue(t.Context(), &sqs.CreateQueueInput{QueueName: &name, Attributes: attrs})
		if err != nil {
			t.Fatal(err)
		}
		urls = append(urls, *out.QueueUrl)
	}
	return &side{
		t: t, client: client, url: urls[0], spare: urls[1], ids: map[string]int{}, alive: map[int]bool{},
		held: map[int]*string{}, released: map[int]*string{}, gone: map[int]*string{},
	}
}

// trySend sends what SQS refuses, to a queue that nobody receives from.
func (s *side) trySend(in *sqs.SendMessageInput) string {
	call := *in
	call.QueueUrl = &s.spare
	_, err := s.client.SendMessage(s.t.Context(), &call)
	return refused(err)
}

// send tells a duplicate by its id: SQS answers it with that of the message that it is a duplicate of.
func (s *side) send(number int, in *sqs.SendMessageInput) string {
	call := *in
	call.QueueUrl = &s.url
	out, err := s.client.SendMessage(s.t.Context(), &call)
	if err != nil {
		return refused(err)
	}
	if first, duplicate := s.ids[*out.MessageId]; duplicate {
		return fmt.Sprintf("duplicate of m%d", first)
	}
	s.ids[*out.MessageId] = number
	s.alive[number] = true
	return "ok"
}

// receive lists body, attribute and count; of a FIFO queue in order, group by group.
func (s *side) receive(fifo bool) string {
	out, err := s.client.ReceiveMessage(s.t.Context(), &sqs.ReceiveMessageInput{
		QueueUrl: &s.url, MaxNumberOfMessages: 10, MessageAttributeNames: []string{"All"},
		MessageSystemAttributeNames: []types.MessageSystemAttributeName{types.MessageSystemAttributeNameAll},
	})
	if err != nil {
		return refused(err)
	}
	groups := map[string][]string{}
	var all []string
	for _, m := range out.Messages {
		var number int
		if _, err := fmt.Sscanf(*m.Body, "m%d", &number); err != nil {
			return "a body that was never sent: " + *m.Body
		}
		delete(s.released, number)
		s.held[number] = m.ReceiptHandle
		text := fmt.Sprintf("%s#%s/%s", *m.Body, m.Attributes["ApproximateReceiveCount"], aws.ToString(m.MessageAttributes["number"].StringValue))
		group := m.Attributes["MessageGroupId"]
		groups[group] = append(groups[group], text)
		all = append(all, text)
	}
	if fifo {
		return fmt.Sprint(groups)
	}
	return sorted(all)
}

func (s *side) remove(number int, from map[int]*string) string {
	_, err := s.client.DeleteMessage(s.t.Context(), &sqs.DeleteMessageInput{QueueUrl: &s.url, ReceiptHandle: from[number]})
	if err == nil {
		handle := from[number]
		delete(from, number)
		delete(s.alive, number)
		s.gone[number] = handle
	}
	return refused(err)
}

func (s *side) hide(number int, of map[int]*string, seconds int32) string {
	handle := of[number]
	_, err := s.client.ChangeMessageVisibility(s.t.Context(), &sqs.ChangeMessageVisibilityInput{
		QueueUrl: &s.url, ReceiptHandle: handle, VisibilityTimeout: seconds,
	})
	if err == nil && seconds == 0 {
		delete(s.held, number)
		s.released[number] = handle
	}
	return refused(err)
}

func (s *side) counts() string {
	out, err := s.client.GetQueueAttributes(s.t.Context(), &sqs.GetQueueAttributesInput{QueueUrl: &s.url, AttributeNames: []types.QueueAttributeName{"All"}})
	if err != nil {
		return refused(err)
	}
	return out.Attributes["ApproximateNumberOfMessages"] + " visible, " + out.Attributes["ApproximateNumberOfMessagesNotVisible"] + " in flight"
}

func (s *side) numbers(of map[int]*string) []int {
	var list []int
	for n := range s.sentUpTo() {
		if of[n] != nil {
			list = append(list, n)
		}
	}
	return list
}

// sentUpTo bounds the numbers, which are looked through in order so that a seed always makes the same calls.
func (s *side) sentUpTo() int {
	top := 0
	for _, n := range s.ids {
		top = max(top, n)
	}
	return top + 1
}
