package awstest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"syscall"
)

// Client returns an HTTP client whose requests are served in the caller's goroutine, without a socket: it works in a
// testing/synctest bubble. The request's context ends a call early, as a broken connection would.
func (s *Server) Client() *http.Client { return &http.Client{Transport: memoryTransport{s}} }

type memoryTransport struct{ handler http.Handler }

// RoundTrip implements [http.RoundTripper].
func (t memoryTransport) RoundTrip(r *http.Request) (resp *http.Response, err error) {
	body := io.NopCloser(bytes.NewReader(nil))
	if r.Body != nil {
		data, err := io.ReadAll(r.Body)
		if err := errors.Join(err, r.Body.Close()); err != nil {
			return nil, err
		}
		body = io.NopCloser(bytes.NewReader(data))
	}
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	in := r.Clone(r.Context())
	in.Body = body
	if in.Host == "" {
		in.Host = in.URL.Host
	}
	in.RequestURI = in.URL.RequestURI()
	rec := &recorder{header: http.Header{}, status: http.StatusOK}
	defer func() {
		if v := recover(); v != nil {
			if v != http.ErrAbortHandler { //nolint:errorlint // net/http compares it so too
				panic(v)
			}
			if resp, err = nil, r.Context().Err(); err == nil {
				err = dropped()
			}
		}
	}()
	t.handler.ServeHTTP(rec, in)
	if err := r.Context().Err(); err != nil {
		return nil, err // the caller is gone: the answer never reaches it
	}
	return &http.Response{
		Status: fmt.Sprintf("%d %s", rec.status, http.StatusText(rec.status)), StatusCode: rec.status,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: rec.header,
		Body: io.NopCloser(&rec.body), ContentLength: int64(rec.body.Len()), Request: r,
	}, nil
}

// dropped is what a client sees of a connection that was cut before the answer.
func dropped() error {
	return &net.OpError{Op: "read", Net: "tcp", Err: syscall.ECONNRESET}
}

type recorder struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (r *recorder) Header() http.Header         { return r.header }
func (r *recorder) WriteHeader(status int)      { r.status = status }
func (r *recorder) Write(p []byte) (int, error) { return r.body.Write(p) }
