package sqs_test

import (
	"errors"
	"io"
	"net/http"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	adapter "github.com/claimonce/claimonce/adapters/sqs"
	"github.com/claimonce/claimonce/consumer"
)

// cutter breaks the connection in the middle of the next answer to an action.
type cutter struct {
	base   aws.HTTPClient
	action atomic.Pointer[string]
}

func (c *cutter) next(action string) { c.action.Store(&action) }

func (c *cutter) Do(r *http.Request) (*http.Response, error) {
	resp, err := c.base.Do(r)
	if a := c.action.Load(); err == nil && a != nil && r.Header.Get("X-Amz-Target") == "AmazonSQS."+*a && c.action.CompareAndSwap(a, nil) {
		resp.Body = struct {
			io.Reader
			io.Closer
		}{io.MultiReader(io.LimitReader(resp.Body, 20), iotest.ErrReader(io.ErrUnexpectedEOF)), resp.Body}
	}
	return resp, err
}

func (r *rig) openCut(cfg adapter.Config) (*adapter.Source, *cutter) {
	c := &cutter{base: r.server.Client()}
	r.client = sqs.New(r.client.Options(), func(o *sqs.Options) { o.HTTPClient = c })
	return r.open(cfg), c
}

// An answer that is cut in its body is repeated like one that never came: the poll of a FIFO queue gets the same messages, and what was
// done is not told as having failed.
func TestCutAnswersAreAskedForAgain(t *testing.T) {
	t.Parallel()
	inFIFO(t, func(t *testing.T, r *rig) {
		s, c := r.openCut(adapter.Config{WaitTime: time.Second})
		r.sendTo("g", "first")
		c.next("ReceiveMessage")
		started := time.Now()
		m := r.take(s, 1)[0]
		if waited := time.Since(started); waited >= 30*time.Second || m.Receives != 1 {
			t.Errorf("got it after %v at receive %d, want the repeat to bring it", waited, m.Receives)
		}
		c.next("ChangeMessageVisibilityBatch")
		if err := s.Extend(t.Context(), m); err != nil {
			t.Errorf("extend: %v", err)
		}
		c.next("DeleteMessageBatch")
		if err := s.Ack(t.Context(), m); err != nil {
			t.Errorf("ack: %v", err)
		}
		r.sendTo("g", "second")
		c.next("SendMessage")
		if err := s.DeadLetter(t.Context(), r.take(s, 1)[0], consumer.DeadLetter{Reason: consumer.ReasonFailed}); err != nil {
			t.Errorf("dead letter: %v", err)
		}
		if dead := r.letters(); len(dead) != 1 {
			t.Errorf("got %d dead letters, want one: its repeat has the same deduplication id", len(dead))
		}
	})
}

// On a standard queue a repeat would hide what the first answer brought.
func TestCutReceiveOfAStandardQueueIsNotRepeated(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, r *rig) {
		s, c := r.openCut(adapter.Config{WaitTime: time.Second})
		r.send("body")
		c.next("ReceiveMessage")
		if msgs, err := s.Receive(t.Context(), 10); !errors.Is(err, io.ErrUnexpectedEOF) || len(msgs) > 0 {
			t.Errorf("got %d messages and %v, want the error of the answer that broke off", len(msgs), err)
		}
		if m := r.take(s, 1)[0]; m.Receives != 2 {
			t.Errorf("receive %d, want the second", m.Receives)
		}
	})
}
