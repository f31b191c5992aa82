package dynamo_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/claimonce/claimonce/awstest"
	"github.com/claimonce/claimonce/dedupe"
	"github.com/claimonce/claimonce/store/dynamo"
)

// refusalOf is an answer with status 400, of an error and its fields in JSON.
func refusalOf(body string) *http.Response {
	return &http.Response{StatusCode: http.StatusBadRequest, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body))}
}

// reasons is the body of a cancelled transaction.
func reasons(codes ...string) string {
	var list []string
	for _, c := range codes {
		list = append(list, fmt.Sprintf(`{"Code":%q,"Message":"why"}`, c))
	}
	return `{"__type":"com.amazonaws.dynamodb.v20120810#TransactionCanceledException",` +
		`"Message":"Transaction cancelled","CancellationReasons":[` + strings.Join(list, ",") + `]}`
}

// The report's five lists, the record's own reason first, and others that could be confused with them.
func TestDDB13_EveryReasonIsToldApart(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		codes    []string
		index    int
		code     string // of the error; "": it is a conflict
		is       []error
		advice   string
		requests int
	}{
		"duplicate":                     {[]string{"ConditionalCheckFailed", "None"}, 0, "", nil, "", 2},
		"conflict that lasts":           {[]string{"TransactionConflict", "None"}, -1, "TransactionConflict", nil, "try again soon", 4},
		"throttled":                     {[]string{"ThrottlingError", "TransactionConflict"}, -1, "ThrottlingError", nil, "back off", 1},
		"validation":                    {[]string{"ValidationError", "None"}, -1, "ValidationError", []error{dedupe.ErrSetup}, "mend", 1},
		"collection":                    {[]string{"None", "ItemCollectionSizeLimitExceeded"}, 0, "ItemCollectionSizeLimitExceeded", []error{dedupe.ErrRejected}, "full", 2},
		"own collection":                {[]string{"ItemCollectionSizeLimitExceeded", "None"}, -1, "ItemCollectionSizeLimitExceeded", []error{dedupe.ErrSetup}, "local index", 1},
		"another's throughput":          {[]string{"None", "ProvisionedThroughputExceeded"}, 0, "ProvisionedThroughputExceeded", nil, "back off", 1},
		"another's conflict":            {[]string{"None", "TransactionConflict"}, 0, "TransactionConflict", nil, "soon", 4},
		"another's validation":          {[]string{"None", "ValidationError"}, 0, "ValidationError", []error{dedupe.ErrSetup, dedupe.ErrRejected}, "mend", 2},
		"another's condition":           {[]string{"None", "ConditionalCheckFailed"}, 0, "ConditionalCheckFailed", []error{dedupe.ErrRejected}, "not met", 2},
		"another's condition, own busy": {[]string{"TransactionConflict", "ConditionalCheckFailed"}, 0, "ConditionalCheckFailed", []error{dedupe.ErrRejected}, "not met", 2},
		"validation before conditions":  {[]string{"None", "ThrottlingError", "ConditionalCheckFailed", "ValidationError"}, 2, "ValidationError", []error{dedupe.ErrSetup, dedupe.ErrRejected}, "mend", 2},
		"condition before collection":   {[]string{"None", "ItemCollectionSizeLimitExceeded", "ConditionalCheckFailed"}, 1, "ConditionalCheckFailed", []error{dedupe.ErrRejected}, "not met", 2},
		"collection before throttling":  {[]string{"ThrottlingError", "ItemCollectionSizeLimitExceeded"}, 0, "ItemCollectionSizeLimitExceeded", []error{dedupe.ErrRejected}, "full", 2},
		"throttling before conflicts":   {[]string{"None", "TransactionConflict", "ThrottlingError"}, 1, "ThrottlingError", nil, "back off", 1},
		"new code":                      {[]string{"None", "SomethingNew"}, 0, "SomethingNew", nil, "why", 1},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, r till) {
				claim, next, expect := r.claimed(t, "completed")
				body := reasons(c.codes...)
				s, requests := r.answers(t, "TransactWriteItems", body, body, body, body, body)
				_, err := s.SwapWith(t.Context(), next.Key, expect, next, []types.TransactWriteItem{r.add("s-1")})
				if *requests != c.requests {
					t.Errorf("%d requests, want %d", *requests, c.requests)
				}
				if conflict := c.code == ""; errors.Is(err, dedupe.ErrConflict) != conflict {
					t.Fatalf("got %v, want a conflict: %v", err, conflict)
				}
				for _, sentinel := range []error{dedupe.ErrSetup, dedupe.ErrRejected, dedupe.ErrTooLarge} {
					if want := slices.Contains(c.is, sentinel); errors.Is(err, sentinel) != want {
						t.Errorf("%v: is it %v? %v, want %v", err, sentinel, !want, want)
					}
				}
				got, ok := errors.AsType[*dynamo.CancelledError](err)
				if c.code != "" && (!ok || got.Index != c.index || got.Code != c.code || !strings.Contains(err.Error(), c.advice)) {
					t.Errorf("got %+v (%v), want write %d, %s, and %q in the text", got, err, c.index, c.code, c.advice)
				}
				r.wantStored(t, next.Key, claim)
			})
		})
	}
}

