package sqs_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sqs"

	adapter "github.com/claimonce/claimonce/adapters/sqs"
	"github.com/claimonce/claimonce/awstest"
	"github.com/claimonce/claimonce/consumer"
)

// keepFor extends a message as a consumer does, until some time after its receipt.
func (r *rig) keepFor(s *adapter.Source, m *consumer.Message, d time.Duration) {
	r.t.Helper()
	for end := time.Now().Add(d); time.Now().Before(end); {
		elapse(min(s.Visibility()/3, time.Until(end)))
		if err := s.Extend(r.t.Context(), m); err != nil {
			r.t.Fatalf("%v before the end: %v", time.Until(end), err)
		}
	}
}

// SQS refuses what would end beyond twelve hours from the receipt: nothing is asked for that it would refuse.
func TestExtensionsEndWithTwelveHours(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		s := r.open(adapter.Config{Visibility: time.Hour})
		r.send("body")
		m := r.take(s, 1)[0]
		end := time.Now().Add(12 * time.Hour)
		r.keepFor(s, m, 11*time.Hour+40*time.Minute)
		if got := r.left()[0].VisibleAt; got.After(end) || got.Before(end.Add(-5*time.Second)) {
			t.Errorf("hidden until %v, want just before %v", got, end)
		}
		r.server.ResetCalls()
		elapse(19*time.Minute + 59*time.Second)
		for range 3 {
			if err := s.Extend(t.Context(), m); !errors.Is(err, consumer.ErrHoldOver) || errors.Is(err, consumer.ErrNotHeld) {
				t.Errorf("got %v at the end, want ErrHoldOver: the handler goes on", err)
			}
			elapse(time.Hour)
		}
		if got := r.server.Count("ChangeMessageVisibilityBatch"); got != 0 {
			t.Errorf("%d calls, want none: a visibility of nothing would hand the message back", got)
		}
		log := r.log.String()
		if n := strings.Count(log, "can be hidden no longer"); n != 1 || !strings.Contains(log, m.ID) || !strings.Contains(log, "WARN") {
			t.Errorf("got log %q, want one warning of the message", log)
		}
		// Nobody had it meanwhile, so that its delete still counts; anything else must not disturb the next holder.
		if err := s.Nack(t.Context(), m, time.Hour); !errors.Is(err, consumer.ErrNotHeld) {
			t.Errorf("nack: got %v, want ErrNotHeld", err)
		}
		if err := s.DeadLetter(t.Context(), m, letter()); !errors.Is(err, consumer.ErrNotHeld) {
			t.Errorf("dead letter: got %v, want ErrNotHeld", err)
		}
		r.wantLeft(1)
		if got := len(r.server.Messages("work-dead")); got != 0 {
			t.Errorf("got %d dead letters, want none", got)
		}
	})
}

// A copy by a worker that no longer has the message would be one too many. Where only the extensions failed it is sent.
func TestDeadLetterAfterTheVisibility(t *testing.T) {
	for name, another := range map[string]bool{"another worker has it": true, "nobody has it": false} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, r *rig) {
				s := r.open(adapter.Config{})
				r.send("body")
				m := r.take(s, 1)[0]
				remove := r.server.Inject(awstest.FailBefore("ChangeMessageVisibilityBatch", http.StatusServiceUnavailable, "ServiceUnavailable"))
				elapse(20 * time.Second)
				if err := s.Extend(t.Context(), m); err == nil || errors.Is(err, consumer.ErrNotHeld) {
					t.Errorf("got %v, want an error that leaves open whose it is", err)
				}
				elapse(time.Minute)
				if another {
					remove()
					r.take(r.open(adapter.Config{}), 1)
				}
				err := s.DeadLetter(t.Context(), m, letter())
				if err == nil || errors.Is(err, consumer.ErrNotHeld) != another {
					t.Errorf("got %v, want an error; ErrNotHeld: %v", err, another)
				}
				r.wantKept(0)
			})
		})
	}
}

