package awshttp_test

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/claimonce/claimonce/internal/awshttp"
)

type answering struct{ body io.Reader }

func (a answering) Do(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, ContentLength: 40, Body: io.NopCloser(a.body)}, nil
}

// An answer that breaks off in its body is a call that failed: of half a body the SDK says that it cannot be decoded, and never sends the
// call again.
func TestHalfAnAnswerIsNone(t *testing.T) {
	t.Parallel()
	get := func(body io.Reader) (*http.Response, error) {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://127.0.0.1/", http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		return awshttp.Wrap(answering{body}).Do(req)
	}
	cut := io.MultiReader(strings.NewReader("half an answ"), iotest.ErrReader(io.ErrUnexpectedEOF))
	resp, err := get(cut)
	if err == nil {
		_ = resp.Body.Close()
	}
	if !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("got %v, want an error of the call", err)
	}
	resp, err = get(strings.NewReader("a whole answer"))
	if err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(resp.Body)
	if cerr := resp.Body.Close(); string(got) != "a whole answer" || err != nil || cerr != nil {
		t.Errorf("got %q, %v, %v", got, err, cerr)
	}
}
