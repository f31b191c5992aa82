package sqs_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	adapter "github.com/claimonce/claimonce/adapters/sqs"
	"github.com/claimonce/claimonce/awstest"
	"github.com/claimonce/claimonce/consumer"
)

// Too many messages in flight: an error that time mends, and no message lost.
func TestOverLimitIsExplainedAndPasses(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		s := r.open(adapter.Config{})
		r.send("m")
		for _, code := range []string{"OverLimit", "com.amazonaws.sqs#OverLimit", "AWS.SimpleQueueService.OverLimit"} {
			r.server.Inject(awstest.FailBefore("ReceiveMessage", http.StatusForbidden, code).Once())
			_, err := s.Receive(t.Context(), 10)
			if err == nil || errors.Is(err, consumer.ErrSetup) || !strings.Contains(err.Error(), "in flight") || !strings.Contains(err.Error(), "higher quota") {
				t.Errorf("%s: got %v, want what it means, and that it needs nobody", code, err)
			}
		}
		if m := r.take(s, 1)[0]; m.Receives != 1 {
			t.Errorf("received %d times, want once", m.Receives)
		}
	})
}