// A transaction that met another one goes through a moment later.
func TestDDB13_TransactionsThatMeetAreTriedAgainSoon(t *testing.T) {
	inBubble(t, func(t *testing.T, r till) {
		_, next, expect := r.claimed(t, "completed")
		body := reasons("TransactionConflict", "None")
		s, requests := r.answers(t, "TransactWriteItems", body, body)
		started := time.Now()
		if _, err := s.SwapWith(t.Context(), next.Key, expect, next, []types.TransactWriteItem{r.add("s-1")}); err != nil || *requests != 3 {
			t.Errorf("got %v after %d requests, want success after 3", err, *requests)
		}
		if took := time.Since(started); took < 40*time.Millisecond || took > time.Second {
			t.Errorf("it took %v, want pauses, within a second", took)
		}
		r.wantStored(t, next.Key, next)
	})
}

// Waiting for another transaction ends with the caller.
func TestDDB13_TriesEndWithTheContext(t *testing.T) {
	inBubble(t, func(t *testing.T, r till) {
		_, next, expect := r.claimed(t, "completed")
		body := reasons("TransactionConflict", "None")
		s, requests := r.answers(t, "TransactWriteItems", body, body, body, body)
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		defer cancel()
		_, err := s.SwapWith(ctx, next.Key, expect, next, []types.TransactWriteItem{r.add("s-1")})
		if c, ok := errors.AsType[*dynamo.CancelledError](err); !ok || c.Code != "TransactionConflict" || *requests != 1 {
			t.Errorf("got %v after %d requests, want the conflict of one", err, *requests)
		}
	})
}

// Servers that say less than DynamoDB: the record says what happened.
func TestDDB13_CancellationWithoutReasonsIsDecidedByTheRecord(t *testing.T) {
	inBubble(t, func(t *testing.T, r till) {
		claim, next, expect := r.claimed(t, "completed")
		s, _ := r.answers(t, "TransactWriteItems", reasons(), reasons("None", "None"), reasons())
		with := []types.TransactWriteItem{r.add("s-1")}
		for range 2 {
			if _, err := s.SwapWith(t.Context(), next.Key, expect, next, with); err == nil || errors.Is(err, dedupe.ErrConflict) || errors.Is(err, dedupe.ErrRejected) {
				t.Errorf("the record is as it was: got %v, want an error that is no verdict", err)
			}
		}
		r.wantStored(t, next.Key, claim)
		r.put(t, expect, next)
		if current, err := s.SwapWith(t.Context(), next.Key, expect, next, with); !errors.Is(err, dedupe.ErrConflict) || !reflect.DeepEqual(current, next) {
			t.Errorf("the record is another: got %+v, %v, want a conflict that shows it", current, err)
		}
	})
}

// What another write's refusal means cannot be told without the record.
func TestDDB13_RefusalIsOpenWhileTheRecordCannotBeRead(t *testing.T) {
	inBubble(t, func(t *testing.T, r till) {
		_, next, expect := r.claimed(t, "completed")
		s, _ := r.answers(t, "TransactWriteItems", reasons("None", "ConditionalCheckFailed"))
		r.server.Inject(awstest.FailBefore("GetItem", 500, "InternalServerError"))
		_, err := s.SwapWith(t.Context(), next.Key, expect, next, []types.TransactWriteItem{r.add("s-1")})
		if err == nil || errors.Is(err, dedupe.ErrRejected) || errors.Is(err, dedupe.ErrConflict) {
			t.Errorf("got %v, want an error that leaves it open", err)
		}
	})
}

