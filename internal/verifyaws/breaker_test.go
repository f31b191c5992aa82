package main

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/claimonce/claimonce/awstest"
)

type object = map[string]any

// A breaker changes calls on their way to a server, and answers on their way back: so a server that is right becomes one that is wrong
// in one way.
type breaker struct {
	base   aws.HTTPClient
	call   string                                          // which it changes
	ask    func(in object)                                 // the request
	answer func(status int, out object, h http.Header) int // the answer; gives the status
}

// Do implements [aws.HTTPClient].
func (b *breaker) Do(r *http.Request) (*http.Response, error) {
	_, call, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	if call != b.call {
		return b.base.Do(r)
	}
	if b.ask != nil {
		in, err := read(r.Body)
		if err != nil {
			return nil, err
		}
		b.ask(in)
		raw, err := json.Marshal(in)
		if err != nil {
			return nil, err
		}
		r = r.Clone(r.Context())
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(raw)), int64(len(raw))
	}
	resp, err := b.base.Do(r)
	if err != nil || b.answer == nil {
		return resp, err
	}
	out, err := read(resp.Body)
	if err != nil {
		return nil, err
	}
	resp.StatusCode = b.answer(resp.StatusCode, out, resp.Header)
	raw, err := json.Marshal(out)
	if err != nil {
		return nil, err
	}
	resp.Header.Del("X-Amz-Crc32")
	resp.Header.Set("Content-Length", strconv.Itoa(len(raw)))
	resp.Body, resp.ContentLength = io.NopCloser(bytes.NewReader(raw)), int64(len(raw))
	return resp, nil
}

func read(body io.ReadCloser) (object, error) {
	defer func() { _ = body.Close() }() // it was only read
	var o object
	err := json.NewDecoder(body).Decode(&o)
	return o, err
}

// worldOf has the clients of a server that is broken.
func (b breaker) worldOf(t *testing.T) *world {
	t.Helper()
	b.base = awstest.New(awstest.Config{}).Client()
	cfg := aws.Config{
		Region: "us-east-1", Credentials: credentials.NewStaticCredentialsProvider("test", "test", ""),
		HTTPClient: &b, BaseEndpoint: aws.String("http://aws.invalid"),
	}
	s := sqs.NewFromConfig(cfg, func(o *sqs.Options) { o.DisableMessageChecksumValidation = true })
	return newWorld(s, dynamodb.NewFromConfig(cfg), "test-", true)
}

// found runs one check on a broken server.
func (b breaker) found(t *testing.T, f fact) (err error) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := b.worldOf(t)
		if f.table {
			w.table.create(t.Context(), w)
		}
		err = protect(t.Context(), w, f.check)
	})
	return err
}

// forget leaves a member of the request away.
func forget(call string, names ...string) breaker {
	return breaker{call: call, ask: func(in object) {
		for _, name := range names {
			delete(in, name)
		}
	}}
}

// setting puts a value in place of a member of the request, if that is there.
func setting(call, name string, value any) breaker {
	return breaker{call: call, ask: func(in object) {
		if _, ok := in[name]; ok {
			in[name] = value
		}
	}}
}

// accepting answers refusals as if the call had been made.
func accepting(call string, out object) breaker {
	return breaker{call: call, answer: func(status int, got object, _ http.Header) int {
		if status != http.StatusOK {
			clear(got)
			maps.Copy(got, out)
		}
		return http.StatusOK
	}}
}

// telling changes the answers of calls that were made.
func telling(call string, change func(out object)) breaker {
	return breaker{call: call, answer: func(status int, out object, _ http.Header) int {
		if status == http.StatusOK {
			change(out)
		}
		return status
	}}
}

// refusingWith changes refusals.
func refusingWith(call string, change func(out object, h http.Header)) breaker {
	return breaker{call: call, answer: func(status int, out object, h http.Header) int {
		if status != http.StatusOK {
			change(out, h)
		}
		return status
	}}
}

// coded gives refusals another code.
func coded(call, code string) breaker {
	return refusingWith(call, func(out object, h http.Header) {
		out["__type"] = code
		h.Del("X-Amzn-Query-Error")
	})
}

// eachMessage changes the messages of receives.
func eachMessage(change func(m object)) breaker {
	return telling("ReceiveMessage", func(out object) {
		for _, m := range list(out["Messages"]) {
			change(m)
		}
	})
}

// systemAttribute changes one of each message.
func systemAttribute(name, value string) breaker {
	return eachMessage(func(m object) {
		if a, ok := m["Attributes"].(object); ok {
			a[name] = value
		}
	})
}

func list(v any) (out []object) {
	all, _ := v.([]any)
	for _, one := range all {
		if o, ok := one.(object); ok {
			out = append(out, o)
		}
	}
	return out
}
