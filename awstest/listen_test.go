package awstest_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/claimonce/claimonce/awstest"
)

// onlyReads hides WriteTo of the request's body, with which the SDK makes net/http close connections too early.
type onlyReads struct{ http.RoundTripper }

func (o onlyReads) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Body != nil {
		req = req.Clone(req.Context())
		req.Body = struct{ io.ReadCloser }{req.Body}
	}
	return o.RoundTripper.RoundTrip(req)
}

func listen(t *testing.T, server *awstest.Server) *awstest.Listener {
	t.Helper()
	l, err := server.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return l
}

// overSocket is a rig whose clients use a socket.
func overSocket(t *testing.T) *rig {
	t.Helper()
	server := awstest.New(awstest.Config{})
	cfg := configOf(server)
	cfg.BaseEndpoint = aws.String(listen(t, server).URL())
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	cfg.HTTPClient = &http.Client{Transport: onlyReads{transport}}
	return rigOf(t, server, cfg)
}

func TestListenServesTheSameServer(t *testing.T) {
	t.Parallel()
	r := overSocket(t)
	q := r.queue("q")
	if !strings.HasPrefix(q, "http://127.0.0.1:") {
		t.Errorf("got queue URL %s, want the listener's host", q)
	}
	r.send(q, "over the socket")
	memory := rigOf(t, r.server, configOf(r.server))
	memory.wantBodies(memory.receive(q), "over the socket") // a queue is known by any host's name
}

func TestListenRefusesABadAddress(t *testing.T) {
	t.Parallel()
	server := awstest.New(awstest.Config{})
	taken := listen(t, server)
	for _, addr := range []string{"nonsense", "127.0.0.1:x", strings.TrimPrefix(taken.URL(), "http://")} {
		if l, err := server.Listen(addr); err == nil || !strings.HasPrefix(err.Error(), "awstest: listen: ") {
			t.Errorf("address %s: got %v, %v, want an error", addr, l, err)
		}
	}
}

func TestListenWithoutAHostIsOnLoopback(t *testing.T) {
	t.Parallel()
	l, err := awstest.New(awstest.Config{}).Listen(":0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	if !strings.HasPrefix(l.URL(), "http://127.0.0.1:") {
		t.Errorf("got %s, want the loopback interface", l.URL())
	}
}

func TestListenerCloseEndsCallsAndKeepsTheData(t *testing.T) {
	t.Parallel()
	server := awstest.New(awstest.Config{})
	memory := rigOf(t, server, configOf(server))
	q := memory.queue("q")
	memory.send(q, "m")
	l, err := server.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	begun := make(chan struct{})
	server.Inject(awstest.Fault{Operation: "GetQueueUrl", Before: func(ctx context.Context, _ awstest.Call) {
		close(begun)
		<-ctx.Done()
	}})
	cfg := memory.cfg
	cfg.BaseEndpoint, cfg.HTTPClient = aws.String(l.URL()), &http.Client{Transport: &http.Transport{}}
	socket := rigOf(t, server, cfg)
	socket.withoutRetries()
	failed := make(chan error, 1)
	go func() {
		_, err := socket.sqs.GetQueueUrl(t.Context(), &sqs.GetQueueUrlInput{QueueName: aws.String("q")})
		failed <- err
	}()
	<-begun
	for range 2 {
		if err := l.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	}
	if err := <-failed; err == nil {
		t.Error("a call outlived its listener")
	}
	if _, err := socket.trySend(q, "m"); err == nil {
		t.Error("a call was served after Close")
	}
	memory.wantBodies(memory.receive(q), "m")
}

