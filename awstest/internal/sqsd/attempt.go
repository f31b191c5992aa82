package sqsd

import (
	"time"

	"github.com/claimonce/claimonce/awstest/internal/wire"
)

// attempt is what a FIFO queue gave to a ReceiveRequestAttemptId.
type attempt struct {
	at    time.Time
	taken []taken
}

type taken struct {
	m       *message
	handle  string
	visible time.Time // as the answer left it: another value says that somebody changed it
}

// checkAttempt: https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_ReceiveMessage.html#API_ReceiveMessage_RequestSyntax
func (in receiveInput) checkAttempt() *wire.Error {
	if len(in.ReceiveRequestAttemptID) > 128 {
		return badValue(in.ReceiveRequestAttemptID, "ReceiveRequestAttemptId", "It can have at most 128 characters.")
	}
	return nil
}

// repeated gives a call that is sent again what the first one was given, with the same handles, and starts their visibility anew. That
// holds for five minutes, while all of them are in flight and none was changed; else the call is like a new one.
func (q *queue) repeated(p *poll, now time.Time) []*message {
	a, known := q.attempts[p.in.ReceiveRequestAttemptID]
	if !known || now.Sub(a.at) >= dedupInterval {
		return nil
	}
	var got []*message
	for _, t := range a.taken {
		if q.byID[t.m.id] != t.m || !t.m.flying || t.m.handle != t.handle || !t.m.visible.Equal(t.visible) {
			return nil
		}
		got = append(got, t.m)
	}
	for i, m := range got {
		m.visible = now.Add(p.visibility)
		a.taken[i].visible = m.visible
		q.place(m, now)
	}
	q.wake()
	return got
}

// remember forgets attempts of more than five minutes ago.
func (q *queue) remember(p *poll, got []*message, now time.Time) {
	id := p.in.ReceiveRequestAttemptID
	if !q.fifo || id == "" || len(got) == 0 {
		return
	}
	for old, a := range q.attempts {
		if now.Sub(a.at) >= dedupInterval {
			delete(q.attempts, old)
		}
	}
	a := attempt{at: now}
	for _, m := range got {
		a.taken = append(a.taken, taken{m, m.handle, m.visible})
	}
	if q.attempts == nil {
		q.attempts = map[string]attempt{}
	}
	q.attempts[id] = a
}
