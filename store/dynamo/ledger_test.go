package dynamo_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/claimonce/claimonce/dedupe"
	"github.com/claimonce/claimonce/store/dynamo"
)

// Checks through the ledger, for every server.

func newLedger(t *testing.T, s dedupe.Store, cfg dedupe.Config) *dedupe.Ledger {
	t.Helper()
	if cfg.OnAbandoned == 0 {
		cfg.OnAbandoned = dedupe.Rerun
	}
	l, err := dedupe.NewLedger(s, cfg)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func request(t *testing.T, l *dedupe.Ledger, key dedupe.Key, body string) dedupe.Request {
	t.Helper()
	req, err := l.Request(key, []byte(body))
	if err != nil {
		t.Fatal(err)
	}
	return req
}

func claim(t *testing.T, l *dedupe.Ledger, key dedupe.Key, body string) dedupe.Answer {
	t.Helper()
	a, err := l.Claim(t.Context(), request(t, l, key, body))
	if err != nil {
		t.Fatalf("Claim: %v", err)
	}
	return a
}

// want claims and fails the test if the outcome is another.
func want(t *testing.T, l *dedupe.Ledger, key dedupe.Key, body string, outcome dedupe.Outcome) dedupe.Answer {
	t.Helper()
	a := claim(t, l, key, body)
	if a.Outcome != outcome {
		t.Fatalf("the claim is %v (record %+v), want %v", a.Outcome, a.Record, outcome)
	}
	return a
}

func run(t *testing.T, op *dedupe.Operation, res dedupe.Result, herr error) dedupe.Settlement {
	t.Helper()
	return op.Run(t.Context(), func(context.Context, *dedupe.Operation) (dedupe.Result, error) { return res, herr }, dedupe.RunOptions{})
}

// again is a store as another process has it.
func (e env) again(t *testing.T) *dynamo.Store {
	t.Helper()
	s, err := dynamo.New(e.client, e.table, dynamo.Config{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func checkOperation(t *testing.T, e env) {
	l, key := newLedger(t, e.store, dedupe.Config{}), keyOf(t)
	op := want(t, l, key, `{"a":1}`, dedupe.OutcomeClaimed).Operation
	want(t, l, key, `{"a":1}`, dedupe.OutcomeBusy)
	if set := run(t, op, dedupe.Result{Body: []byte("done")}, nil); set.State != dedupe.StateCompleted {
		t.Fatalf("settled as %+v, want completed", set)
	}
	if a := want(t, l, key, `{"a":1}`, dedupe.OutcomeReplay); string(a.Record.Result.Body) != "done" {
		t.Errorf("replayed %q, want what the handler returned", a.Record.Result.Body)
	}
}

func checkResultBytes(t *testing.T, e env) {
	body := `{"at":1556893286484340854, "id":9007199254740993,"x":0.1 ,"y":1e22,"z":100.00}`
	for name, filling := range map[string]string{"inside": "", "apart": strings.Repeat(" ", 2000)} {
		t.Run(name, func(t *testing.T) {
			key := keyOf(t)
			op := want(t, newLedger(t, e.store, dedupe.Config{}), key, `{}`, dedupe.OutcomeClaimed).Operation
			run(t, op, dedupe.Result{Body: []byte(body + filling)}, nil)
			a := want(t, newLedger(t, e.again(t), dedupe.Config{}), key, `{}`, dedupe.OutcomeReplay)
			if got := string(a.Record.Result.Body); got != body+filling {
				t.Errorf("replayed %q, want the bytes that the handler returned: %q", got, body)
			}
		})
	}
}

func checkCompletionTooLarge(t *testing.T, e env) {
	for name, c := range map[string]struct {
		body    int
		largest int // MaxResult
	}{
		"500 KB, beyond the bound":                {500 << 10, 0},
		"500 KB, more than an item holds":         {500 << 10, 1 << 20},
		"400 KB less than its names and metadata": {400<<10 - 100, 1 << 20},
	} {
		t.Run(name, func(t *testing.T) {
			l, key, runs := newLedger(t, e.store, dedupe.Config{MaxResult: c.largest}), keyOf(t), 0
			op := want(t, l, key, `{}`, dedupe.OutcomeClaimed).Operation
			set := op.Run(t.Context(), func(context.Context, *dedupe.Operation) (dedupe.Result, error) {
				runs++
				return dedupe.Result{Status: 201, Body: make([]byte, c.body)}, nil
			}, dedupe.RunOptions{})
			if set.State != dedupe.StateCompleted || set.Err != nil || runs != 1 {
				t.Fatalf("settled as %v (%v) after %d runs, want completed after one", set.State, set.Err, runs)
			}
			a := want(t, l, key, `{}`, dedupe.OutcomeReplay)
			if res := a.Record.Result; res == nil || res.Omitted != dedupe.OmittedTooLarge || res.Status != 201 || len(res.Body) > 0 {
				t.Errorf("replayed %+v, want the status and that the body is omitted", res)
			}
		})
	}
}

// Each claim is made by a process that knows nothing but the table.
func checkFreshProcess(t *testing.T, e env) {
	const first, second = `{"amount":10}`, `{"amount":11}`
	fresh := func(t *testing.T) *dedupe.Ledger {
		t.Helper()
		return newLedger(t, e.again(t), dedupe.Config{OnAbandoned: dedupe.Reconcile})
	}
	for name, c := range map[string]struct {
		settle  func(*testing.T, *dedupe.Operation)
		outcome dedupe.Outcome
	}{
		"completed": {func(t *testing.T, op *dedupe.Operation) {
			t.Helper()
			run(t, op, dedupe.Result{Body: []byte("secret")}, nil)
		}, dedupe.OutcomeReplay},
		"failed": {func(t *testing.T, op *dedupe.Operation) {
			t.Helper()
			run(t, op, dedupe.Result{}, dedupe.Permanent(errors.New("declined")))
		}, dedupe.OutcomeFailed},
		"in progress": {func(*testing.T, *dedupe.Operation) {}, dedupe.OutcomeBusy},
		"unknown": {func(t *testing.T, op *dedupe.Operation) {
			t.Helper()
			run(t, op, dedupe.Result{}, dedupe.Unknown(errors.New("timeout")))
		}, dedupe.OutcomePending},
		"released": {func(t *testing.T, op *dedupe.Operation) {
			t.Helper()
			run(t, op, dedupe.Result{}, dedupe.NotCommitted(errors.New("refused")))
		}, dedupe.OutcomeClaimed},
	} {
		t.Run(name, func(t *testing.T) {
			key := keyOf(t)
			c.settle(t, want(t, fresh(t), key, first, dedupe.OutcomeClaimed).Operation)
			before := e.load(t, key)
			a := want(t, fresh(t), key, second, dedupe.OutcomeMismatch)
			if a.Record.Result != nil || a.Record.Reason != "" || a.Record.Fingerprint != "" {
				t.Errorf("another request is shown %+v, want nothing of the first one", a.Record)
			}
			e.wantStored(t, key, before)
			want(t, fresh(t), key, first, c.outcome)
			want(t, fresh(t), key, second, dedupe.OutcomeMismatch)
		})
	}
}
