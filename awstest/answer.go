package awstest

import (
	"encoding/json"
	"hash/crc32"
	"io"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/claimonce/claimonce/awstest/internal/sqsd"
	"github.com/claimonce/claimonce/awstest/internal/wire"
)

// answer writes a result or a refusal as the JSON protocols of AWS have it.
func (s *Server) answer(w http.ResponseWriter, service string, out any, refusal *wire.Error) {
	status := http.StatusOK
	if refusal != nil {
		status = refusal.Status
		fields := map[string]any{"__type": refusal.Code, "message": refusal.Message}
		maps.Copy(fields, refusal.Fields)
		out = fields
		if code, ok := sqsd.QueryError(refusal.Code); ok && service == serviceSQS {
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
	h.Set("X-Amzn-Requestid", "awstest-"+strconv.FormatInt(s.serial.Add(1), 10))
	h.Set("X-Amz-Crc32", strconv.FormatUint(uint64(crc32.ChecksumIEEE(body)), 10))
	h.Set("Content-Length", strconv.Itoa(len(body)))
	s.date(h)
	w.WriteHeader(status)
	_, _ = w.Write(body)
}

// date is set here, since net/http would not do so for the in-memory client; clients measure the skew of clocks by it.
func (s *Server) date(h http.Header) {
	h.Set("Date", time.Now().UTC().Format(http.TimeFormat))
}

// health answers like LocalStack, so that scripts which wait for it work.
func (s *Server) health(w http.ResponseWriter, path string) {
	h := w.Header()
	h.Set("Content-Type", "application/json")
	s.date(h)
	if strings.TrimSuffix(path, "/") != "/_localstack/health" {
		w.WriteHeader(http.StatusNotFound)
		_, _ = io.WriteString(w, `{"message":"awstest answers POST of SQS and DynamoDB, and GET /_localstack/health"}`)
		return
	}
	_, _ = io.WriteString(w, `{"services":{"sqs":"running","dynamodb":"running"},"edition":"awstest"}`)
}
