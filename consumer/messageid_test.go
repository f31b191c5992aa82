package consumer_test

import (
	"strings"
	"testing"
	"time"

	"github.com/claimonce/claimonce/consumer"
)

// By name the message id is the key. It recognises a redelivery, and takes a second sending for another operation.
func TestKEY14_MessageIDAsKeyOnlyByName(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.cfg.MessageIDAsKey = true
		first, again := message("a", `{"amount":1}`), message("b", `{"amount":1}`)
		first.Attributes, again.Attributes = nil, nil
		r.queue.send(first)
		r.queue.send(again)
		r.work(time.Second)
		r.wantRuns(first.ID, 1)
		r.wantRuns(again.ID, 1)
		r.wantEmpty()
	})
}

func TestMessageIDAsKeyExcludesAttributes(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.cfg.MessageIDAsKey, r.cfg.OldKeyAttribute = true, "X-Idempotency-Key"
		_, err := consumer.New("refund", r.queue, r.store, consumer.JSON(r.run), r.cfg)
		if err == nil || !strings.Contains(err.Error(), "MessageIDAsKey excludes") {
			t.Errorf("got %v, want an error that names MessageIDAsKey", err)
		}
	})
}
