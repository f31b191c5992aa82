package main

import (
	"io"
	"net/http"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

// loser loses the first answer: the call is made, and the connection is gone before it is answered.
type loser struct {
	base aws.HTTPClient
	once sync.Once
}

// Do implements [aws.HTTPClient].
func (l *loser) Do(r *http.Request) (*http.Response, error) {
	resp, err := l.base.Do(r)
	l.once.Do(func() {
		if err == nil {
			_, _ = io.Copy(io.Discard, resp.Body) // to its end, or the SDK warns of a wrong checksum
			_ = resp.Body.Close()                 // nobody reads it
			resp, err = nil, &lostError{}
		}
	})
	return resp, err
}

// lostError is of a kind that the SDK repeats.
type lostError struct{}

// Error implements error.
func (*lostError) Error() string {
	return "connection reset by peer: the answer was dropped on purpose"
}

// Timeout makes it a timeout to the SDK.
func (*lostError) Timeout() bool { return true }

// Temporary is what the SDK's retryer asks for too.
func (*lostError) Temporary() bool { return true }

// recorder keeps the headers of answers.
type recorder struct {
	base aws.HTTPClient
	mu   sync.Mutex
	got  []http.Header
}

// Do implements [aws.HTTPClient].
func (c *recorder) Do(r *http.Request) (*http.Response, error) {
	resp, err := c.base.Do(r)
	if err == nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.got = append(c.got, resp.Header.Clone())
	}
	return resp, err
}

func (c *recorder) headers() []http.Header {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.got
}

// through is the world's DynamoDB client with another HTTP client around its own.
func (w *world) through(wrap func(base aws.HTTPClient) aws.HTTPClient) *dynamodb.Client {
	return dynamodb.New(w.dynamo.Options(), func(o *dynamodb.Options) { o.HTTPClient = wrap(o.HTTPClient) })
}