func TestClientThatGoesAwayTakesNoMessage(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	q := r.queue("q")
	ended := make(chan struct{})
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		defer close(ended)
		r.server.ServeHTTP(w, req)
	}))
	defer srv.Close()
	cfg := r.cfg
	cfg.BaseEndpoint, cfg.HTTPClient = aws.String(srv.URL), srv.Client()
	gone := rigOf(t, r.server, cfg)
	gone.withoutRetries()
	ctx, cancel := context.WithCancel(t.Context())
	remove := r.server.Inject(awstest.Fault{Before: func(context.Context, awstest.Call) { cancel() }})
	if _, err := gone.tryReceive(ctx, q, longPoll(20)); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want the context's error", err)
	}
	<-ended // long before the poll's 20 seconds: the server has noticed
	remove()
	r.send(q, "m")
	if m := r.one(q); receives(m) != 1 {
		t.Errorf("got receive count %d, want 1", receives(m))
	}
}

func TestHealth(t *testing.T) {
	t.Parallel()
	server := awstest.New(awstest.Config{})
	get := func(method, path string) (int, string) {
		req, err := http.NewRequestWithContext(t.Context(), method, "http://aws.invalid"+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := server.Client().Do(req)
		if err != nil {
			t.Fatal(err)
		}
		return resp.StatusCode, read(t, resp)
	}
	if status, body := get(http.MethodGet, "/_localstack/health"); status != 200 || !strings.Contains(body, `"sqs":"running"`) || !strings.Contains(body, `"dynamodb":"running"`) {
		t.Errorf("got %d %s, want 200 and both services running", status, body)
	}
	if n := server.Count(""); n != 0 {
		t.Errorf("got %d calls, want none: it is no call of a service", n)
	}
}

func post(t *testing.T, client *http.Client, url, target string, body io.Reader) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, body)
	if err != nil {
		t.Fatal(err)
	}
	if target != "" {
		req.Header.Set("X-Amz-Target", target)
	}
	resp, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, read(t, resp)
}

// read gives the body of an answer, and closes it.
func read(t *testing.T, resp *http.Response) string {
	t.Helper()
	data, err := io.ReadAll(resp.Body)
	if err := errors.Join(err, resp.Body.Close()); err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestRequestsThatNoServiceKnows(t *testing.T) {
	t.Parallel()
	server := awstest.New(awstest.Config{})
	for name, c := range map[string]struct{ target, body, want string }{
		"no target":         {"", "{}", "UnknownOperationException"},
		"another service":   {"Kinesis_20131202.PutRecord", "{}", "UnknownOperationException"},
		"unknown operation": {"AmazonSQS.Nope", "{}", "UnknownOperationException"},
		"of DynamoDB too":   {"DynamoDB_20120810.Nope", "{}", "UnknownOperationException"},
		"no JSON":           {"AmazonSQS.SendMessage", "<xml>", "SerializationException"},
		"wrong type":        {"AmazonSQS.SendMessage", `{"MessageBody":1}`, "SerializationException"},
		"empty body":        {"AmazonSQS.SendMessage", "", "SerializationException"},
	} {
		status, body := post(t, server.Client(), "http://aws.invalid", c.target, strings.NewReader(c.body))
		if status != http.StatusBadRequest || !strings.Contains(body, c.want) {
			t.Errorf("%s: got %d %s, want 400 and %s", name, status, body, c.want)
		}
	}
}

func TestHugeBody(t *testing.T) {
	t.Parallel()
	server := awstest.New(awstest.Config{})
	huge := bytes.Repeat([]byte(" "), 17<<20+1)
	for name, do := range map[string]func() (int, string){
		"memory": func() (int, string) {
			return post(t, server.Client(), "http://aws.invalid", "AmazonSQS.SendMessage", bytes.NewReader(huge))
		},
		"handler": func() (int, string) {
			return post(t, server.Client(), "http://aws.invalid", "AmazonSQS.SendMessage", io.LimitReader(endless{}, 1<<25))
		},
	} {
		if status, body := do(); status != http.StatusRequestEntityTooLarge || !strings.Contains(body, "RequestEntityTooLarge") {
			t.Errorf("%s: got %d %s, want 413", name, status, body)
		}
	}
	if n := len(server.Calls()); n != 0 {
		t.Errorf("%d requests that could not be read are among the calls", n)
	}
}

// endless has no length to tell.
type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	return len(p), nil
}
