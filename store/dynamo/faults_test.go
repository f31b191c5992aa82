package dynamo_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/claimonce/claimonce/awstest"
	"github.com/claimonce/claimonce/dedupe"
	"github.com/claimonce/claimonce/store/dynamo"
)

// ofRecords are the puts of records, which have a condition, and not those of results apart.
func ofRecords(c awstest.Call) bool { return strings.Contains(string(c.Body), "ConditionExpression") }

// ofResults are the reads of results apart.
func ofResults(c awstest.Call) bool { return strings.Contains(string(c.Body), `{"id":{"S":"r`) }

// The first try lands, its answer is lost, and the SDK's repeat is refused by it.
func TestDDB01_ARepeatRefusedByItsOwnFirstTryIsSuccess(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		l, key, runs := newLedger(t, r.store, dedupe.Config{}), keyOf(t), 0
		drop := func(operation string) {
			f := awstest.DropAnswer(operation).Once()
			f.Match = ofRecords
			r.server.Inject(f)
		}
		drop("PutItem")
		var a dedupe.Answer
		r.requests(t, "claim", 2, func() { a = claim(t, l, key, `{}`) })
		if a.Outcome != dedupe.OutcomeClaimed {
			t.Fatalf("the claim is %v, want claimed: it met itself", a.Outcome)
		}
		drop("PutItem")
		var set dedupe.Settlement
		r.requests(t, "completion with a result apart", 1+2, func() { // and what was just written is not read back
			set = a.Operation.Run(t.Context(), func(context.Context, *dedupe.Operation) (dedupe.Result, error) {
				runs++
				return dedupe.Result{Body: make([]byte, 3000)}, nil
			}, dedupe.RunOptions{})
		})
		if set.State != dedupe.StateCompleted || set.Outcome != dedupe.OutcomeApplied || runs != 1 {
			t.Errorf("settled as %v, %v after %d runs, want completed and applied after one", set.State, set.Outcome, runs)
		}
		want(t, l, key, `{}`, dedupe.OutcomeReplay)
	})
}

// The same below the ledger: the store reports the conflict as it is, and only once it is known what is stored.
func TestDDB01_TheStoreShowsTheCallerItsOwnRevision(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		rec := sample(t, "claimed")
		r.server.Inject(awstest.DropAnswer("PutItem").Once())
		current, err := r.store.Swap(t.Context(), rec.Key, dedupe.AbsentAt(noon), rec)
		if !errors.Is(err, dedupe.ErrConflict) || current.Revision != rec.Revision {
			t.Errorf("got %q, %v, want a conflict that shows %q", current.Revision, err, rec.Revision)
		}
	})
}

func TestDDB04_ExpiredRecordIsClaimedAnewByOne(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		l, key := newLedger(t, r.store, dedupe.Config{}), keyOf(t)
		op := want(t, l, key, `{"n":1}`, dedupe.OutcomeClaimed).Operation
		run(t, op, dedupe.Result{}, nil)
		stored := r.load(t, key)
		pass(time.Until(stored.ExpiresAt) + 6*time.Second) // beyond the skew margin; TTL has not deleted it
		if r.item(t, key.StoreID()) == nil {
			t.Fatal("the expired item is gone")
		}
		if rec, err := l.Load(t.Context(), key); err != nil || rec.State != dedupe.StateAbsent {
			t.Errorf("Load finds %v, %v, want nothing: it has expired", rec.State, err)
		}
		var claimed, busy atomic.Int32
		var wg sync.WaitGroup
		for range 2 {
			wg.Go(func() {
				a, err := newLedger(t, r.again(t), dedupe.Config{}).Claim(t.Context(), request(t, l, key, `{"n":2}`))
				switch {
				case err == nil && a.Outcome == dedupe.OutcomeClaimed:
					claimed.Add(1)
				case err == nil && a.Outcome == dedupe.OutcomeBusy:
					busy.Add(1)
				}
			})
		}
		wg.Wait()
		if claimed.Load() != 1 || busy.Load() != 1 {
			t.Errorf("%d claimed and %d are told that it is busy, want one each", claimed.Load(), busy.Load())
		}
		if rec := r.load(t, key); rec.Owner == stored.Owner || rec.Result != nil || rec.Attempt != 1 {
			t.Errorf("something of the expired record is left: %+v", rec)
		}
	})
}