// Whatever SQS or a server like it says of a handle that no longer counts, it means one thing, and the error says what happened.
func TestHandlesThatNoLongerCount(t *testing.T) {
	const invalid = "Value AQEB for parameter ReceiptHandle is invalid. Reason: "
	for _, c := range []struct{ code, message, want string }{
		{"ReceiptHandleIsInvalid", "The input receipt handle is invalid.", "its receipt handle no longer counts"},
		{"MessageNotInflight", "", "it is not in flight"},
		{"AWS.SimpleQueueService.MessageNotInflight", "gone", "it is not in flight"},
		{"com.amazonaws.sqs#ReceiptHandleIsInvalid", "bad", "its receipt handle no longer counts"},
		{"InvalidParameterValue", invalid + "The receipt handle has expired.", "its receipt handle has expired"},
		{"InvalidParameterValue", invalid + "Message does not exist or is not available for visibility timeout change.", "it is not in flight"},
		{"InvalidParameterValue", "The input receipt handle is bad.", "its receipt handle no longer counts"},
		{"InvalidParameterValue", "Total VisibilityTimeout for the message is beyond the limit [43200 seconds].", ""},
		{"InternalError", invalid, ""},
	} {
		for _, single := range []bool{false, true} {
			for call, do := range map[string]func(t *testing.T, s *adapter.Source, m *consumer.Message) error{
				"ack":    func(t *testing.T, s *adapter.Source, m *consumer.Message) error { return s.Ack(t.Context(), m) },
				"nack":   func(t *testing.T, s *adapter.Source, m *consumer.Message) error { return s.Nack(t.Context(), m, 0) },
				"extend": func(t *testing.T, s *adapter.Source, m *consumer.Message) error { return s.Extend(t.Context(), m) },
				"dead letter": func(t *testing.T, s *adapter.Source, m *consumer.Message) error {
					return s.DeadLetter(t.Context(), m, letter())
				},
			} {
				t.Run(fmt.Sprintf("%s %s single %v", c.code, call, single), func(t *testing.T) {
					inBubble(t, func(t *testing.T, r *rig) {
						if single { // the whole call is refused
							r.refuse(c.code, c.message)
						} else {
							r.answer(func(body string) string {
								if !strings.Contains(body, `"Successful"`) {
									return body
								}
								return fmt.Sprintf(`{"Successful":[],"Failed":[{"Id":"0","SenderFault":true,"Code":%q,"Message":%q}]}`, c.code, c.message)
							})
						}
						s := r.open(adapter.Config{})
						r.send("body")
						m := r.take(s, 1)[0]
						err := do(t, s, m)
						if err == nil || errors.Is(err, consumer.ErrNotHeld) != (c.want != "") || !strings.Contains(err.Error(), c.want) {
							t.Errorf("got %v, want ErrNotHeld with %q", err, c.want)
						}
						if c.want == "" || call != "nack" && call != "extend" {
							return
						}
						if err := s.Extend(t.Context(), m); !errors.Is(err, consumer.ErrNotHeld) || !strings.Contains(err.Error(), "earlier call") {
							t.Errorf("after that: got %v, want ErrNotHeld again, and why", err)
						}
					})
				})
			}
		}
	}
}

// refuse makes every batch call fail as a whole.
func (r *rig) refuse(code, message string) {
	r.client = sqs.New(r.client.Options(), func(o *sqs.Options) { o.HTTPClient = refusing{r.server.Client(), code, message} })
}

type refusing struct {
	base          *http.Client
	code, message string
}

func (c refusing) Do(q *http.Request) (*http.Response, error) {
	if !strings.HasSuffix(q.Header.Get("X-Amz-Target"), "Batch") {
		return c.base.Do(q)
	}
	return &http.Response{
		StatusCode: http.StatusBadRequest, Header: http.Header{"Content-Type": {"application/x-amz-json-1.0"}}, Request: q,
		Body: io.NopCloser(strings.NewReader(fmt.Sprintf(`{"__type":%q,"message":%q}`, c.code, c.message))),
	}, nil
}
