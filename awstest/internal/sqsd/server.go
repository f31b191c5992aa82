package sqsd

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/claimonce/claimonce/awstest/internal/wire"
)

// Server is the queues of one account in one region. It is safe for concurrent use.
type Server struct {
	region, account string

	mu     sync.Mutex
	queues map[string]*queue
	serial int64
	// changed is closed and replaced whenever a message may have become visible: long polls wait for it.
	changed chan struct{}
}

// New makes a server without queues.
func New(region, account string) *Server {
	return &Server{region: region, account: account, queues: map[string]*queue{}, changed: make(chan struct{})}
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
	return nil, refuse("InvalidAction", "the action %s is not known here", op)
}

func run[T any](body []byte, f func(T) (any, *wire.Error)) (any, *wire.Error) {
	var in T
	if err := json.Unmarshal(body, &in); err != nil {
		return nil, refuse("SerializationException", "the request is no JSON of the expected form")
	}
	return f(in)
}

// codePrefix stands before the codes of errors that the SDK's model knows.
const codePrefix = "com.amazonaws.sqs#"

// queryCodes are what errors were called in the older query protocol; clients get them in a header besides.
func queryCode(code string) string {
	switch code {
	case "QueueDoesNotExist":
		return "AWS.SimpleQueueService.NonExistentQueue"
	case "QueueNameExists":
		return "QueueAlreadyExists"
	case "MessageNotInflight", "TooManyEntriesInBatchRequest", "EmptyBatchRequest", "BatchEntryIdsNotDistinct",
		"InvalidBatchEntryId", "BatchRequestTooLong", "UnsupportedOperation":
		return "AWS.SimpleQueueService." + code
	case "ReceiptHandleIsInvalid", "OverLimit", "InvalidMessageContents", "InvalidAttributeName", "InvalidAttributeValue":
		return code
	}
	return ""
}

// QueryError is the value of the header x-amzn-query-error for an error code; ok is false if it has none.
func QueryError(code string) (value string, ok bool) {
	name, modelled := strings.CutPrefix(code, codePrefix)
	q := queryCode(name)
	return q + ";Sender", modelled && q != ""
}

func refuse(code, format string, args ...any) *wire.Error {
	if queryCode(code) != "" {
		code = codePrefix + code
	}
	return &wire.Error{Status: http.StatusBadRequest, Code: code, Message: fmt.Sprintf(format, args...)}
}

// find is called with mu held.
func (s *Server) find(url string) (*queue, *wire.Error) {
	if url == "" {
		return nil, refuse("MissingParameter", "The request must contain the parameter QueueUrl.")
	}
	if q := s.queues[url[strings.LastIndexByte(url, '/')+1:]]; q != nil {
		return q, nil
	}
	return nil, refuse("QueueDoesNotExist", "The specified queue does not exist.")
}

// wake is called with mu held.
func (s *Server) wake() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// Messages is what a queue holds, for tests: nothing is received by looking.
func (s *Server) Messages(name string) []Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	q := s.queues[name]
	if q == nil {
		return nil
	}
	now := time.Now()
	s.settle(q, now)
	out := make([]Message, 0, len(q.messages))
	for _, m := range q.messages {
		attrs := map[string]string{}
		for n, v := range m.attributes {
			attrs[n] = v.text()
		}
		out = append(out, Message{ID: m.id, Body: m.body, Attributes: attrs, SentAt: m.sent, Receives: m.receives, VisibleAt: m.visible, InFlight: m.inFlight(now)})
	}
	return out
}

// Message is one message as it lies in a queue.
type Message struct {
	ID, Body          string
	Attributes        map[string]string // binary values as base64
	SentAt, VisibleAt time.Time
	Receives          int
	InFlight          bool
}

func sortedNames(m map[string]*queue) []string { return slices.Sorted(maps.Keys(m)) }
