package awstest_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	ddbtypes "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/claimonce/claimonce/awstest"
)

// withoutRetries gives clients that try once, so that a test sees each answer.
func (r *rig) withoutRetries() {
	r.cfg.Retryer = func() aws.Retryer { return aws.NopRetryer{} }
	r.sqs, r.dynamo = sqs.NewFromConfig(r.cfg), dynamodb.NewFromConfig(r.cfg)
}

func TestFailBeforeAppliesNothing(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.withoutRetries()
	r.table("tbl")
	r.server.Inject(awstest.FailBefore("PutItem", 500, "InternalServerError").Once())
	typed[*ddbtypes.InternalServerError](t, r.put(t.Context(), "tbl", "k"))
	if r.has("tbl", "k", true) {
		t.Error("the item was written")
	}
	r.must(r.put(t.Context(), "tbl", "k"))

	q := r.queue("q")
	r.server.Inject(awstest.FailBefore("SendMessage", 400, "QueueDoesNotExist").Once())
	_, err := r.trySend(q, "m")
	typed[*types.QueueDoesNotExist](t, err)
	r.server.Inject(awstest.FailBefore("SendMessage", http.StatusForbidden, "AccessDeniedException").Once())
	_, err = r.trySend(q, "m")
	coded(t, err, "AccessDeniedException", "injected")
	r.wantCounts(q, "0/0/0")
}

func TestFailAfterAppliesAll(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.withoutRetries()
	r.table("tbl")
	r.server.Inject(awstest.FailAfter("PutItem", 500, "InternalServerError").Once())
	typed[*ddbtypes.InternalServerError](t, r.put(t.Context(), "tbl", "k"))
	if !r.has("tbl", "k", true) {
		t.Error("the item was not written")
	}
}

func TestFaultWithFields(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.table("tbl")
	r.server.Inject(awstest.FailBefore("PutItem", 400, "ConditionalCheckFailedException").With(map[string]any{
		"Item": map[string]any{"pk": map[string]any{"S": "holder"}},
	}))
	e, ok := errors.AsType[*ddbtypes.ConditionalCheckFailedException](r.put(t.Context(), "tbl", "k"))
	if !ok || e.Item["pk"].(*ddbtypes.AttributeValueMemberS).Value != "holder" {
		t.Errorf("got %v, want a failed condition with the item", e)
	}
}

// eachTransport runs a test over memory and over a socket, without retries of the SDK.
func eachTransport(t *testing.T, f func(t *testing.T, r *rig)) {
	t.Helper()
	t.Parallel()
	t.Run("memory", func(t *testing.T) {
		t.Parallel()
		r := newRig(t)
		r.withoutRetries()
		f(t, r)
	})
	t.Run("socket", func(t *testing.T) {
		t.Parallel()
		r := overSocket(t)
		r.withoutRetries()
		f(t, r)
	})
}

func TestDropAnswerAppliesAndBreaksTheConnection(t *testing.T) {
	eachTransport(t, func(t *testing.T, r *rig) {
		t.Helper()
		r.table("tbl")
		r.server.Inject(awstest.DropAnswer("PutItem").Once())
		broken(t, r.put(t.Context(), "tbl", "k"))
		if !r.has("tbl", "k", true) {
			t.Error("the item was not written")
		}
		q := r.queue("q")
		r.send(q, "m")
		r.server.Inject(awstest.DropAnswer("ReceiveMessage").Once())
		_, err := r.tryReceive(t.Context(), q)
		broken(t, err)
		r.wantCounts(q, "0/1/0") // received by nobody
		r.must(r.put(t.Context(), "tbl", "k2"))
	})
}

func TestDropRequestAppliesNothing(t *testing.T) {
	eachTransport(t, func(t *testing.T, r *rig) {
		t.Helper()
		r.table("tbl")
		r.server.Inject(awstest.DropRequest("PutItem").Once())
		broken(t, r.put(t.Context(), "tbl", "k"))
		if r.has("tbl", "k", true) {
			t.Error("the item was written")
		}
	})
}

// broken: no answer of the service came, and the SDK would try again.
func broken(t *testing.T, err error) {
	t.Helper()
	if err == nil {
		t.Error("got an answer, want a broken connection")
		return
	}
	if strings.Contains(err.Error(), "api error") || !retry.NewStandard().IsErrorRetryable(err) {
		t.Errorf("got %v, want a broken connection that the SDK takes for worth another try", err)
	}
}

