package awstest

import (
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/claimonce/claimonce/awstest/internal/ddbd"
	"github.com/claimonce/claimonce/awstest/internal/sqsd"
	"github.com/claimonce/claimonce/awstest/internal/wire"
)

// Config are the settings of a [Server]; the zero value is ready for use.
type Config struct {
	Region    string       // default us-east-1
	AccountID string       // default 000000000000
	Logger    *slog.Logger // gets each call at debug level, without its body; default: none
}

// Server is SQS and DynamoDB of one account in one region. It is an [http.Handler] and safe for concurrent use.
//
// It starts no goroutine and needs no closing; only a [Listener] does.
type Server struct {
	cfg    Config
	sqs    *sqsd.Server
	dynamo *ddbd.Server
	faults faults
	calls  calls
	serial atomic.Int64
}

// New makes a server without queues and tables.
func New(cfg Config) *Server {
	if cfg.Region == "" {
		cfg.Region = "us-east-1"
	}
	if cfg.AccountID == "" {
		cfg.AccountID = "000000000000"
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	return &Server{cfg: cfg, sqs: sqsd.New(cfg.Region, cfg.AccountID), dynamo: ddbd.NewAt(cfg.Region, cfg.AccountID)}
}

// maxRequest bounds what is read of a request: the largest that a service accepts is 16 MB.
const maxRequest = 17 << 20

// The names of the services as [Call.Service] has them.
const (
	serviceSQS    = "sqs"
	serviceDynamo = "dynamodb"
)

// target tells service and operation from the header that the JSON protocols have for it.
func (s *Server) target(r *http.Request) (svc wire.Service, service, operation string) {
	prefix, operation, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	switch prefix {
	case "AmazonSQS":
		return s.sqs.At(r.Host), serviceSQS, operation
	case "DynamoDB_20120810":
		return s.dynamo, serviceDynamo, operation
	}
	return nil, "", operation
}

// ServeHTTP implements [http.Handler]. A dropped answer is a panic with [http.ErrAbortHandler], which net/http and
// [Server.Client] turn into a broken connection.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		s.health(w, r.URL.Path)
		return
	}
	svc, service, op := s.target(r)
	if svc == nil {
		s.answer(w, "", nil, &wire.Error{
			Status: http.StatusBadRequest, Code: "com.amazon.coral.service#UnknownOperationException",
			Message: "awstest has the JSON protocols of SQS and DynamoDB; the header X-Amz-Target names neither",
		})
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxRequest))
	if err != nil {
		s.answer(w, service, nil, &wire.Error{Status: http.StatusRequestEntityTooLarge, Code: "RequestEntityTooLarge", Message: "the request cannot be read: " + err.Error()})
		return
	}
	call := Call{Service: service, Operation: op, Body: body, Time: time.Now()}
	s.calls.add(call)
	s.cfg.Logger.DebugContext(r.Context(), "call", "service", service, "operation", op)
	out, refusal := s.faults.around(r.Context(), svc, call)
	s.answer(w, service, out, refusal)
}
