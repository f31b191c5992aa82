package awstest

import (
	"slices"
	"sync"
	"time"
)

// A Call is one request that reached the server, whatever became of it: the SDK's own repeats count too.
type Call struct {
	Operation string // for example PutItem or ReceiveMessage
	Body      []byte // JSON; not to be changed
	Time      time.Time
}

// maxCalls bounds what is remembered; Count goes on counting.
const maxCalls = 10_000

type calls struct {
	mu    sync.Mutex
	list  []Call
	count map[string]int
	total int
}

func (c *calls) add(call Call) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.count == nil {
		c.count = map[string]int{}
	}
	c.count[call.Operation]++
	c.total++
	if len(c.list) < maxCalls {
		c.list = append(c.list, call)
	}
}

// Calls lists the requests since the start or the last ResetCalls, the first ten thousand of them.
func (s *Server) Calls() []Call {
	s.calls.mu.Lock()
	defer s.calls.mu.Unlock()
	return slices.Clone(s.calls.list)
}

// Count is how many requests of an operation there were; of all operations for "".
func (s *Server) Count(operation string) int {
	s.calls.mu.Lock()
	defer s.calls.mu.Unlock()
	if operation == "" {
		return s.calls.total
	}
	return s.calls.count[operation]
}

// ResetCalls forgets all calls so far.
func (s *Server) ResetCalls() {
	s.calls.mu.Lock()
	defer s.calls.mu.Unlock()
	s.calls.list, s.calls.count, s.calls.total = nil, nil, 0
}
