package awshttp_test

import (
	"bytes"
	"io"
	"net/http"
	"testing"

	"github.com/claimonce/claimonce/internal/awshttp"
)

type spy struct{ body io.ReadCloser }

func (s *spy) Do(r *http.Request) (*http.Response, error) {
	s.body = r.Body
	return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody}, nil
}

type rich struct{ *bytes.Reader }

func (rich) Close() error { return nil }

func TestTheTransportSeesOnlyReadAndClose(t *testing.T) {
	t.Parallel()
	s := &spy{}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://127.0.0.1/", rich{bytes.NewReader([]byte("body"))})
	if err != nil {
		t.Fatal(err)
	}
	resp, err := awshttp.Wrap(s).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if _, ok := s.body.(io.WriterTo); ok {
		t.Errorf("the body has WriteTo, by which the transport would end the connection early")
	}
	if got, err := io.ReadAll(s.body); err != nil || string(got) != "body" {
		t.Errorf("got %q, %v, want the whole body", got, err)
	}
	if _, ok := req.Body.(rich); !ok {
		t.Errorf("the caller's request was changed")
	}
}

func TestWrappingTwiceIsWrappingOnce(t *testing.T) {
	t.Parallel()
	once := awshttp.Wrap(&spy{})
	if twice := awshttp.Wrap(once); twice != once {
		t.Errorf("got another wrapper around the wrapper")
	}
}
