package awstest_test

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

const mebibyte = 1 << 20

func TestSizeOfAMessage(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	q := r.queue("q")
	r.send(q, strings.Repeat("x", mebibyte))
	_, err := r.trySend(q, strings.Repeat("x", mebibyte+1))
	coded(t, err, "InvalidParameterValue", "shorter than 1048576 bytes")
	// Name, type and value count: 1 + 6 + 3 bytes.
	r.send(q, strings.Repeat("x", mebibyte-10), with(values{"a": text("bcd")}))
	_, err = r.trySend(q, strings.Repeat("x", mebibyte-9), with(values{"a": text("bcd")}))
	coded(t, err, "InvalidParameterValue", "shorter than")
	// Bytes count, not characters.
	_, err = r.trySend(q, strings.Repeat("é", mebibyte/2+1))
	coded(t, err, "InvalidParameterValue", "shorter than")

	small := r.queue("small", "MaximumMessageSize", "1024")
	r.send(small, strings.Repeat("x", 1024))
	_, err = r.trySend(small, strings.Repeat("x", 1025))
	coded(t, err, "InvalidParameterValue", "shorter than 1024 bytes")
}

func TestCharactersOfABody(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	q := r.queue("q")
	for _, body := range []string{"\x00", "a\x0bb", "\x1f", "\ufffe", "\uffff"} {
		_, err := r.trySend(q, body)
		typed[*types.InvalidMessageContents](t, err)
	}
	_, err := r.trySend(q, "")
	coded(t, err, "MissingParameter", "MessageBody")
	want := "tab\t lf\n cr\r é \u007f \ufffd 🎉"
	r.send(q, want)
	r.wantBodies(r.receive(q), want)
}

func TestLimitsOfAReceive(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	q := r.queue("q")
	for range 12 {
		r.send(q, "m")
	}
	for name, change := range map[string]receiving{
		"MaxNumberOfMessages 11":  atMost(11),
		"MaxNumberOfMessages -1":  atMost(-1),
		"WaitTimeSeconds 21":      longPoll(21),
		"WaitTimeSeconds -1":      longPoll(-1),
		"VisibilityTimeout 43201": hiddenFor(43201),
		"VisibilityTimeout -1":    hiddenFor(-1),
	} {
		_, err := r.tryReceive(t.Context(), q, change)
		parameter, v, _ := strings.Cut(name, " ")
		coded(t, err, "InvalidParameterValue", "Value "+v+" for parameter "+parameter)
	}
	if got := r.receive(q, atMost(0)); len(got) != 1 { // the SDK leaves 0 out; one is the default
		t.Errorf("got %d messages by default, want 1", len(got))
	}
	if got := r.receive(q); len(got) != 10 {
		t.Errorf("got %d messages, want 10", len(got))
	}
}

func delayed(seconds int32) func(*sqs.SendMessageInput) {
	return func(in *sqs.SendMessageInput) { in.DelaySeconds = seconds }
}

func TestDelay(t *testing.T) {
	bubble(t, func(r *rig) {
		q := r.queue("q", "DelaySeconds", "60")
		r.send(q, "queue's")
		r.send(q, "own", delayed(900))
		r.wantCounts(q, "0/0/2")
		time.Sleep(59 * time.Second)
		r.wantBodies(r.receive(q))
		time.Sleep(time.Second)
		r.wantBodies(r.receive(q), "queue's")
		r.wantCounts(q, "0/1/1")
		time.Sleep(14 * time.Minute)
		r.wantBodies(r.receive(q), "queue's", "own")
		for _, seconds := range []int32{901, -1} {
			_, err := r.trySend(q, "m", delayed(seconds))
			coded(r.T, err, "InvalidParameterValue", "Value "+strconv.Itoa(int(seconds))+" for parameter DelaySeconds")
		}
	})
}

func TestRetention(t *testing.T) {
	bubble(t, func(r *rig) {
		q := r.queue("q", "MessageRetentionPeriod", "3600", "VisibilityTimeout", "43200")
		r.send(q, "in flight")
		m := r.one(q)
		r.send(q, "visible")
		time.Sleep(time.Hour - time.Second)
		r.send(q, "younger")
		r.wantCounts(q, "2/1/0")
		time.Sleep(time.Second)
		r.wantCounts(q, "1/0/0")
		r.wantBodies(r.receive(q, hiddenFor(1)), "younger")
		coded(r.T, r.hide(q, m.ReceiptHandle, 1), "InvalidParameterValue", "does not exist")
		r.must(r.delete(q, m.ReceiptHandle))
		// It applies to what is in the queue already.
		r.must(r.setAttributes(q, "MessageRetentionPeriod", "60"))
		time.Sleep(59 * time.Second)
		r.wantBodies(r.receive(q))
	})
}

func TestRetentionByDefaultIsFourDays(t *testing.T) {
	bubble(t, func(r *rig) {
		q := r.queue("q")
		r.send(q, "m")
		time.Sleep(4*24*time.Hour - time.Second)
		r.one(q, hiddenFor(0))
		time.Sleep(time.Second)
		r.wantBodies(r.receive(q))
	})
}