func TestDDB05_StoredExpiryIsTheWindowInSeconds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		l, key := newLedger(t, r.store, dedupe.Config{Window: 24 * time.Hour}), keyOf(t)
		pass(300 * time.Millisecond)
		run(t, want(t, l, key, `{}`, dedupe.OutcomeClaimed).Operation, dedupe.Result{}, nil)
		at := r.load(t, key).ExpiresAt
		least, most := time.Now().Add(24*time.Hour), time.Now().Add(24*time.Hour+l.Rules().SkewMargin+time.Second)
		if at.Before(least) || at.After(most) {
			t.Errorf("expires at %v, want between %v and %v", at, least, most)
		}
		raw, err := json.Marshal(wireValue(t, r.item(t, key.StoreID())["expires_at"]))
		if got, want := string(raw), fmt.Sprintf(`{"N":"%d"}`, at.Unix()); err != nil || got != want {
			t.Errorf("the item has expires_at %s, %v, want %s", got, err, want)
		}
	})
}

func TestDDB17_StaleReadsNeverHideTheWinner(t *testing.T) {
	t.Parallel()
	for name, brings := range map[string]bool{"the refusal brings the item": true, "it does not": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t)
				r.server.StaleReads(500 * time.Millisecond)
				store := dedupe.Store(r.store)
				if !brings {
					store = r.silent(t)
				}
				l, key := newLedger(t, store, dedupe.Config{}), keyOf(t)
				op := want(t, l, key, `{}`, dedupe.OutcomeClaimed).Operation
				pass(10 * time.Millisecond)
				want(t, l, key, `{}`, dedupe.OutcomeBusy)
				run(t, op, dedupe.Result{Body: make([]byte, 3000)}, nil)
				if a := want(t, l, key, `{}`, dedupe.OutcomeReplay); a.Record.Result.Unavailable {
					t.Error("the result apart was read from the past")
				}
				if rec, err := l.Load(t.Context(), key); err != nil || rec.State != dedupe.StateCompleted {
					t.Errorf("Load finds %v, %v, want completed", rec.State, err)
				}
			})
		})
	}
}

func TestDDB19_ThrottledOperationsAreAllDoneOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		l := newLedger(t, r.store, dedupe.Config{})
		var calls int
		var mu sync.Mutex
		f := awstest.Throttle("PutItem")
		f.Match = func(awstest.Call) bool {
			mu.Lock()
			defer mu.Unlock()
			calls++
			return calls%40 < 12 // as many in a row as the SDK's and the ledger's tries, and those of giving up
		}
		remove := r.server.Inject(f)
		ids := map[string]bool{}
		for i := range 10_000 {
			ids[dedupe.Key{Tenant: "acme", Operation: "refund", ID: fmt.Sprint("k-", i)}.StoreID()] = true
		}
		if len(ids) != 10_000 {
			t.Errorf("10,000 operations share %d partition keys", len(ids))
		}
		const operations = 200
		runs, refused := map[string]int{}, 0
		for i := range operations {
			key := dedupe.Key{Tenant: "acme", Operation: "refund", ID: fmt.Sprint("k-", i)}
			for tries := 0; runs[key.ID] == 0; tries++ { // the message comes back
				if tries > 20 {
					t.Fatalf("%s was not done in %d tries", key.ID, tries)
				}
				a, err := l.Claim(t.Context(), request(t, l, key, `{}`))
				if err != nil {
					refused++
					pass(time.Second)
					continue
				}
				if a.Outcome != dedupe.OutcomeClaimed || a.Record.Attempt != 1 {
					t.Fatalf("%v, attempt %d, want claimed as the first attempt", a.Outcome, a.Record.Attempt)
				}
				a.Operation.Run(t.Context(), func(context.Context, *dedupe.Operation) (dedupe.Result, error) {
					runs[key.ID]++
					return dedupe.Result{}, nil
				}, dedupe.RunOptions{})
			}
		}
		remove()
		if refused == 0 || len(runs) != operations {
			t.Errorf("%d claims were refused and %d operations done, want some and all", refused, len(runs))
		}
		for id, n := range runs {
			if n != 1 {
				t.Errorf("%s ran %d times", id, n)
			}
		}
	})
}

