package awstest_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/claimonce/claimonce/awstest"
)

// body records how a request's body was used.
type body struct {
	io.Reader

	closed int
}

func (b *body) Close() error {
	b.closed++
	return nil
}

func createQueue(t *testing.T, ctx context.Context, b io.ReadCloser) *http.Request { //nolint:revive // the test comes first
	t.Helper()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://aws.invalid/", b)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("X-Amz-Target", "AmazonSQS.CreateQueue")
	return req
}

func TestMemoryTransportReadsAndClosesTheBody(t *testing.T) {
	t.Parallel()
	server := awstest.New(awstest.Config{})
	b := &body{Reader: strings.NewReader(`{"QueueName":"q"}`)}
	req := createQueue(t, t.Context(), b)
	before := req.Header.Clone()
	resp, err := server.Client().Transport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	data := read(t, resp)
	if resp.StatusCode != http.StatusOK || resp.ContentLength != int64(len(data)) || !strings.Contains(data, "QueueUrl") || resp.Request != req {
		t.Errorf("got %v of %s, want the answer with its length", resp, data)
	}
	if b.closed != 1 || len(req.Header) != len(before) {
		t.Errorf("body closed %d times, header %v, want once and %v", b.closed, req.Header, before)
	}
	if resp.Header.Get("Date") == "" || resp.Header.Get("X-Amzn-Requestid") == "" {
		t.Errorf("got header %v, want a date and a request id", resp.Header)
	}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

func TestMemoryTransportPassesOnWhatTheBodyFailsWith(t *testing.T) {
	t.Parallel()
	server := awstest.New(awstest.Config{})
	want := errors.New("disk on fire")
	b := &body{Reader: failing{want}}
	resp, err := server.Client().Transport.RoundTrip(createQueue(t, t.Context(), b))
	if !errors.Is(err, want) || resp != nil || b.closed != 1 {
		t.Errorf("got %v, %v, body closed %d times, want its error and one close", resp, err, b.closed)
	}
}

func TestMemoryTransportWithAContextThatHasEnded(t *testing.T) {
	t.Parallel()
	server := awstest.New(awstest.Config{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	b := &body{Reader: strings.NewReader(`{"QueueName":"q"}`)}
	resp, err := server.Client().Transport.RoundTrip(createQueue(t, ctx, b))
	if !errors.Is(err, context.Canceled) || resp != nil || b.closed != 1 {
		t.Errorf("got %v, %v, body closed %d times, want the context's error and one close", resp, err, b.closed)
	}
	if server.Count("") != 0 || server.Queue("q").Exists {
		t.Error("the call reached the server")
	}
}

// A context that ends while a call is applied: applied it is, and the client never learns.
func TestMemoryTransportWithAContextThatEndsMeanwhile(t *testing.T) {
	t.Parallel()
	server := awstest.New(awstest.Config{})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	server.Inject(awstest.Fault{After: func(context.Context, awstest.Call) { cancel() }})
	resp, err := server.Client().Transport.RoundTrip(createQueue(t, ctx, &body{Reader: strings.NewReader(`{"QueueName":"q"}`)}))
	if !errors.Is(err, context.Canceled) || resp != nil {
		t.Errorf("got %v, %v, want the context's error", resp, err)
	}
	if !server.Queue("q").Exists {
		t.Error("the call was not applied")
	}
}

// An answer that has arrived stays readable.
func TestMemoryTransportWithAContextThatEndsAfterwards(t *testing.T) {
	t.Parallel()
	server := awstest.New(awstest.Config{})
	ctx, cancel := context.WithCancel(t.Context())
	resp, err := server.Client().Transport.RoundTrip(createQueue(t, ctx, &body{Reader: strings.NewReader(`{"QueueName":"q"}`)}))
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	if data := read(t, resp); !strings.Contains(data, "QueueUrl") {
		t.Errorf("got %q, want the answer", data)
	}
}

func TestMemoryTransportObeysTheClientsTimeout(t *testing.T) {
	bubble(t, func(r *rig) {
		client := r.server.Client()
		client.Timeout = 3 * time.Second
		q := r.queue("q")
		req := createQueue(r.T, r.Context(), io.NopCloser(strings.NewReader(`{"QueueUrl":"`+q+`","WaitTimeSeconds":20}`)))
		req.Header.Set("X-Amz-Target", "AmazonSQS.ReceiveMessage")
		start := time.Now()
		_, err := client.Do(req)
		var timeout interface{ Timeout() bool }
		if took := time.Since(start); !errors.As(err, &timeout) || !timeout.Timeout() || took != 3*time.Second {
			r.Errorf("got %v after %v, want a timeout after 3s", err, took)
		}
	})
}

// A hook that panics is the test's own mistake, and must be seen.
func TestMemoryTransportLetsPanicsThrough(t *testing.T) {
	t.Parallel()
	server := awstest.New(awstest.Config{})
	server.Inject(awstest.Fault{Before: func(context.Context, awstest.Call) { panic("mistake") }})
	defer func() {
		if v := recover(); v != "mistake" {
			t.Errorf("got panic %v, want the hook's", v)
		}
	}()
	resp, err := server.Client().Transport.RoundTrip(createQueue(t, t.Context(), &body{Reader: strings.NewReader(`{}`)}))
	t.Errorf("got %v, %v, want a panic", resp, err)
}

// The server runs in its callers' goroutines only: the bubble would not end if one of the server's were left in it.
func TestNoGoroutineIsLeft(t *testing.T) {
	bubble(t, func(r *rig) {
		q := r.queue("q")
		r.send(q, "m", delayed(5))
		ctx, cancel := context.WithCancel(r.Context())
		r.server.Inject(awstest.Delay("GetQueueUrl", time.Hour, 0))
		go func() { _, _ = r.tryReceive(ctx, q, longPoll(20)) }()
		go func() { _, _ = r.sqs.GetQueueUrl(ctx, &sqs.GetQueueUrlInput{QueueName: aws.String("q")}) }()
		synctest.Wait()
		cancel()
		r.wantCounts(q, "0/0/1")
	})
}

// SDKs of SQS take an error's code from a header; those of DynamoDB have none.
func TestQueryErrorHeaderIsOfSQSOnly(t *testing.T) {
	t.Parallel()
	server := awstest.New(awstest.Config{})
	server.Inject(awstest.FailBefore("", 400, "ResourceNotFoundException"))
	for target, want := range map[string]string{"AmazonSQS.ListQueues": "ResourceNotFoundException;Sender", "DynamoDB_20120810.ListTables": ""} {
		req := createQueue(t, t.Context(), io.NopCloser(strings.NewReader("{}")))
		req.Header.Set("X-Amz-Target", target)
		resp, err := server.Client().Do(req)
		if err != nil {
			t.Fatal(err)
		}
		if body, got := read(t, resp), resp.Header.Get("X-Amzn-Query-Error"); got != want {
			t.Errorf("%s: got header %q of %s, want %q", target, got, body, want)
		}
	}
}
