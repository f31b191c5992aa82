package main

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/smithy-go"
)

// config makes clients that do not retry: a case has to see the first answer.
func config(url string) aws.Config {
	tr := http.DefaultTransport.(*http.Transport).Clone()
	tr.MaxIdleConnsPerHost = 128
	tr.MaxIdleConns = 256
	return aws.Config{
		Region: "us-east-1", BaseEndpoint: &url, HTTPClient: &http.Client{Transport: onlyReads{tr}}, RetryMaxAttempts: 1,
		Credentials: credentials.NewStaticCredentialsProvider("AKIATEST", "test", ""),
	}
}

// onlyReads hides all but Read and Close of the request's body. The SDK closes it when the answer's headers are there, and its WriteTo
// then ends in a way that net/http takes for a failed write: it cuts the connection while the answer is read.
type onlyReads struct{ base http.RoundTripper }

func (o onlyReads) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != nil && r.Body != http.NoBody {
		r = r.Clone(r.Context())
		r.Body = struct{ io.ReadCloser }{r.Body}
	}
	return o.base.RoundTrip(r)
}

// wantCode passes an API error with one of the codes. Names differ in prefix and suffix between the query and the JSON protocol;
// what is between is compared.
func wantCode(err error, codes ...string) error {
	if err == nil {
		return fmt.Errorf("want error %v, got success", codes)
	}
	e, ok := errors.AsType[smithy.APIError](err)
	if !ok {
		return fmt.Errorf("want API error %v, got %w", codes, err)
	}
	if slices.ContainsFunc(codes, func(c string) bool { return bare(c) == bare(e.ErrorCode()) }) {
		return nil
	}
	return fmt.Errorf("want %v, got code %q: %s", codes, e.ErrorCode(), e.ErrorMessage())
}

func bare(code string) string {
	return strings.TrimSuffix(strings.TrimPrefix(code, "AWS.SimpleQueueService."), "Exception")
}

// short is an error on one line of a width that terminals have.
func short(err error) string {
	text := err.Error()
	if e, ok := errors.AsType[smithy.APIError](err); ok && !strings.HasPrefix(text, "want") {
		text = e.ErrorCode() + ": " + e.ErrorMessage()
	}
	text = strings.ReplaceAll(text, "\n", " ")
	if len(text) > 200 {
		text = text[:200]
	}
	return text
}
