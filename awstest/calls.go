package awstest

import (
	"encoding/json"
	"slices"
	"sync"
	"time"
)

// A Call is one request that reached the server, whatever became of it: the SDK's own repeats count too.
type Call struct {
	Service   string // sqs or dynamodb
	Operation string // for example PutItem or ReceiveMessage
	Body      []byte // JSON; not to be changed
	Time      time.Time
}

// Decode reads the body into v as [json.Unmarshal] does; names of fields are those of the API.
func (c Call) Decode(v any) error { return json.Unmarshal(c.Body, v) }

// What is remembered is bounded, for programs that run for days; Count goes on counting.
const (
	maxCalls     = 10_000
	maxCallBytes = 64 << 20
)

type calls struct {
	mu    sync.Mutex
	list  []Call
	bytes int // of the bodies in list
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
	if len(c.list) < maxCalls && c.bytes+len(call.Body) <= maxCallBytes {
		c.list = append(c.list, call)
		c.bytes += len(call.Body)
	}
}

// Calls lists the requests since the start or the last ResetCalls in their order: the first ten thousand of them, or the first
// 64 MiB.
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
	s.calls.list, s.calls.bytes, s.calls.count, s.calls.total = nil, 0, nil, 0
}
