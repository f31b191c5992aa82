package sqsd

import (
	"context"
	"encoding/json"
	"strings"
	"sync"

	"github.com/claimonce/claimonce/awstest/internal/wire"
)

// Server is the queues of one account in one region. It is safe for concurrent use.
type Server struct {
	region, account string
	maxInFlight     int // in one queue

	mu     sync.Mutex // never held while a call waits
	queues map[string]*queue
	tasks  []moveTask // in the order of their start
	serial int64
}

// New makes a server without queues.
func New(region, account string) *Server { return NewWithLimit(region, account, maxInFlight) }

// NewWithLimit is New with another limit of messages in flight, which can be reached sooner.
func NewWithLimit(region, account string, inFlight int) *Server {
	return &Server{region: region, account: account, maxInFlight: inFlight, queues: map[string]*queue{}}
}

// At is the server as it is reached by a host name: queue URLs are made of it.
func (s *Server) At(host string) wire.Service { return at{s, host} }

type at struct {
	*Server

	host string
}

// Call implements [wire.Service].
func (s at) Call(ctx context.Context, op string, body []byte) (any, *wire.Error) {
	switch op {
	case "SendMessage":
		return run(body, s.sendMessage)
	case "SendMessageBatch":
		return run(body, s.sendMessageBatch)
	case "ReceiveMessage":
		return run(body, func(in receiveInput) (any, *wire.Error) { return s.receiveMessage(ctx, in) })
	case "DeleteMessage":
		return run(body, s.deleteMessage)
	case "DeleteMessageBatch":
		return run(body, s.deleteMessageBatch)
	case "ChangeMessageVisibility":
		return run(body, s.changeVisibility)
	case "ChangeMessageVisibilityBatch":
		return run(body, s.changeVisibilityBatch)
	}
	return s.callQueue(op, body)
}

func (s at) callQueue(op string, body []byte) (any, *wire.Error) {
	switch op {
	case "CreateQueue":
		return run(body, s.createQueue)
	case "GetQueueUrl":
		return run(body, s.getQueueURL)
	case "ListQueues":
		return run(body, s.listQueues)
	case "DeleteQueue":
		return run(body, s.deleteQueue)
	case "PurgeQueue":
		return run(body, s.purgeQueue)
	case "GetQueueAttributes":
		return run(body, s.getQueueAttributes)
	case "SetQueueAttributes":
		return run(body, s.setQueueAttributes)
	case "TagQueue":
		return run(body, s.tagQueue)
	case "UntagQueue":
		return run(body, s.untagQueue)
	case "ListQueueTags":
		return run(body, s.listQueueTags)
	case "ListDeadLetterSourceQueues":
		return run(body, s.listSources)
	case "StartMessageMoveTask":
		return run(body, s.startMove)
	case "CancelMessageMoveTask":
		return run(body, s.cancelMove)
	case "ListMessageMoveTasks":
		return run(body, s.listMoves)
	}
	return nil, refuse("UnknownOperationException", "the operation %s is not known to awstest", op)
}

func run[T any](body []byte, f func(T) (any, *wire.Error)) (any, *wire.Error) {
	var in T
	if err := json.Unmarshal(body, &in); err != nil {
		return nil, refuse("SerializationException", "the request is no JSON of the expected form: %v", err)
	}
	return f(in)
}

// find is called with mu held. The host of a URL does not matter: a queue is reachable by several names.
func (s *Server) find(url string) (*queue, *wire.Error) {
	if url == "" {
		return nil, missing("QueueUrl")
	}
	rest, name := cutLast(url, '/')
	if _, account := cutLast(rest, '/'); rest != "" && account != s.account {
		return nil, noQueue() // another account's queue of that name is another queue
	}
	if q := s.queues[name]; q != nil {
		return q, nil
	}
	return nil, noQueue()
}

func cutLast(s string, sep byte) (before, after string) {
	i := strings.LastIndexByte(s, sep)
	return s[:max(i, 0)], s[i+1:]
}