// A claim under each error that a single write can get: none is taken for a duplicate, and nothing runs.
func TestDDB13_ErrorsOfASingleWriteAreNoConflict(t *testing.T) {
	t.Parallel()
	for code, c := range map[string]struct {
		message string
		setup   bool // only a person can mend it
	}{
		"TransactionConflictException":             {"Transaction is ongoing for the item", false},
		"ThrottlingException":                      {"Throughput exceeds the current capacity of your table", false},
		"ProvisionedThroughputExceededException":   {"The level of configured provisioned throughput was exceeded", false},
		"RequestLimitExceeded":                     {"Throughput exceeds the current throughput limit for your account", false},
		"ItemCollectionSizeLimitExceededException": {"Collection size exceeded", false},
		"InternalServerError":                      {"", false},
		"ValidationException":                      {"One or more parameter values were invalid: Missing the key pk in the item", true},
	} {
		t.Run(code, func(t *testing.T) {
			inBubble(t, func(t *testing.T, r till) {
				body := fmt.Sprintf(`{"__type":"com.amazonaws.dynamodb.v20120810#%s","message":%q}`, code, c.message)
				many := make([]string, 100)
				for i := range many {
					many[i] = body
				}
				s, _ := r.answers(t, "PutItem", many...)
				rec := sample(t, "claimed")
				_, err := s.Swap(t.Context(), rec.Key, dedupe.AbsentAt(noon), rec)
				if err == nil || errors.Is(err, dedupe.ErrConflict) || errors.Is(err, dedupe.ErrSetup) != c.setup || errors.Is(err, dedupe.ErrTooLarge) {
					t.Errorf("Swap: got %v, want an error that is no conflict; of the set-up: %v", err, c.setup)
				}
				l, key, runs := newLedger(t, s, dedupe.Config{}), keyOf(t), 0
				_, err = dedupe.Do(t.Context(), l, key, 1, func(context.Context, *dedupe.Operation) (int, error) {
					runs++
					return 1, nil
				})
				if err == nil || errors.Is(err, dedupe.ErrInProgress) || errors.Is(err, dedupe.ErrConflict) || errors.Is(err, dedupe.ErrSetup) != c.setup || runs != 0 {
					t.Errorf("Do: got %v after %d runs, want the store's error and none", err, runs)
				}
				if !strings.Contains(err.Error(), code) {
					t.Errorf("the error says %q, want the code %s in it", err, code)
				}
				want(t, newLedger(t, r.store, dedupe.Config{}), key, `1`, dedupe.OutcomeClaimed)
			})
		})
	}
}

// A claim that meets a transaction, as a duplicate's does while the completion is written, waits for it.
func TestDDB13_AWriteThatMeetsATransactionIsTriedAgain(t *testing.T) {
	inBubble(t, func(t *testing.T, r till) {
		body := `{"__type":"com.amazonaws.dynamodb.v20120810#TransactionConflictException","message":"Transaction is ongoing for the item"}`
		s, requests := r.answers(t, "PutItem", body, body, body)
		rec := sample(t, "claimed")
		started := time.Now()
		if _, err := s.Swap(t.Context(), rec.Key, dedupe.AbsentAt(noon), rec); err != nil || *requests != 4 {
			t.Errorf("got %v after %d requests, want success after 4", err, *requests)
		}
		if took := time.Since(started); took < 100*time.Millisecond || took > time.Second {
			t.Errorf("it took %v, want pauses, within a second", took)
		}
		r.wantStored(t, rec.Key, rec)
	})
}

// The first try landed and its answer was lost; what refuses the repeat is its own effect, and nothing is said of the record's entry.
func TestDDB13_RefusalByItsOwnEffectIsSuccess(t *testing.T) {
	t.Parallel()
	for _, own := range []string{"None", "TransactionConflict", "ThrottlingError"} {
		t.Run(own, func(t *testing.T) {
			inBubble(t, func(t *testing.T, r till) {
				_, next, expect := r.claimed(t, "large")
				with := []types.TransactWriteItem{r.sold("s-1")}
				if _, err := r.swapWith(t, expect, next, with...); err != nil {
					t.Fatal(err)
				}
				s, _ := r.answers(t, "TransactWriteItems", reasons(own, "None", "ConditionalCheckFailed"))
				current, err := s.SwapWith(t.Context(), next.Key, expect, next, with)
				if !errors.Is(err, dedupe.ErrConflict) || errors.Is(err, dedupe.ErrRejected) || !reflect.DeepEqual(current, next) {
					t.Errorf("got %+v, %v, want a conflict with its own write", current, err)
				}
			})
		})
	}
}

// Should DynamoDB count otherwise than size.go: the record's own size is for the ledger to mend, another write's for its author.
func TestDDB13_SizeOfTheRecordIsToldFromThatOfOthers(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		at int
		is error
	}{"the record": {0, dedupe.ErrTooLarge}, "its result": {1, dedupe.ErrTooLarge}, "another": {2, dedupe.ErrRejected}} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, r till) {
				_, next, expect := r.claimed(t, "large")
				codes := []string{"None", "None", "None"}
				codes[c.at] = "ValidationError"
				body := strings.ReplaceAll(reasons(codes...), `"why"`, `"Item size has exceeded the maximum allowed size"`)
				s, _ := r.answers(t, "TransactWriteItems", body)
				_, err := s.SwapWith(t.Context(), next.Key, expect, next, []types.TransactWriteItem{r.add("s-1")})
				for _, sentinel := range []error{dedupe.ErrTooLarge, dedupe.ErrRejected, dedupe.ErrSetup, dedupe.ErrConflict} {
					if want := errors.Is(c.is, sentinel); errors.Is(err, sentinel) != want {
						t.Errorf("got %v; is it %v? want %v", err, sentinel, want)
					}
				}
			})
		})
	}
}
