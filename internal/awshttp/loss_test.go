package awshttp_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/claimonce/claimonce/internal/awshttp"
)

// closedBody is what the SDK's request body is at the worst moment: when the transport looks for surplus bytes through WriteTo it
// has just been closed, and says io.EOF as an error.
type closedBody struct {
	io.Reader
	once   sync.Once
	closed chan struct{}
}

func (b *closedBody) WriteTo(io.Writer) (int64, error) {
	<-b.closed
	return 0, io.EOF
}

func (b *closedBody) Close() error {
	b.once.Do(func() { close(b.closed) })
	return nil
}

// call sends a request as the SDK does: it closes the request's body once the headers are there, then reads the answer, of
// which the server sends the rest after release.
func call(t *testing.T, client aws.HTTPClient, release <-chan struct{}) (string, error) {
	t.Helper()
	const request, answer = "request", "first half, second half"
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.ReadFull(r.Body, make([]byte, len(request)))
		w.Header().Set("Content-Length", "23")
		_, _ = io.WriteString(w, answer[:11])
		_ = http.NewResponseController(w).Flush()
		select {
		case <-release:
			_, _ = io.WriteString(w, answer[11:])
		case <-r.Context().Done():
		}
	}))
	t.Cleanup(server.Close)
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second) // only so that a failure does not hang
	defer cancel()
	body := &closedBody{Reader: strings.NewReader(request), closed: make(chan struct{})}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, server.URL, body)
	if err != nil {
		t.Fatal(err)
	}
	req.ContentLength = int64(len(request))
	resp, err := client.Do(req)
	if err != nil {
		t.Fatalf("no headers came: %v", err)
	}
	defer func() { _ = resp.Body.Close() }()
	_ = req.Body.Close()
	got, err := io.ReadAll(resp.Body)
	if ctx.Err() != nil {
		t.Fatal("the answer neither ended nor failed")
	}
	return string(got), err
}

// If this fails, the transport no longer takes the end of a body for a failed write, and Wrap is no longer needed.
func TestWithoutWrapAnAnswerIsLost(t *testing.T) {
	t.Parallel()
	client := &http.Client{Transport: http.DefaultTransport.(*http.Transport).Clone()}
	if got, err := call(t, client, nil); err == nil {
		t.Errorf("got the answer %q, want a connection that broke under it", got)
	}
}

func TestWithWrapNoAnswerIsLost(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	close(release)
	for name, base := range map[string]aws.HTTPClient{
		"own client":    nil,
		"user's client": &http.Client{Transport: http.DefaultTransport.(*http.Transport).Clone()},
	} {
		got, err := call(t, awshttp.Wrap(base), release)
		if want := "first half, second half"; err != nil || got != want {
			t.Errorf("%s: got %q, %v, want %q", name, got, err, want)
		}
	}
}
