package awstest_test

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

func (r *rig) sendBatch(url string, entries ...types.SendMessageBatchRequestEntry) (*sqs.SendMessageBatchOutput, error) {
	return r.sqs.SendMessageBatch(r.Context(), &sqs.SendMessageBatchInput{QueueUrl: &url, Entries: entries})
}

func entry(id, body string) types.SendMessageBatchRequestEntry {
	return types.SendMessageBatchRequestEntry{Id: &id, MessageBody: &body}
}

// entries have the ids and bodies 0, 1, 2 and so on.
func entries(n int) []types.SendMessageBatchRequestEntry {
	var out []types.SendMessageBatchRequestEntry
	for i := range n {
		out = append(out, entry(strconv.Itoa(i), strconv.Itoa(i)))
	}
	return out
}

// failures are id:code:sender's fault.
func failures(list []types.BatchResultErrorEntry) string {
	var out []string
	for _, f := range list {
		out = append(out, *f.Id+":"+*f.Code+":"+strconv.FormatBool(f.SenderFault))
	}
	return strings.Join(out, " ")
}

func TestBatchRules(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	q := r.queue("q")
	_, err := r.sendBatch(q, []types.SendMessageBatchRequestEntry{}...)
	typed[*types.EmptyBatchRequest](t, err)
	_, err = r.sendBatch(q, entries(11)...)
	typed[*types.TooManyEntriesInBatchRequest](t, err)
	_, err = r.sendBatch(q, entry("a", "1"), entry("a", "2"))
	typed[*types.BatchEntryIdsNotDistinct](t, err)
	for _, id := range []string{"", "a b", "a.b", "é", strings.Repeat("a", 81)} {
		_, err = r.sendBatch(q, entry(id, "1"))
		typed[*types.InvalidBatchEntryId](t, err)
	}
	half := strings.Repeat("x", 1<<19)
	_, err = r.sendBatch(q, entry("a", half), entry("b", half), entry("c", "x"))
	typed[*types.BatchRequestTooLong](t, err)
	_, err = r.sendBatch(r.queue("gone")+"x", entry("a", "1"))
	typed[*types.QueueDoesNotExist](t, err)
	r.wantCounts(q, "0/0/0") // a refused batch sends nothing
	if _, err := r.sendBatch(q, entry("a", half), entry(strings.Repeat("b", 80), half)); err != nil {
		t.Errorf("a batch of 1 MiB: %v", err)
	}
}

func TestSendBatchFailsInPart(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	q := r.queue("q")
	out, err := r.sendBatch(q, entry("a", "1"), entry("b", "\x01"), entry("c", ""), entry("d", "4"))
	r.must(err)
	if got, want := failures(out.Failed), "b:InvalidMessageContents:true c:MissingParameter:true"; got != want {
		t.Errorf("got failures %s, want %s", got, want)
	}
	if len(out.Successful) != 2 || *out.Successful[0].Id != "a" || *out.Successful[1].Id != "d" {
		t.Errorf("got successes %v, want a and d", out.Successful)
	}
	r.wantBodies(r.receive(q), "1", "4")
}

func TestSendBatchTakesDelaysAndAttributesOfEachEntry(t *testing.T) {
	bubble(t, func(r *rig) {
		q := r.queue("q")
		late := entry("late", "late")
		late.DelaySeconds = 30
		keyed := entry("keyed", "keyed")
		keyed.MessageAttributes = map[string]types.MessageAttributeValue{"k": text("v")}
		out, err := r.sendBatch(q, late, keyed)
		r.must(err)
		for i, s := range out.Successful {
			if (s.MD5OfMessageAttributes != nil) != (i == 1) {
				r.Errorf("entry %s: got attributes' digest %v", *s.Id, s.MD5OfMessageAttributes)
			}
		}
		if m := r.one(q); *m.MessageAttributes["k"].StringValue != "v" || *m.MessageId != *out.Successful[1].MessageId {
			r.Errorf("got %v, want the keyed message %v", m, out.Successful[1])
		}
		time.Sleep(30 * time.Second)
		r.wantBodies(r.receive(q, atMost(1)), "late")
	})
}

func TestDeleteBatchFailsInPart(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	q := r.queue("q")
	_, err := r.sendBatch(q, entries(3)...)
	r.must(err)
	got := r.receive(q)
	r.wantBodies(got, "0", "1", "2")
	del := func(id string, handle *string) types.DeleteMessageBatchRequestEntry {
		return types.DeleteMessageBatchRequestEntry{Id: &id, ReceiptHandle: handle}
	}
	out, err := r.sqs.DeleteMessageBatch(t.Context(), &sqs.DeleteMessageBatchInput{QueueUrl: &q, Entries: []types.DeleteMessageBatchRequestEntry{
		del("a", got[0].ReceiptHandle), del("b", aws.String("garbage")), del("c", got[2].ReceiptHandle), del("d", got[2].ReceiptHandle),
	}})
	r.must(err)
	if got, want := failures(out.Failed), "b:ReceiptHandleIsInvalid:true"; got != want {
		t.Errorf("got failures %s, want %s", got, want)
	}
	if len(out.Successful) != 3 || *out.Successful[2].Id != "d" {
		t.Errorf("got successes %v, want a, c and d", out.Successful)
	}
	r.wantCounts(q, "0/1/0")
	_, err = r.sqs.DeleteMessageBatch(t.Context(), &sqs.DeleteMessageBatchInput{QueueUrl: &q, Entries: []types.DeleteMessageBatchRequestEntry{
		del("a", got[1].ReceiptHandle), del("a", got[1].ReceiptHandle),
	}})
	typed[*types.BatchEntryIdsNotDistinct](t, err)
	r.wantCounts(q, "0/1/0")
}

func TestChangeVisibilityBatchFailsInPart(t *testing.T) {
	bubble(t, func(r *rig) {
		q := r.queue("q")
		_, err := r.sendBatch(q, entries(3)...)
		r.must(err)
		got := r.receive(q, hiddenFor(10))
		r.must(r.delete(q, got[1].ReceiptHandle))
		change := func(id string, handle *string, seconds int32) types.ChangeMessageVisibilityBatchRequestEntry {
			return types.ChangeMessageVisibilityBatchRequestEntry{Id: &id, ReceiptHandle: handle, VisibilityTimeout: seconds}
		}
		time.Sleep(time.Second)
		out, err := r.sqs.ChangeMessageVisibilityBatch(r.Context(), &sqs.ChangeMessageVisibilityBatchInput{
			QueueUrl: &q, Entries: []types.ChangeMessageVisibilityBatchRequestEntry{
				change("a", got[0].ReceiptHandle, 100), change("b", got[1].ReceiptHandle, 100),
				change("c", aws.String("garbage"), 100), change("d", got[2].ReceiptHandle, 43200),
			},
		})
		r.must(err)
		want := "b:InvalidParameterValue:true c:ReceiptHandleIsInvalid:true d:InvalidParameterValue:true"
		if got := failures(out.Failed); got != want {
			r.Errorf("got failures %s, want %s", got, want)
		}
		if len(out.Successful) != 1 || *out.Successful[0].Id != "a" {
			r.Errorf("got successes %v, want a", out.Successful)
		}
		time.Sleep(9 * time.Second)
		r.wantBodies(r.receive(q), "2") // its change was refused, that of 0 was not
	})
}
