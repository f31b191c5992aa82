package awshttp

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
)

// Wrap makes a client safe. base is the client that a user configured; nil, or the SDK's own default, is replaced by one whose idle
// connections suffice for concurrent calls.
func Wrap(base aws.HTTPClient) aws.HTTPClient {
	switch c := base.(type) {
	case nil:
		return Client{own()}
	case *awshttp.BuildableClient:
		return Client{c.WithTransportOptions(idle)}
	case Client:
		return c
	}
	return Client{base}
}

// Client hides from the transport what the request's body can do beside being read, and hands answers over whole.
type Client struct{ base aws.HTTPClient }

// Do implements [aws.HTTPClient].
func (c Client) Do(r *http.Request) (*http.Response, error) {
	if r.Body != nil && r.Body != http.NoBody {
		plain := *r
		plain.Body = reader{r.Body}
		r = &plain
	}
	resp, err := c.base.Do(r)
	if err != nil {
		return resp, err
	}
	return whole(resp)
}

// whole reads the answer to its end. If the connection breaks in the middle of it, the SDK is told by an error of the call, as of a
// connection that brought no answer, and sends the call again. Left to find out by itself it takes half an answer for one that
// cannot be decoded, which it never repeats.
func whole(resp *http.Response) (*http.Response, error) {
	if resp.Body == nil || resp.Body == http.NoBody {
		return resp, nil
	}
	var b bytes.Buffer
	if n := resp.ContentLength; n > 0 && n <= largestAnswer {
		b.Grow(int(n) + bytes.MinRead) // else it would grow once more to see the end
	}
	_, err := b.ReadFrom(resp.Body)
	if cerr := resp.Body.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return nil, fmt.Errorf("the answer broke off: %w", err)
	}
	resp.Body = io.NopCloser(&b)
	return resp, nil
}

// largestAnswer: DynamoDB and SQS send less; nothing larger is made room for on a header's word.
const largestAnswer = 16 << 20

type reader struct{ body io.ReadCloser }

func (r reader) Read(p []byte) (int, error) { return r.body.Read(p) }
func (r reader) Close() error               { return r.body.Close() }

// idleConnections: a call that finds no idle connection pays for a new one.
const idleConnections = 256

func own() aws.HTTPClient { return awshttp.NewBuildableClient().WithTransportOptions(idle) }

func idle(t *http.Transport) {
	t.MaxIdleConns, t.MaxIdleConnsPerHost = max(t.MaxIdleConns, idleConnections), max(t.MaxIdleConnsPerHost, idleConnections)
	t.IdleConnTimeout = max(t.IdleConnTimeout, 90*time.Second)
}
