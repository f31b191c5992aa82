package awstest_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

// polled runs a long poll of 20 seconds beside what during does, and gives what came and how long it took.
func (r *rig) polled(url string, during func()) ([]types.Message, time.Duration) {
	r.Helper()
	start := time.Now()
	var got []types.Message
	var took time.Duration
	done := make(chan struct{})
	go func() {
		defer close(done)
		var err error
		if got, err = r.tryReceive(r.Context(), url, longPoll(20)); err != nil {
			r.Errorf("long poll: %v", err)
		}
		took = time.Since(start)
	}()
	synctest.Wait()
	during()
	<-done
	return got, took
}

func TestLongPollWakes(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		before, during func(r *rig, q string)
		want           time.Duration
		bodies         []string
	}{
		"never, when nothing comes": {want: 20 * time.Second},
		"on a send": {
			during: func(r *rig, q string) { time.Sleep(7 * time.Second); r.send(q, "m") },
			want:   7 * time.Second, bodies: []string{"m"},
		},
		"on the end of a visibility timeout": {
			before: func(r *rig, q string) { r.send(q, "m"); r.one(q, hiddenFor(13)) },
			want:   13 * time.Second, bodies: []string{"m"},
		},
		"on the end of a delay": {
			before: func(r *rig, q string) {
				r.send(q, "m", func(in *sqs.SendMessageInput) { in.DelaySeconds = 11 })
			},
			want: 11 * time.Second, bodies: []string{"m"},
		},
		"on the end of a delay that began during the poll": {
			during: func(r *rig, q string) {
				time.Sleep(3 * time.Second)
				r.send(q, "late", func(in *sqs.SendMessageInput) { in.DelaySeconds = 12 })
				r.send(q, "early", func(in *sqs.SendMessageInput) { in.DelaySeconds = 2 })
			},
			want: 5 * time.Second, bodies: []string{"early"},
		},
		"at once, when there is one": {
			before: func(r *rig, q string) { r.send(q, "m") },
			want:   0, bodies: []string{"m"},
		},
		"not for what is hidden longer": {
			before: func(r *rig, q string) { r.send(q, "m"); r.one(q, hiddenFor(21)) },
			want:   20 * time.Second,
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(r *rig) {
				q := r.queue("q")
				if c.before != nil {
					c.before(r, q)
				}
				got, took := r.polled(q, func() {
					if c.during != nil {
						c.during(r, q)
					}
				})
				r.wantBodies(got, c.bodies...)
				if took != c.want {
					r.Errorf("got the answer after %v, want %v", took, c.want)
				}
			})
		})
	}
}

func TestLongPollWakesOnChangeOfVisibility(t *testing.T) {
	bubble(t, func(r *rig) {
		q := r.queue("q")
		r.send(q, "m")
		m := r.one(q, hiddenFor(3600))
		got, took := r.polled(q, func() {
			time.Sleep(time.Second)
			r.must(r.hide(q, m.ReceiptHandle, 8))
			time.Sleep(time.Second)
			r.must(r.hide(q, m.ReceiptHandle, 4)) // earlier than the poll knew
		})
		r.wantBodies(got, "m")
		if took != 6*time.Second {
			r.Errorf("got the answer after %v, want 6s", took)
		}
	})
}

func TestLongPollFollowsAHeartbeat(t *testing.T) {
	bubble(t, func(r *rig) {
		q := r.queue("q")
		r.send(q, "m")
		m := r.one(q, hiddenFor(5))
		got, took := r.polled(q, func() {
			time.Sleep(4 * time.Second)
			r.must(r.hide(q, m.ReceiptHandle, 100))
		})
		r.wantBodies(got)
		if took != 20*time.Second {
			r.Errorf("got the answer after %v, want 20s", took)
		}
	})
}

func TestWaitTimeOfTheQueue(t *testing.T) {
	bubble(t, func(r *rig) {
		q := r.queue("q", "ReceiveMessageWaitTimeSeconds", "9")
		start := time.Now()
		// The SDK leaves a wait of 0 out, so the queue's applies.
		r.wantBodies(r.receive(q))
		if took := time.Since(start); took != 9*time.Second {
			r.Errorf("waited %v, want the queue's 9s", took)
		}
		start = time.Now()
		r.wantBodies(r.receive(q, longPoll(2)))
		if took := time.Since(start); took != 2*time.Second {
			r.Errorf("waited %v, want the poll's 2s", took)
		}
	})
}

func TestCancelledLongPollTakesNothing(t *testing.T) {
	bubble(t, func(r *rig) {
		q := r.queue("q")
		ctx, cancel := context.WithTimeout(r.Context(), 5*time.Second)
		defer cancel()
		if _, err := r.tryReceive(ctx, q, longPoll(20)); !errors.Is(err, context.DeadlineExceeded) {
			r.Errorf("got %v, want the context's error", err)
		}
		if d := time.Since(mustDeadline(ctx)); d != 0 {
			r.Errorf("returned %v after the deadline", d)
		}
		r.send(q, "m")
		if m := r.one(q); receives(m) != 1 {
			r.Errorf("got receive count %d, want 1: the dead poll took it", receives(m))
		}
	})
}

func mustDeadline(ctx context.Context) time.Time {
	d, _ := ctx.Deadline()
	return d
}

func TestTwoLongPollsShareNoMessage(t *testing.T) {
	bubble(t, func(r *rig) {
		q := r.queue("q")
		var a, b []types.Message
		a, _ = r.polled(q, func() {
			b, _ = r.polled(q, func() { r.send(q, "1"); r.send(q, "2") })
		})
		if len(a)+len(b) != 2 {
			r.Errorf("got %q and %q, want each message once", bodies(a), bodies(b))
		}
	})
}

func TestLongPollLearnsThatTheQueueIsGone(t *testing.T) {
	bubble(t, func(r *rig) {
		q := r.queue("q")
		got := make(chan error, 1)
		go func() {
			_, err := r.tryReceive(r.Context(), q, longPoll(20))
			got <- err
		}()
		synctest.Wait()
		start := time.Now()
		_, err := r.sqs.DeleteQueue(r.Context(), &sqs.DeleteQueueInput{QueueUrl: aws.String(q)})
		r.must(err)
		typed[*types.QueueDoesNotExist](r.T, <-got)
		if took := time.Since(start); took != 0 {
			r.Errorf("the poll learnt of it after %v, want at once", took)
		}
	})
}
