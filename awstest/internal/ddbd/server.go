package ddbd

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/claimonce/claimonce/awstest/internal/wire"
)

// Server is one account's tables in one region. It is safe for concurrent use; every call
// is atomic and never waits for anything but its turn.
type Server struct {
	arn string // of tables, up to the name

	mu     sync.Mutex
	tables map[string]*table
	tokens receipts
	lag    time.Duration
}

var _ wire.Service = (*Server)(nil)

// New returns a server without tables, in account 000000000000 and region us-east-1.
func New() *Server { return NewAt("us-east-1", "000000000000") }

// NewAt is New in another region and account; both show in ARNs only.
func NewAt(region, account string) *Server {
	return &Server{arn: "arn:aws:dynamodb:" + region + ":" + account + ":table/", tables: map[string]*table{}, tokens: receipts{byToken: map[string]receipt{}}}
}

// StaleReads makes GetItem, BatchGetItem, Query and Scan without ConsistentRead see the
// tables as they were d ago; 0, the default, makes every read strongly consistent. Writes
// made before the call that switches it on are seen at once.
func (s *Server) StaleReads(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lag = d
}

// Call runs one operation, such as "PutItem". What it returns is JSON-marshallable and
// never changes afterwards.
func (s *Server) Call(_ context.Context, op string, body []byte) (any, *wire.Error) {
	switch op {
	case "PutItem":
		return run(s, body, s.putItem)
	case "GetItem":
		return run(s, body, s.getItem)
	case "UpdateItem":
		return run(s, body, s.updateItem)
	case "DeleteItem":
		return run(s, body, s.deleteItem)
	case "Query":
		return run(s, body, s.query)
	case "Scan":
		return run(s, body, s.scan)
	case "TransactWriteItems":
		return run(s, body, s.transactWriteItems)
	case "TransactGetItems":
		return run(s, body, s.transactGetItems)
	case "BatchWriteItem":
		return run(s, body, s.batchWriteItem)
	case "BatchGetItem":
		return run(s, body, s.batchGetItem)
	case "ExecuteStatement":
		return run(s, body, s.executeStatement)
	case "BatchExecuteStatement":
		return run(s, body, s.batchExecuteStatement)
	default:
		return s.callTable(op, body)
	}
}

func (s *Server) callTable(op string, body []byte) (any, *wire.Error) {
	switch op {
	case "CreateTable":
		return run(s, body, s.createTable)
	case "DescribeTable":
		return run(s, body, s.describeTable)
	case "UpdateTable":
		return run(s, body, s.updateTable)
	case "DeleteTable":
		return run(s, body, s.deleteTable)
	case "ListTables":
		return run(s, body, s.listTables)
	case "UpdateTimeToLive":
		return run(s, body, s.updateTimeToLive)
	case "DescribeTimeToLive":
		return run(s, body, s.describeTimeToLive)
	default:
		return nil, refuse(codeUnknown, "")
	}
}

// run decodes the input outside the lock and runs one operation inside it.
func run[I any](s *Server, body []byte, f func(*I) (any, error)) (any, *wire.Error) {
	in := new(I)
	if err := json.Unmarshal(body, in); err != nil {
		return nil, decodeError(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	out, err := f(in)
	if err != nil {
		return nil, wireError(err)
	}
	return out, nil
}
