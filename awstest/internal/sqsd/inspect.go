package sqsd

import "time"

// Message is one message as it lies in a queue.
type Message struct {
	ID, Body          string
	Attributes        map[string]string // binary values as base64
	SentAt, VisibleAt time.Time
	Receives          int
	InFlight          bool
	Group             string // MessageGroupId
	DeadLetterOf      string // ARN of the queue that it was a dead letter of
}

// Messages is what a queue holds, in the order of arrival; nothing is received by looking. nil: there is no such queue.
func (s *Server) Messages(name string) []Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	q := s.queues[name]
	if q == nil {
		return nil
	}
	out := []Message{}
	for _, m := range q.all(time.Now()) {
		attrs := map[string]string{}
		for n, v := range m.attributes {
			attrs[n] = v.text()
		}
		out = append(out, Message{
			ID: m.id, Body: m.body, Attributes: attrs, SentAt: m.sent, VisibleAt: m.visible, Receives: m.receives,
			InFlight: m.flying, Group: m.group, DeadLetterOf: m.source,
		})
	}
	return out
}