// One worker, one process: only the token tells a stalled attempt from its own successor.
func TestDDB20_StalledAttemptIsRefusedByItsSuccessor(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		l, key := newLedger(t, r.store, dedupe.Config{OnAbandoned: dedupe.RerunUnlessBegun}), keyOf(t)
		first := want(t, l, key, `{}`, dedupe.OutcomeClaimed).Operation
		pass(2 * time.Minute)
		second := want(t, l, key, `{}`, dedupe.OutcomeClaimed).Operation
		before := r.load(t, key)
		if _, err := first.Begin(t.Context(), "charge"); !errors.Is(err, dedupe.ErrLeaseLost) {
			t.Errorf("its Begin: %v, want lease lost", err)
		}
		for name, herr := range map[string]error{"completion": nil, "failure": dedupe.Permanent(errPlain), "release": dedupe.NotCommitted(errPlain)} {
			if set := settleOnly(t, first, herr); set.Err == nil {
				t.Errorf("its %s was accepted: %v", name, set.Outcome)
			}
		}
		r.wantStored(t, key, before)
		if first.Fence() >= second.Fence() {
			t.Errorf("the fence went from %d to %d, want it to rise", first.Fence(), second.Fence())
		}
		if set := run(t, second, dedupe.Result{Body: []byte("second")}, nil); set.State != dedupe.StateCompleted {
			t.Errorf("the successor settled as %v, %v", set.State, set.Err)
		}
	})
}

func TestLIF18_LateOutcomeNeverReplacesTheSuccessors(t *testing.T) {
	t.Parallel()
	for name, size := range map[string]int{"results inside": 10, "results apart": 5000} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { lateOutcome(t, newRig(t), size) })
		})
	}
}

func lateOutcome(t *testing.T, r rig, size int) {
	t.Helper()
	line, paused := pausable(r.server.Client())
	stalled, err := dynamo.New(clientWith(line), r.table, dynamo.Config{})
	if err != nil {
		t.Fatal(err)
	}
	key := keyOf(t)
	late := want(t, newLedger(t, stalled, dedupe.Config{}), key, `{}`, dedupe.OutcomeClaimed).Operation
	resume, settled := make(chan struct{}), make(chan dedupe.Settlement, 1)
	var cause error
	go func() {
		settled <- late.Run(t.Context(), func(ctx context.Context, _ *dedupe.Operation) (dedupe.Result, error) {
			<-resume
			cause = context.Cause(ctx)
			return dedupe.Result{Body: []byte(strings.Repeat("A", size))}, nil
		}, dedupe.RunOptions{})
	}()
	paused.Store(true)
	pass(2 * time.Minute)
	l := newLedger(t, r.store, dedupe.Config{})
	successor := want(t, l, key, `{}`, dedupe.OutcomeClaimed).Operation
	if set := run(t, successor, dedupe.Result{Body: []byte(strings.Repeat("B", size))}, nil); set.State != dedupe.StateCompleted {
		t.Fatalf("the successor settled as %v, %v", set.State, set.Err)
	}
	before := r.load(t, key)
	paused.Store(false)
	close(resume)
	if set := <-settled; !errors.Is(set.Err, dedupe.ErrLeaseLost) || set.Outcome != dedupe.OutcomeLost {
		t.Errorf("the late one settled as %v, %v, want lease lost", set.Outcome, set.Err)
	}
	if !errors.Is(cause, dedupe.ErrLeaseLost) {
		t.Errorf("its handler was told %v, want lease lost", cause)
	}
	r.wantStored(t, key, before)
	a := want(t, l, key, `{}`, dedupe.OutcomeReplay)
	if got := string(a.Record.Result.Body); got != strings.Repeat("B", size) {
		t.Errorf("replayed %.20q, want the successor's result", got)
	}
	if late.Fence() >= successor.Fence() {
		t.Errorf("the fence went from %d to %d, want it to rise", late.Fence(), successor.Fence())
	}
}

// A reconciler settles a record while its owner, late, reports another result: whoever wins, its own result is replayed.
func TestTwoResultsOfOneOwnerDoNotMix(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		owner := sample(t, "completed")
		owner.Result.Body = []byte(strings.Repeat("A", 5000))
		reconciler := owner.Clone()
		reconciler.Revision, reconciler.Result.Body = "rev-R", []byte(strings.Repeat("R", 5000))
		r.put(t, dedupe.AbsentAt(noon), reconciler)
		if _, err := r.store.Swap(t.Context(), owner.Key, dedupe.AtRevision("rev-B"), owner); !errors.Is(err, dedupe.ErrConflict) {
			t.Fatalf("got %v, want a conflict", err)
		}
		r.wantStored(t, owner.Key, reconciler)
	})
}

