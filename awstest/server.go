package awstest

import (
	"encoding/json"
	"hash/crc32"
	"io"
	"log/slog"
	"net/http"
	"strconv"
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
	Logger    *slog.Logger // gets each call at debug level; default: none
}

// Server is SQS and DynamoDB of one account in one region. It is an [http.Handler] and safe for concurrent use.
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

// ServeHTTP implements [http.Handler].
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet {
		s.health(w)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxRequest))
	if err != nil {
		s.answer(w, nil, &wire.Error{Status: http.StatusRequestEntityTooLarge, Code: "RequestEntityTooLarge", Message: "the request cannot be read"})
		return
	}
	service, op, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	call := Call{Operation: op, Body: body, Time: time.Now()}
	s.calls.add(call)
	s.cfg.Logger.DebugContext(r.Context(), "call", "service", service, "operation", op)
	var svc wire.Service
	switch service {
	case "AmazonSQS":
		svc = s.sqs.At(r.Host)
	case "DynamoDB_20120810":
		svc = s.dynamo
	default:
		s.answer(w, nil, &wire.Error{Status: http.StatusBadRequest, Code: "UnknownOperationException", Message: "no service of this server has the target " + strconv.Quote(r.Header.Get("X-Amz-Target"))})
		return
	}
	out, refusal := s.faults.around(r.Context(), svc, call)
	s.answer(w, out, refusal)
}

// answer writes a result or a refusal as the JSON protocols of AWS have it.
func (s *Server) answer(w http.ResponseWriter, out any, refusal *wire.Error) {
	status := http.StatusOK
	if refusal != nil {
		status = refusal.Status
		fields := map[string]any{"__type": refusal.Code, "message": refusal.Message}
		for name, v := range refusal.Fields {
			fields[name] = v
		}
		out = fields
		if code, ok := sqsd.QueryError(refusal.Code); ok {
			w.Header().Set("X-Amzn-Query-Error", code)
		}
	}
	body := []byte("{}")
	if out != nil {
		var err error
		if body, err = json.Marshal(out); err != nil {
			status, body = http.StatusInternalServerError, []byte(`{"__type":"InternalFailure","message":"the answer cannot be encoded"}`)
		}
	}
	h := w.Header()
	h.Set("Content-Type", "application/x-amz-json-1.0")
	h.Set("Date", time.Now().UTC().Format(http.TimeFormat))
	h.Set("X-Amzn-Requestid", "awstest-"+strconv.FormatInt(s.serial.Add(1), 10))
	h.Set("X-Amz-Crc32", strconv.FormatUint(uint64(crc32.ChecksumIEEE(body)), 10))
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, _ = w.Write(body)
}

// health answers like LocalStack, so that scripts which wait for it work.
func (s *Server) health(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, `{"services":{"sqs":"running","dynamodb":"running"},"edition":"awstest"}`)
}
