package main

import (
	"errors"
	"net/http"
	"testing"

	"github.com/claimonce/claimonce/adapters/sqs"
	"github.com/claimonce/claimonce/awstest"
	"github.com/claimonce/claimonce/consumer"
)

// TestSameRuleAsTheAdapter: the checks judge refusals by a copy of the adapter's rule, which must not fall behind it.
func TestSameRuleAsTheAdapter(t *testing.T) {
	t.Parallel()
	for code, texts := range map[string][]string{
		"ReceiptHandleIsInvalid": {"The input receipt handle is invalid."},
		"MessageNotInflight":     {"The specified message isn't in flight."},
		"InvalidParameterValue": {
			"Value AQEB for parameter ReceiptHandle is invalid. Reason: Message does not exist or is not available for visibility timeout change.",
			"Value AQEB for parameter ReceiptHandle is invalid. Reason: The receipt handle has expired.",
			"Value 43200 for parameter VisibilityTimeout is invalid. Reason: Total VisibilityTimeout for the message is beyond the limit [43200 seconds].",
		},
		"AccessDenied": {"Access to the receipt handle is denied."}, "QueueDoesNotExist": {"The specified queue does not exist."},
	} {
		for _, said := range texts {
			t.Run(code+" "+said, func(t *testing.T) {
				bubble(t, func(r *rig) {
					w := r.world()
					q, err := w.queue(r.Context())
					if err != nil {
						r.Fatal(err)
					}
					if _, err := q.send(r.Context(), "x"); err != nil {
						r.Fatal(err)
					}
					source, err := sqs.New(r.sqs, q.url, sqs.Config{})
					if err != nil {
						r.Fatal(err)
					}
					ms, err := source.Receive(r.Context(), 1)
					if err != nil {
						r.Fatal(err)
					}
					for _, call := range []string{"ChangeMessageVisibility", "ChangeMessageVisibilityBatch"} {
						r.server.Inject(awstest.FailBefore(call, http.StatusBadRequest, code).With(map[string]any{"message": said}))
					}
					mine := handleIsOver(q.hide(r.Context(), message{ReceiptHandle: new("x")}, 10))
					adapters := errors.Is(source.Extend(r.Context(), ms[0]), consumer.ErrNotHeld)
					if mine != adapters {
						r.Errorf("the checks take it for a lost message: %v, the adapter does: %v", mine, adapters)
					}
				})
			})
		}
	}
}