// A crash between the two puts leaves a result without a completion: it says whose it is, and expires.
func TestResultWithoutCompletionSaysWhoseItIs(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		claimed := sample(t, "claimed")
		r.put(t, dedupe.AbsentAt(noon), claimed)
		rec := sample(t, "large")
		f := awstest.FailBefore("PutItem", 500, "InternalServerError")
		f.Match = ofRecords
		r.server.Inject(f)
		if _, err := r.store.Swap(t.Context(), rec.Key, dedupe.AtRevision(claimed.Revision), rec); err == nil || errors.Is(err, dedupe.ErrConflict) {
			t.Fatalf("got %v, want an error that leaves it open", err)
		}
		r.wantStored(t, rec.Key, claimed)
		_, part := mustItems(t, rec)
		left := r.item(t, part["id"].(*types.AttributeValueMemberS).Value)
		if !equalJSON(t, wireMap(t, left), wireMap(t, part)) || left["owner"] == nil || left["expires_at"] == nil {
			t.Errorf("left is %v, want the result with its owner and expiry", left)
		}
	})
}

// A result that cannot be read for the moment is an error, not a missing one.
func TestUnreadableResultIsNoMissingResult(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		rec := sample(t, "large")
		r.put(t, dedupe.AbsentAt(noon), rec)
		f := awstest.FailBefore("GetItem", 500, "InternalServerError")
		f.Match = ofResults
		remove := r.server.Inject(f)
		if got, err := r.store.Load(t.Context(), rec.Key); err == nil {
			t.Errorf("Load: got result %+v, want an error", got.Result)
		}
		if got, err := r.store.Swap(t.Context(), rec.Key, dedupe.AbsentAt(noon), sampleAt(t, rec.Key)); err == nil || errors.Is(err, dedupe.ErrConflict) {
			t.Errorf("Swap: got %+v, %v, want an error that is no conflict", got.Result, err)
		}
		remove()
		r.wantStored(t, rec.Key, rec)
	})
}

func TestCallsAreRepeatedAFewTimesOnly(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		cfg   dynamo.Config
		tries int
	}{"default": {dynamo.Config{}, 3}, "one": {dynamo.Config{MaxAttempts: 1}, 1}, "five": {dynamo.Config{MaxAttempts: 5}, 5}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t)
				s, err := dynamo.New(r.client, r.table, c.cfg)
				if err != nil {
					t.Fatal(err)
				}
				r.server.Inject(awstest.FailBefore("GetItem", 500, "InternalServerError"))
				r.requests(t, "Load", c.tries, func() { _, err = s.Load(t.Context(), keyOf(t)) })
				if err == nil {
					t.Error("Load succeeded, want an error")
				}
			})
		})
	}
}

func TestServerThatNeverAnswersIsGivenUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.server.Inject(awstest.Delay("PutItem", 0, time.Hour))
		started := time.Now()
		_, err := r.store.Swap(t.Context(), keyOf(t), dedupe.AbsentAt(noon), sample(t, "claimed"))
		if err == nil || errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v, want an error that is not the caller's deadline", err)
		}
		if took := time.Since(started); took != 10*time.Second {
			t.Errorf("given up after %v, want 10s", took)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := r.store.Swap(ctx, keyOf(t), dedupe.AbsentAt(noon), sample(t, "claimed")); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v, want the caller's deadline", err)
		}
	})
}

// Credentials may take long, and their provider may say anything when it is told to stop.
func TestErrorOfAnEndedContextIsTheContexts(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		client := dynamodb.New(r.client.Options(), func(o *dynamodb.Options) {
			o.Credentials = aws.CredentialsProviderFunc(func(ctx context.Context) (aws.Credentials, error) {
				<-ctx.Done()
				return aws.Credentials{}, errors.New("stopped")
			})
		})
		s, err := dynamo.New(client, r.table, dynamo.Config{})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := s.Load(ctx, keyOf(t)); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v, want the caller's deadline", err)
		}
	})
}

// Should DynamoDB count otherwise than size.go, its refusal says the same.
func TestServersRefusalOfASizeIsTooLarge(t *testing.T) {
	t.Parallel()
	for message, tooLarge := range map[string]bool{
		"Item size has exceeded the maximum allowed size":                                                       true,
		"One or more parameter values were invalid: Size of hashkey has exceeded the maximum size limit of2048": false,
	} {
		client := clientWith(way(func(*http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: http.StatusBadRequest, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(
				fmt.Sprintf(`{"__type":"com.amazon.coral.validate#ValidationException","message":%q}`, message)))}, nil
		}))
		s, err := dynamo.New(client, "records", dynamo.Config{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Swap(t.Context(), keyOf(t), dedupe.AbsentAt(noon), sample(t, "claimed")); errors.Is(err, dedupe.ErrTooLarge) != tooLarge || err == nil {
			t.Errorf("%s: got %v, want too large: %v", message, err, tooLarge)
		}
	}
}
