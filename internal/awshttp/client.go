package awshttp

import (
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

// Client hides from the transport what the request's body can do beside being read.
type Client struct{ base aws.HTTPClient }

// Do implements [aws.HTTPClient].
func (c Client) Do(r *http.Request) (*http.Response, error) {
	if r.Body != nil && r.Body != http.NoBody {
		plain := *r
		plain.Body = reader{r.Body}
		r = &plain
	}
	return c.base.Do(r)
}

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
