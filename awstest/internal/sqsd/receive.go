package sqsd

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/claimonce/claimonce/awstest/internal/wire"
)

type receiveInput struct {
	QueueUrl                    string //nolint:revive // the field's name on the wire
	AttributeNames              []string
	MessageSystemAttributeNames []string
	MessageAttributeNames       []string
	MaxNumberOfMessages         *int
	VisibilityTimeout           *int
	WaitTimeSeconds             *int
}

func (in receiveInput) check() *wire.Error {
	for _, p := range []struct {
		name      string
		value     *int
		low, high int
	}{
		{"MaxNumberOfMessages", in.MaxNumberOfMessages, 1, 10},
		{"VisibilityTimeout", in.VisibilityTimeout, 0, 43200},
		{"WaitTimeSeconds", in.WaitTimeSeconds, 0, 20},
	} {
		if p.value != nil && (*p.value < p.low || *p.value > p.high) {
			return refuse("InvalidParameterValue", "Value %d for parameter %s is invalid. Reason: Must be between %d and %d, if provided.", *p.value, p.name, p.low, p.high)
		}
	}
	return nil
}

// receiveMessage waits for a message no longer than the poll asks for, and not beyond the call.
func (s at) receiveMessage(ctx context.Context, in receiveInput) (any, *wire.Error) {
	if err := in.check(); err != nil {
		return nil, err
	}
	var end time.Time
	for {
		got, changed, next, err := s.tryReceive(in, &end)
		if err != nil {
			return nil, err
		}
		now := time.Now()
		if len(got) > 0 || !now.Before(end) {
			if len(got) == 0 {
				return nil, nil
			}
			return map[string]any{"Messages": got}, nil
		}
		until := end
		if !next.IsZero() && next.Before(end) {
			until = next
		}
		timer := time.NewTimer(until.Sub(now))
		select {
		case <-changed:
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return nil, nil // the client is gone, and no message was taken for it
		}
		timer.Stop()
	}
}

// tryReceive takes what is visible now, else says what to wait for.
func (s at) tryReceive(in receiveInput, end *time.Time) (got []map[string]any, changed <-chan struct{}, next time.Time, refusal *wire.Error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	q, err := s.find(in.QueueUrl)
	if err != nil {
		return nil, nil, time.Time{}, err
	}
	now := time.Now()
	if end.IsZero() {
		wait := q.seconds("ReceiveMessageWaitTimeSeconds")
		if in.WaitTimeSeconds != nil {
			wait = time.Duration(*in.WaitTimeSeconds) * time.Second
		}
		*end = now.Add(wait)
	}
	visibility := q.seconds("VisibilityTimeout")
	if in.VisibilityTimeout != nil {
		visibility = time.Duration(*in.VisibilityTimeout) * time.Second
	}
	limit := 1
	if in.MaxNumberOfMessages != nil {
		limit = *in.MaxNumberOfMessages
	}
	s.settle(q, now)
	for _, m := range q.messages {
		if len(got) == limit {
			break
		}
		if m.visible.After(now) {
			if next.IsZero() || m.visible.Before(next) {
				next = m.visible
			}
			continue
		}
		s.handOut(q, m, now, visibility)
		got = append(got, m.view(in, s.account))
	}
	return got, s.changed, next, nil
}

// settle drops what is too old and moves what was received too often; called with mu held.
func (s *Server) settle(q *queue, now time.Time) {
	oldest := now.Add(-q.seconds("MessageRetentionPeriod"))
	limit, _ := q.redrive.Count.Int64()
	q.messages = slices.DeleteFunc(q.messages, func(m *message) bool {
		if m.gone || m.sent.Before(oldest) {
			m.gone = true
			return true
		}
		// It is moved when it would be received once more, as on AWS.
		if limit > 0 && int64(m.receives) >= limit && !m.visible.After(now) {
			target := s.queues[q.redrive.Target[strings.LastIndexByte(q.redrive.Target, ':')+1:]]
			if target != nil && target != q {
				moved := *m
				moved.handle, moved.visible, moved.source = "", now, s.arn(q.name)
				target.messages = append(target.messages, &moved)
				s.wake()
				return true
			}
		}
		return false
	})
}

func (s *Server) handOut(q *queue, m *message, now time.Time, visibility time.Duration) {
	if m.receives == 0 {
		m.firstSeen = now
	}
	m.receives++
	m.received, m.visible = now, now.Add(visibility)
	m.handle = s.newHandle(q, m)
}

// view is the message as a receive answers it: attributes only if they were asked for.
func (m *message) view(in receiveInput, account string) map[string]any {
	out := map[string]any{"MessageId": m.id, "ReceiptHandle": m.handle, "Body": m.body, "MD5OfBody": md5Hex(m.body)}
	attrs := map[string]attribute{}
	for name, a := range m.attributes {
		if asked(in.MessageAttributeNames, name) {
			attrs[name] = a
		}
	}
	if len(attrs) > 0 {
		out["MessageAttributes"] = attrs
		out["MD5OfMessageAttributes"] = attributesMD5(attrs)
	}
	all := map[string]string{
		"SenderId": account, "SentTimestamp": millis(m.sent), "ApproximateReceiveCount": strconv.Itoa(m.receives),
		"ApproximateFirstReceiveTimestamp": millis(m.firstSeen),
	}
	if m.source != "" {
		all["DeadLetterQueueSourceArn"] = m.source
	}
	for name, a := range m.system {
		all[name] = a.text()
	}
	names := append(slices.Clone(in.AttributeNames), in.MessageSystemAttributeNames...)
	maps.DeleteFunc(all, func(name, _ string) bool { return !slices.Contains(names, name) && !slices.Contains(names, "All") })
	if len(all) > 0 {
		out["Attributes"] = all
	}
	return out
}

// asked: by name, by a prefix with .*, or all.
func asked(names []string, name string) bool {
	return slices.ContainsFunc(names, func(n string) bool {
		prefix, wild := strings.CutSuffix(n, ".*")
		return n == "All" || n == name || wild && (prefix == "" || strings.HasPrefix(name, prefix+".") || strings.HasPrefix(name, prefix))
	})
}