// The SDK repeats a write whose answer was lost: the server sees it twice, the caller once.
func TestSDKRepeatsADroppedCall(t *testing.T) {
	bubble(t, func(r *rig) {
		q := r.queue("q")
		r.server.Inject(awstest.DropAnswer("SendMessage").Once())
		r.send(q, "m")
		if n := r.server.Count("SendMessage"); n != 2 {
			r.Errorf("got %d calls, want 2", n)
		}
		r.wantCounts(q, "2/0/0")
	})
}

func TestThrottleIsWhatTheServiceSays(t *testing.T) {
	bubble(t, func(r *rig) {
		r.table("tbl")
		q := r.queue("q")
		remove := r.server.Inject(awstest.Throttle(""))
		err := r.put(r.Context(), "tbl", "k")
		typed[*ddbtypes.ProvisionedThroughputExceededException](r.T, err)
		_, sendErr := r.trySend(q, "m")
		coded(r.T, sendErr, "ThrottlingException", "")
		for _, err := range []error{err, sendErr} {
			if !retry.NewStandard().IsErrorRetryable(err) {
				r.Errorf("the SDK does not repeat %v", err)
			}
		}
		if n := r.server.Count("PutItem"); n < 3 {
			r.Errorf("got %d tries, want the SDK's 3 or more", n)
		}
		remove()
		once := r.server.Inject(awstest.Throttle("PutItem").Once())
		defer once()
		r.must(r.put(r.Context(), "tbl", "k"))
	})
}

func TestDelayWaitsBeforeAndAfter(t *testing.T) {
	bubble(t, func(r *rig) {
		r.table("tbl")
		r.server.Inject(awstest.Delay("PutItem", 3*time.Second, 4*time.Second).Once())
		start := time.Now()
		done := make(chan error, 1)
		go func() { done <- r.put(r.Context(), "tbl", "k") }()
		time.Sleep(3*time.Second - time.Millisecond)
		before := r.has("tbl", "k", true)
		time.Sleep(2 * time.Millisecond)
		if after := r.has("tbl", "k", true); before || !after {
			r.Errorf("written before 3s: %v, after: %v, want only after", before, after)
		}
		if err := <-done; err != nil || time.Since(start) != 7*time.Second {
			r.Errorf("got %v after %v, want an answer after 7s", err, time.Since(start))
		}
	})
}

func TestDelayAndAClientThatGivesUp(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		before, after time.Duration
		applied       bool
	}{
		"before it is applied": {time.Minute, 0, false},
		"after it was applied": {0, time.Minute, true},
		"in the second wait":   {time.Second, time.Minute, true},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(r *rig) {
				r.table("tbl")
				r.server.Inject(awstest.Delay("PutItem", c.before, c.after))
				ctx, cancel := context.WithTimeout(r.Context(), 10*time.Second)
				defer cancel()
				start := time.Now()
				if err := r.put(ctx, "tbl", "k"); !errors.Is(err, context.DeadlineExceeded) {
					r.Errorf("got %v, want the context's error", err)
				}
				if took := time.Since(start); took != 10*time.Second {
					r.Errorf("returned after %v, want 10s", took)
				}
				time.Sleep(time.Hour)
				if got := r.has("tbl", "k", true); got != c.applied {
					r.Errorf("applied %v, want %v", got, c.applied)
				}
			})
		})
	}
}

func TestHooksRunAroundACall(t *testing.T) {
	bubble(t, func(r *rig) {
		r.table("tbl")
		var seen []bool
		look := func(context.Context, awstest.Call) { seen = append(seen, r.has("tbl", "k", true)) } // a hook may call the server
		r.server.Inject(awstest.Fault{Operation: "PutItem", Before: look, After: look})
		r.must(r.put(r.Context(), "tbl", "k"))
		if len(seen) != 2 || seen[0] || !seen[1] {
			r.Errorf("the item was there before and after: %v, want after", seen)
		}
		ctx, cancel := context.WithCancel(r.Context())
		r.server.Inject(awstest.Fault{Operation: "DeleteItem", Before: func(context.Context, awstest.Call) { cancel() }})
		_, err := r.dynamo.DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: aws.String("tbl"), Key: item("k")})
		if !errors.Is(err, context.Canceled) || !r.has("tbl", "k", true) {
			r.Errorf("got %v, want the context's error and the item", err)
		}
	})
}

