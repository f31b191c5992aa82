package sqs_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/sqs"

	adapter "github.com/claimonce/claimonce/adapters/sqs"
	"github.com/claimonce/claimonce/consumer"
)

// A stand stands between the SDK and the server and answers deletes by itself: what other servers, or AWS on a bad day, say.
type stand struct {
	base   sqs.HTTPClient
	status int
	answer func(entries []map[string]any) any
	calls  int
}

func (a *stand) Do(r *http.Request) (*http.Response, error) {
	if !strings.HasSuffix(r.Header.Get("X-Amz-Target"), ".DeleteMessageBatch") || a.answer == nil {
		return a.base.Do(r)
	}
	a.calls++
	var call map[string]any
	if err := json.NewDecoder(r.Body).Decode(&call); err != nil {
		return nil, err
	}
	body, err := json.Marshal(a.answer(entries(call)))
	if err != nil {
		return nil, err
	}
	return &http.Response{
		StatusCode: a.status, Header: http.Header{"Content-Type": {"application/x-amz-json-1.0"}},
		Body: io.NopCloser(bytes.NewReader(body)), Request: r,
	}, nil
}

// answered opens a source behind such a client and receives one message.
func (r *rig) answered(a *stand) (*adapter.Source, *consumer.Message) {
	r.t.Helper()
	a.base = r.server.Client()
	r.client = sqs.New(r.client.Options(), func(o *sqs.Options) { o.HTTPClient = a })
	s := r.open(adapter.Config{})
	r.send("body")
	return s, r.take(s, 1)[0]
}

type object = map[string]any

// A delete counts once it is confirmed, not when nothing is said against it.
func TestUnconfirmedDeleteIsSentAgain(t *testing.T) {
	for _, silent := range []object{
		{},
		{"Successful": []any{}},
		{"Successful": []any{object{"Id": "7"}}},
		{"Successful": []any{object{"Id": "-1"}}, "Failed": []any{object{"Id": "nobody", "Code": "x", "SenderFault": true}}},
	} {
		inBubble(t, func(t *testing.T, r *rig) {
			a := &stand{status: http.StatusOK}
			s, m := r.answered(a)
			a.answer = func([]map[string]any) any {
				if a.calls == 3 {
					return object{"Successful": []any{object{"Id": "0"}}}
				}
				return silent
			}
			if err := s.Ack(t.Context(), m); err != nil || a.calls != 3 {
				t.Errorf("answer %v: got %v after %d calls, want it sent until it is confirmed", silent, err, a.calls)
			}
			s, m = r.answered(a)
			a.answer = func([]map[string]any) any { return silent }
			if err := s.Ack(t.Context(), m); err == nil {
				t.Errorf("answer %v counts as confirmed", silent)
			}
			if a.calls > 3+5 {
				t.Errorf("answer %v: %d calls, want an end", silent, a.calls-3)
			}
		})
	}
}

// Throttling is reported as the sender's fault, but passes.
func TestThrottledEntryIsSentAgain(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		a := &stand{status: http.StatusOK}
		s, m := r.answered(a)
		a.answer = func([]map[string]any) any {
			if a.calls == 2 {
				return object{"Successful": []any{object{"Id": "0"}}}
			}
			return object{"Failed": []any{object{"Id": "0", "Code": "KmsThrottled", "SenderFault": true, "Message": "slow down"}}}
		}
		if err := s.Ack(t.Context(), m); err != nil || a.calls != 2 {
			t.Errorf("got %v after %d calls, want success at the second", err, a.calls)
		}
	})
}

// Who reads a receipt handle in a log could delete the message.
func TestErrorsVeilTheHandle(t *testing.T) {
	for _, status := range []int{http.StatusOK, http.StatusBadRequest} {
		inBubble(t, func(t *testing.T, r *rig) {
			var handles []string
			a := &stand{status: status}
			s, m := r.answered(a)
			a.answer = func(es []map[string]any) any {
				handles = append(handles, handle(es[0]))
				message := fmt.Sprintf("Value %s for parameter ReceiptHandle is invalid. Reason: The receipt handle has expired.", handles[0])
				if status == http.StatusOK {
					return object{"Failed": []any{object{"Id": "0", "Code": "InvalidParameterValue", "SenderFault": true, "Message": message}}}
				}
				return object{"__type": "InvalidParameterValue", "message": message}
			}
			err := s.Ack(t.Context(), m)
			if err == nil || !strings.Contains(err.Error(), "has expired") {
				t.Fatalf("got %v, want the reason", err)
			}
			if strings.Contains(err.Error()+r.log.String(), handles[0]) {
				t.Errorf("the handle is in %v", err)
			}
		})
	}
}
