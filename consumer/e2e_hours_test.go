package consumer_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/claimonce/claimonce/awstest"
	"github.com/claimonce/claimonce/consumer"
	"github.com/claimonce/claimonce/dedupe"
)

// SQS hides a message for twelve hours at most. A handler that runs longer goes on under the lease of its record, whoever gets
// the message meanwhile.
func TestHandlerOfThirteenHours(t *testing.T) {
	inCloud(t, func(t *testing.T, r *rig) {
		var log page
		r.cloud.access.Logger = slog.New(slog.NewTextHandler(&log, nil))
		r.cloud.access.Visibility = 10 * time.Minute // for fewer calls
		r.cfg.Ledger.Lease = 10 * time.Minute
		r.handle = func(ctx context.Context, _ *dedupe.Operation, _ order) (string, error) {
			return "done", wait(ctx, 13*time.Hour)
		}
		id := r.cloud.keyed("k", `{"amount":1}`)
		one, two := r.start(), r.start()
		elapse(16 * time.Hour)
		one.stop()
		two.stop()
		r.wantRuns("k", 1)
		r.cloud.wantState(keyOf("k"), dedupe.StateCompleted)
		r.cloud.wantEmpty()
		var busy, replayed int
		for _, e := range r.told(id) {
			switch {
			case e.Outcome == dedupe.OutcomeBusy:
				busy++
			case e.Replayed:
				replayed++
			case e.Disposition == consumer.DeadLettered || e.Disposition == consumer.Left:
				t.Errorf("told %+v", e)
			}
		}
		if busy == 0 || busy > 20 {
			t.Errorf("got %d deliveries while it ran past the limit, want a few", busy)
		}
		if n := strings.Count(log.String(), "can be hidden no longer"); n != 1 {
			t.Errorf("got %d warnings in %s, want one", n, log.String())
		}
	})
}

// SQS-08: a FIFO queue refuses the delete, since the handle has expired, after the work was done: an ack that failed, no attempt,
// and the redelivery is answered from the record.
func TestSQS08_ExpiredHandleAtTheDelete(t *testing.T) {
	inCloud(t, func(t *testing.T, r *rig) {
		c := r.cloud
		c.queue = c.makeQueue("pay.fifo", map[string]string{"FifoQueue": "true", "VisibilityTimeout": "30"})
		r.cfg.Ledger.Window = 30 * 24 * time.Hour
		// No extension gets through, so that the visibility ends while the handler runs.
		refuse := awstest.FailBefore("ChangeMessageVisibilityBatch", http.StatusInternalServerError, "InternalError")
		refuse.Match = func(c awstest.Call) bool { return strings.Contains(string(c.Body), `"VisibilityTimeout":30`) }
		remove := c.server.Inject(refuse)
		r.handle = func(context.Context, *dedupe.Operation, order) (string, error) {
			elapse(31 * time.Second)
			remove()
			return "done", nil
		}
		out, err := c.sqs.SendMessage(t.Context(), &sqs.SendMessageInput{
			QueueUrl: &c.queue, MessageBody: aws.String(`{"amount":1}`), MessageGroupId: aws.String("g"), MessageDeduplicationId: aws.String("d"),
			MessageAttributes: map[string]types.MessageAttributeValue{consumer.DefaultKeyAttribute: stringValue("k")},
		})
		if err != nil {
			t.Fatal(err)
		}
		w := r.start()
		elapse(5 * time.Minute)
		w.stop()
		r.wantRuns("k", 1)
		if rec := c.wantState(keyOf("k"), dedupe.StateCompleted); rec.Attempt != 1 {
			t.Errorf("got attempt %d, want 1: a failed ack is no failed handler", rec.Attempt)
		}
		es := r.told(*out.MessageId)
		if len(es) == 3 && es[0].HandedBack { // received again while the handler ran
			es = es[1:]
		}
		if len(es) != 2 || !es[0].Ran || es[0].Disposition != consumer.Acked || !errors.Is(es[0].Err, consumer.ErrNotHeld) ||
			!es[1].Replayed || es[1].Disposition != consumer.Acked || es[1].Err != nil {
			t.Errorf("told %+v, want an ack that failed for an expired handle, then a replay", es)
		}
		c.wantEmpty()
	})
}

// What waits behind a handler of thirteen hours in its group comes to another worker after twelve. It is not started on the delivery
// that is over, be the handler observed only or not.
func TestNothingStartsAfterTwelveHoursBehindAHead(t *testing.T) {
	for _, observe := range []string{"", "a trial"} {
		t.Run(observe, func(t *testing.T) {
			inFIFOCloud(t, func(t *testing.T, r *rig) {
				r.cfg.ObserveOnly = observe
				r.cloud.access.Visibility = 10 * time.Minute // for fewer calls
				r.cfg.Ledger.Lease = 10 * time.Minute
				r.handle = func(ctx context.Context, op *dedupe.Operation, _ order) (string, error) {
					if op.Key().ID == "a" && r.ran("a") == 1 {
						return "done", wait(ctx, 13*time.Hour)
					}
					return "done", nil
				}
				ids := r.cloud.toGroup("g", "a", "b", "c")
				one := r.start()
				elapse(11*time.Hour + 30*time.Minute)
				two := r.start()
				elapse(2 * time.Hour)
				one.stop()
				two.stop()
				r.cloud.wantEmpty()
				for _, id := range []string{"b", "c"} {
					r.wantRuns(id, 1)
				}
				for _, e := range r.told(ids[1]) {
					if e.Ran && e.Duration > time.Hour {
						t.Errorf("told %+v, want it run on a delivery that is not over", e)
					}
				}
			})
		})
	}
}
