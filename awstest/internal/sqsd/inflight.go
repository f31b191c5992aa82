package sqsd

import (
	"strings"
	"time"

	"github.com/claimonce/claimonce/awstest/internal/wire"
)

type handleInput struct {
	QueueUrl          string //nolint:revive // the field's name on the wire
	Id                string //nolint:revive // as above; of a batch entry
	ReceiptHandle     string
	VisibilityTimeout *int
}

func plain(code string) string { return strings.TrimPrefix(code, codePrefix) }

// byHandle is called with mu held. m is nil for a message that no longer exists.
func (s *Server) byHandle(q *queue, handle string) (*message, *wire.Error) {
	if handle == "" {
		return nil, refuse("MissingParameter", "The request must contain the parameter ReceiptHandle.")
	}
	id, ok := parseHandle(q, handle)
	if !ok {
		return nil, refuse("ReceiptHandleIsInvalid", "The input receipt handle is invalid.")
	}
	for _, m := range q.messages {
		if m.id == id && !m.gone {
			return m, nil
		}
	}
	return nil, nil
}

// remove deletes by any handle of the message, the last one or an older one. The API reference says of an older one that the
// request succeeds but the message might not be deleted; tests that depend on either would prove nothing, so the
// kinder case is the one that is simulated by the last handle only, and an older one leaves the message.
// https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_DeleteMessage.html
func (s *Server) remove(q *queue, handle string) *wire.Error {
	m, err := s.byHandle(q, handle)
	if err != nil || m == nil {
		return err // deleting twice succeeds
	}
	if m.handle == handle {
		m.gone = true
		s.settle(q, time.Now())
	}
	return nil
}

func (s at) deleteMessage(in handleInput) (any, *wire.Error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	q, err := s.find(in.QueueUrl)
	if err == nil {
		err = s.remove(q, in.ReceiptHandle)
	}
	return nil, err
}

// maxVisibility is how long a message can stay hidden after one receive.
const maxVisibility = 12 * time.Hour

func (s *Server) hide(q *queue, handle string, timeout *int) *wire.Error {
	if timeout == nil {
		return refuse("MissingParameter", "The request must contain the parameter VisibilityTimeout.")
	}
	if *timeout < 0 || *timeout > 43200 {
		return refuse("InvalidParameterValue", "Value %d for parameter VisibilityTimeout is invalid. Reason: VisibilityTimeout must be an integer between 0 and 43200.", *timeout)
	}
	m, err := s.byHandle(q, handle)
	if err != nil {
		return err
	}
	now := time.Now()
	if m == nil {
		return refuse("InvalidParameterValue", "Value %s for parameter ReceiptHandle is invalid. Reason: Message does not exist or is not available for visibility timeout change.", handle)
	}
	if m.handle != handle || !m.inFlight(now) {
		return refuse("MessageNotInflight", "The specified message isn't in flight.")
	}
	until := now.Add(time.Duration(*timeout) * time.Second)
	if until.After(m.received.Add(maxVisibility)) {
		return refuse("InvalidParameterValue", "Value %d for parameter VisibilityTimeout is invalid. Reason: Total VisibilityTimeout for the message is beyond the limit [43200 seconds].", *timeout)
	}
	m.visible = until
	s.wake()
	return nil
}

func (s at) changeVisibility(in handleInput) (any, *wire.Error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	q, err := s.find(in.QueueUrl)
	if err == nil {
		err = s.hide(q, in.ReceiptHandle, in.VisibilityTimeout)
	}
	return nil, err
}

func (s at) deleteMessageBatch(in batchInput[handleInput]) (any, *wire.Error) {
	return s.eachHandle(in, func(q *queue, e handleInput) *wire.Error { return s.remove(q, e.ReceiptHandle) })
}

func (s at) changeVisibilityBatch(in batchInput[handleInput]) (any, *wire.Error) {
	return s.eachHandle(in, func(q *queue, e handleInput) *wire.Error { return s.hide(q, e.ReceiptHandle, e.VisibilityTimeout) })
}

func (s at) eachHandle(in batchInput[handleInput], f func(*queue, handleInput) *wire.Error) (any, *wire.Error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	q, err := s.find(in.QueueUrl)
	if err != nil {
		return nil, err
	}
	ids := []string{}
	for _, e := range in.Entries {
		ids = append(ids, e.Id)
	}
	if err := checkBatch(ids); err != nil {
		return nil, err
	}
	var res results
	for _, e := range in.Entries {
		if err := f(q, e); err != nil {
			res.fail(e.Id, err)
			continue
		}
		res.ok(map[string]any{"Id": e.Id})
	}
	return res.answer(), nil
}
