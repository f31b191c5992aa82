package sqsd

import (
	"time"

	"github.com/claimonce/claimonce/awstest/internal/wire"
)

type handleInput struct {
	QueueUrl          string
	ID                string `json:"Id"` // of a batch entry
	ReceiptHandle     string
	VisibilityTimeout *int
}

// byHandle is called with mu held. m is nil for a message that no longer exists.
func (q *queue) byHandle(handle string, now time.Time) (m *message, refusal *wire.Error) {
	if handle == "" {
		return nil, missing("ReceiptHandle")
	}
	id, ok := parseHandle(q, handle)
	if !ok {
		return nil, refuse("ReceiptHandleIsInvalid", "The input receipt handle is invalid.")
	}
	q.settle(now)
	if m := q.byID[id]; m != nil && !q.expired(m, now) {
		return m, nil
	}
	return nil, nil
}

// erase deletes by the handle of the last receive, expired or not. Of an older handle the API reference says that the request
// succeeds but the message might not be deleted: here it never is, the case that a client can notice. A FIFO queue
// refuses a handle that has expired, which an older one has.
// https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_DeleteMessage.html
func (q *queue) erase(e handleInput, now time.Time) *wire.Error {
	m, err := q.byHandle(e.ReceiptHandle, now)
	if err != nil || m == nil {
		return err // deleting twice succeeds
	}
	last := m.handle == e.ReceiptHandle
	if q.fifo && (!last || !m.flying) {
		return expiredHandle(e)
	}
	if last {
		q.remove(m)
	}
	return nil
}

// expiredHandle has another code in the answer to a batch.
func expiredHandle(e handleInput) *wire.Error {
	const reason = "The receipt handle has expired."
	if e.ID != "" {
		return refuse("ReceiptHandleIsInvalid", reason)
	}
	return badValue(e.ReceiptHandle, "ReceiptHandle", reason)
}

// maxVisibility is how long a message can stay hidden after one receive.
// https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_ChangeMessageVisibility.html
const maxVisibility = 12 * time.Hour

func (q *queue) hide(e handleInput, now time.Time) *wire.Error {
	timeout, handle := e.VisibilityTimeout, e.ReceiptHandle
	if timeout == nil {
		return missing("VisibilityTimeout")
	}
	if *timeout < 0 || *timeout > 43200 {
		return badValue(*timeout, "VisibilityTimeout", "VisibilityTimeout must be an integer between 0 and 43200.")
	}
	m, err := q.byHandle(handle, now)
	if err != nil {
		return err
	}
	if m == nil {
		return badValue(handle, "ReceiptHandle", "Message does not exist or is not available for visibility timeout change.")
	}
	if m.handle != handle || !m.flying {
		return refuse("MessageNotInflight", "The specified message isn't in flight.")
	}
	until := now.Add(time.Duration(*timeout) * time.Second)
	if until.After(m.received.Add(maxVisibility)) {
		return badValue(*timeout, "VisibilityTimeout", "Total VisibilityTimeout for the message is beyond the limit [43200 seconds].")
	}
	m.visible = until
	q.place(m, now)
	q.wake()
	return nil
}

func (s at) deleteMessage(in handleInput) (any, *wire.Error) {
	return s.oneHandle(in, eraseEntry)
}

func (s at) changeVisibility(in handleInput) (any, *wire.Error) {
	return s.oneHandle(in, hideEntry)
}

func (s at) deleteMessageBatch(in batchInput[handleInput]) (any, *wire.Error) {
	return s.eachHandle(in, eraseEntry)
}

func (s at) changeVisibilityBatch(in batchInput[handleInput]) (any, *wire.Error) {
	return s.eachHandle(in, hideEntry)
}

func eraseEntry(q *queue, e handleInput) *wire.Error { return q.erase(e, time.Now()) }

func hideEntry(q *queue, e handleInput) *wire.Error { return q.hide(e, time.Now()) }

func (s at) oneHandle(in handleInput, f func(*queue, handleInput) *wire.Error) (any, *wire.Error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	q, err := s.find(in.QueueUrl)
	if err == nil {
		err = f(q, in)
	}
	return nil, err
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
		ids = append(ids, e.ID)
	}
	if err := checkBatch(ids); err != nil {
		return nil, err
	}
	var res results
	for _, e := range in.Entries {
		if err := f(q, e); err != nil {
			res.fail(e.ID, err)
		} else {
			res.ok(accepted{e.ID})
		}
	}
	return res, nil
}
