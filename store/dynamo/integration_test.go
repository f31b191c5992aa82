//go:build integration

package dynamo_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/claimonce/claimonce/store/storetest"
)

// Both tests run against a server by other people, each on a table of its own.
func TestIntegrationStoreKeepsTheContract(t *testing.T) {
	t.Parallel()
	s := otherServer(t)
	rig := s.rig
	e := newEnv(t, s.client)
	rig.Open, rig.DropResult = e.handle, e.dropResult
	storetest.Run(t, rig)
}

func TestIntegrationStoreOnDynamoDB(t *testing.T) {
	t.Parallel()
	s := otherServer(t)
	runChecks(t, s.client, s.faults)
}

// A server is what is known of one by other people.
type server struct {
	client *dynamodb.Client
	rig    storetest.Rig
	faults map[string]string // of checks
}

// otherServer knows the servers that are not like DynamoDB where it matters here, by what they answer to anybody. Moto names its HTTP
// library.
func otherServer(t *testing.T) server {
	t.Helper()
	endpoint := os.Getenv("CLAIMONCE_DYNAMO_ENDPOINT")
	if endpoint == "" {
		t.Fatal("set CLAIMONCE_DYNAMO_ENDPOINT to the URL of a DynamoDB server, for example http://127.0.0.1:4566")
	}
	resp, err := http.Get(endpoint)
	if err != nil {
		t.Fatalf("nothing answers at CLAIMONCE_DYNAMO_ENDPOINT: %v", err)
	}
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	s, base := server{}, aws.HTTPClient(http.DefaultClient)
	switch {
	case strings.HasPrefix(resp.Header.Get("Server"), "Werkzeug"):
		s = moto()
	case strings.HasPrefix(string(body), "healthy: dynamodb"):
		s.rig.ReadsAfterRefusal = true // dynalite knows no ReturnValuesOnConditionCheckFailure
		base = patient(base)           // and ends where a client gives a request up
	}
	s.client = dynamodb.NewFromConfig(aws.Config{
		Region: "us-east-1", Credentials: credentials.NewStaticCredentialsProvider("test", "test", ""), BaseEndpoint: &endpoint, HTTPClient: base,
	})
	return s
}

func moto() server {
	racy := storetest.Known{
		Why:   "moto tests the condition and writes in two steps, so that two swaps at a time can win; rarely, since both steps are short",
		Flaky: true,
	}
	return server{
		rig: storetest.Rig{Known: map[string]storetest.Known{
			"one winner of a claim": racy, "one winner at a revision": racy, "one winner of an expired key": racy, "linearizable": racy,
		}},
		faults: map[string]string{
			"DDB12 largest result": "moto counts binary values by their base64 text",
		},
	}
}

// patient ends a call when its context ends, but lets the request itself come to its end.
func patient(base aws.HTTPClient) way {
	type answer struct {
		resp *http.Response
		err  error
	}
	return func(r *http.Request) (*http.Response, error) {
		got, ctx := make(chan answer, 1), r.Context()
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		whole, err := io.ReadAll(r.Body) // the SDK closes the body when the call ends
		if err != nil {
			return nil, err
		}
		r = r.Clone(context.WithoutCancel(ctx))
		r.Body = io.NopCloser(bytes.NewReader(whole))
		go func() {
			resp, err := base.Do(r)
			if err == nil {
				var body []byte
				body, err = io.ReadAll(resp.Body)
				_ = resp.Body.Close()
				resp.Body = io.NopCloser(bytes.NewReader(body))
			}
			got <- answer{resp, err}
		}()
		select {
		case a := <-got:
			return a.resp, a.err
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}
