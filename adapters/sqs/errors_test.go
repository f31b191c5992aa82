package sqs_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sqs"

	adapter "github.com/claimonce/claimonce/adapters/sqs"
	"github.com/claimonce/claimonce/awstest"
	"github.com/claimonce/claimonce/consumer"
)

// OPS-03, OPS-04: a receive that fails comes back at once, after one call, so that the consumer's back-off bounds the calls; and the
// next one works, without a new source.
func TestOPS03_FailedReceive(t *testing.T) {
	for code, setup := range map[string]bool{
		"AWS.SimpleQueueService.NonExistentQueue": true,
		"com.amazonaws.sqs#QueueDoesNotExist":     true,
		"AccessDeniedException":                   true,
		"UnrecognizedClientException":             true,
		"KmsAccessDenied":                         true,
		"InternalError":                           false,
		"ServiceUnavailable":                      false,
		"ThrottlingException":                     false,
		"RequestTimeTooSkewed":                    false,
	} {
		t.Run(code, func(t *testing.T) {
			inBubble(t, func(t *testing.T, r *rig) {
				s := r.open(adapter.Config{})
				r.send("body")
				status := http.StatusInternalServerError
				if setup {
					status = http.StatusBadRequest
				}
				r.server.Inject(awstest.FailBefore("ReceiveMessage", status, code).Once())
				before := time.Now()
				_, err := s.Receive(t.Context(), 1)
				wantError(t, err, setup, "sqs: receive from work in region eu-west-1")
				if got := r.server.Count("ReceiveMessage"); got != 1 || time.Since(before) > 0 {
					t.Errorf("got %d calls in %v, want one that is not waited after", got, time.Since(before))
				}
				r.take(s, 1)
			})
		})
	}
}

const (
	secretKey  = "jane@example.com-4242"
	secretBody = `{"card":"4111-1111-1111-1111"}`
)

// OPS-08: nobody who reads errors and logs learns bodies, keys, or the handles by which messages can be deleted.
func TestOPS08_ErrorsTellNoSecrets(t *testing.T) {
	const down = http.StatusInternalServerError
	for name, c := range map[string]struct {
		fault awstest.Fault
		fail  func(t *testing.T, r *rig, s *adapter.Source, m *consumer.Message) error
	}{
		"ack": {
			awstest.FailBefore("DeleteMessageBatch", down, "InternalError"),
			func(t *testing.T, _ *rig, s *adapter.Source, m *consumer.Message) error { return s.Ack(t.Context(), m) },
		},
		"ack entry": {
			awstest.FailEntries("DeleteMessageBatch", true, 0),
			func(t *testing.T, _ *rig, s *adapter.Source, m *consumer.Message) error { return s.Ack(t.Context(), m) },
		},
		"nack entry": {
			awstest.FailEntries("ChangeMessageVisibilityBatch", false, 0),
			func(t *testing.T, _ *rig, s *adapter.Source, m *consumer.Message) error {
				return s.Nack(t.Context(), m, 0)
			},
		},
		"nack of a message that is gone": { // SQS quotes the handle
			awstest.Fault{Operation: "none"},
			func(t *testing.T, r *rig, s *adapter.Source, m *consumer.Message) error {
				r.purge()
				return s.Nack(t.Context(), m, 0)
			},
		},
		"extension of a message that is gone": {
			awstest.Fault{Operation: "none"},
			func(t *testing.T, r *rig, s *adapter.Source, m *consumer.Message) error {
				r.purge()
				return s.Extend(t.Context(), m)
			},
		},
		"dead letter is not sent": {
			awstest.FailBefore("SendMessage", http.StatusBadRequest, "InvalidMessageContents"),
			func(t *testing.T, _ *rig, s *adapter.Source, m *consumer.Message) error {
				return s.DeadLetter(t.Context(), m, consumer.DeadLetter{Reason: consumer.ReasonPermanent})
			},
		},
		"original of a dead letter is not deleted": {
			awstest.FailEntries("DeleteMessageBatch", false, 0),
			func(t *testing.T, _ *rig, s *adapter.Source, m *consumer.Message) error {
				return s.DeadLetter(t.Context(), m, consumer.DeadLetter{Reason: consumer.ReasonPermanent})
			},
		},
		"receive": {
			awstest.FailBefore("ReceiveMessage", down, "InternalError"),
			func(t *testing.T, _ *rig, s *adapter.Source, _ *consumer.Message) error {
				_, err := s.Receive(t.Context(), 1)
				return err
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, r *rig) {
				handle := r.spyHandle()
				s := r.open(adapter.Config{})
				send(t, r.client, r.queue, consumer.Message{Body: []byte(secretBody), Attributes: []consumer.Attribute{
					{Name: consumer.DefaultKeyAttribute, Value: []byte(secretKey)}, {Name: "Bytes", Value: []byte(secretKey), Binary: true},
				}})
				m := r.take(s, 1)[0]
				r.server.Inject(c.fault)
				err := c.fail(t, r, s, m)
				if err == nil {
					t.Fatal("nothing failed")
				}
				if *handle == "" {
					t.Fatal("the receipt handle was not seen")
				}
				for _, text := range []string{err.Error(), r.log.String()} {
					for _, secret := range []string{secretKey, "4111", *handle} {
						if strings.Contains(text, secret) {
							t.Errorf("%q tells %q", text, secret)
						}
					}
				}
			})
		})
	}
}

func (r *rig) purge() {
	r.t.Helper()
	if _, err := r.client.PurgeQueue(r.t.Context(), &sqs.PurgeQueueInput{QueueUrl: &r.queue}); err != nil {
		r.t.Fatal(err)
	}
}

// spyHandle sees the receipt handle in the answers to the sources that are opened after it.
func (r *rig) spyHandle() *string {
	handle := new(string)
	r.answer(func(body string) string {
		if _, after, ok := strings.Cut(body, `"ReceiptHandle":"`); ok {
			*handle, _, _ = strings.Cut(after, `"`)
		}
		return body
	})
	return handle
}

// What is asked for beyond the limit would be handed back at once, and count as a receive each time.
func TestAPollAsksForNoMoreThanItsLimit(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		s := r.open(adapter.Config{})
		r.sendMany(12)
		r.server.ResetCalls()
		for _, limit := range []int{1, 7, 100} {
			if _, err := s.Receive(t.Context(), limit); err != nil {
				t.Fatal(err)
			}
		}
		for i, want := range []float64{1, 7, 10} {
			if got := r.calls("ReceiveMessage")[i]["MaxNumberOfMessages"]; got != want {
				t.Errorf("poll %d asked for %v, want %v", i, got, want)
			}
		}
	})
}