func TestFailEntries(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	q := r.queue("q")
	r.server.Inject(awstest.FailEntries("SendMessageBatch", false, 1, 3).Once())
	out, err := r.sendBatch(q, entries(4)...)
	r.must(err)
	if got, want := failures(out.Failed), "1:InternalError:false 3:InternalError:false"; got != want {
		t.Errorf("got failures %s, want %s", got, want)
	}
	if len(out.Successful) != 2 || *out.Successful[0].Id != "0" || *out.Successful[1].Id != "2" {
		t.Errorf("got successes %v, want 0 and 2", out.Successful)
	}
	r.wantBodies(r.receive(q), "0", "2")

	// All of them, the sender's fault; and one that fails by itself among them.
	r.server.Inject(awstest.FailEntries("SendMessageBatch", true, 0).Once())
	out, err = r.sendBatch(q, entry("a", "1"))
	r.must(err)
	if got, want := failures(out.Failed), "a:InvalidParameterValue:true"; got != want || len(out.Successful) != 0 {
		t.Errorf("got failures %s, successes %v, want %s alone", got, out.Successful, want)
	}
	r.server.Inject(awstest.FailEntries("SendMessageBatch", false, 0).Once())
	out, err = r.sendBatch(q, entry("a", "1"), entry("b", "\x01"), entry("c", "3"))
	r.must(err)
	if got := failures(out.Failed); !strings.Contains(got, "a:InternalError:false") || !strings.Contains(got, "b:InvalidMessageContents:true") || len(out.Failed) != 2 {
		t.Errorf("got failures %s, want a's and b's", got)
	}
	r.wantBodies(r.receive(q), "3")
}

// A fault that can do nothing says so, or a test with it would pass for no reason.
func TestFailEntriesNeedsABatch(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	q := r.queue("q")
	r.server.Inject(awstest.FailEntries("SendMessage", false, 0))
	_, err := r.trySend(q, "m")
	coded(t, err, "InvalidFault", "SendMessage")
	r.wantCounts(q, "0/0/0")
}

func TestFaultsHitInTheOrderOfTheirInjection(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.withoutRetries()
	r.table("tbl")
	inject := func(code string, times int) func() {
		f := awstest.FailBefore("PutItem", 400, code)
		f.Times = times
		return r.server.Inject(f)
	}
	inject("First", 2)
	remove := inject("Second", 0)
	inject("Third", 1)
	for _, want := range []string{"First", "First", "Second", "Second"} {
		coded(t, r.put(t.Context(), "tbl", "k"), want, "")
	}
	remove()
	remove() // once more does nothing
	coded(t, r.put(t.Context(), "tbl", "k"), "Third", "")
	r.must(r.put(t.Context(), "tbl", "k"))
}

func TestFaultHitsWhatItMatches(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.withoutRetries()
	r.table("tbl")
	f := awstest.FailBefore("PutItem", 400, "Injected").Once()
	var asked []string
	f.Match = func(c awstest.Call) bool {
		asked = append(asked, c.Service+" "+c.Operation)
		return strings.Contains(string(c.Body), `"bad"`)
	}
	r.server.Inject(f)
	r.must(r.put(t.Context(), "tbl", "good")) // does not use up its one time
	if r.has("tbl", "bad", true) {
		t.Error("there is an item of that name")
	}
	coded(t, r.put(t.Context(), "tbl", "bad"), "Injected", "")
	r.must(r.put(t.Context(), "tbl", "bad"))
	if got, want := strings.Join(asked, ", "), "dynamodb PutItem, dynamodb PutItem"; got != want {
		t.Errorf("asked about %s, want %s", got, want)
	}
}

// A Match function can end its own fault and begin another, which hits from the next call on.
func TestFaultIsChangedWhileItMatches(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.withoutRetries()
	r.table("tbl")
	var remove func()
	f := awstest.FailBefore("PutItem", 400, "First")
	f.Match = func(awstest.Call) bool {
		remove()
		r.server.Inject(awstest.FailBefore("PutItem", 400, "Second"))
		return true
	}
	remove = r.server.Inject(f)
	r.must(r.put(t.Context(), "tbl", "k")) // removed before it hit
	coded(t, r.put(t.Context(), "tbl", "k"), "Second", "")
}

func TestFaultHitsExactlyItsTimesUnderConcurrency(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.withoutRetries()
	r.table("tbl")
	f := awstest.FailBefore("PutItem", 400, "Injected")
	f.Times = 10
	matched := 0 // Match functions run one at a time
	f.Match = func(awstest.Call) bool { matched++; return true }
	r.server.Inject(f)
	var failed atomic.Int32
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 20 {
				if r.put(t.Context(), "tbl", "k") != nil {
					failed.Add(1)
				}
				r.server.Inject(awstest.FailBefore("None", 400, "X"))()
			}
		})
	}
	wg.Wait()
	if failed.Load() != 10 || matched != 10 {
		t.Errorf("got %d failures of %d matches, want 10", failed.Load(), matched)
	}
}
