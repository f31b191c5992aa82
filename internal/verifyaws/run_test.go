package main

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/claimonce/claimonce/awstest"
)

// bubble runs a test on fake time.
func bubble(t *testing.T, f func(r *rig)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) { f(newRig(t)) })
}

func (r *rig) verify(ctx context.Context, p plan) (out string, err error) {
	r.Helper()
	var buf bytes.Buffer
	err = verify(ctx, options{prefix: "test-", endpoint: "http://aws.invalid"}, p, r.sqs, r.dynamo, &buf)
	return buf.String(), err
}

// left finds what a run left behind.
func (r *rig) left() int {
	r.Helper()
	ctx := context.WithoutCancel(r.Context())
	queues, err := r.sqs.ListQueues(ctx, &sqs.ListQueuesInput{})
	if err != nil {
		r.Fatal(err)
	}
	tables, err := r.dynamo.ListTables(ctx, &dynamodb.ListTablesInput{})
	if err != nil {
		r.Fatal(err)
	}
	return len(queues.QueueUrls) + len(tables.TableNames)
}

// making is a fact whose check makes a queue and then does more.
func making(more check) fact {
	return fact{id: "A1", name: "making", check: func(ctx context.Context, w *world) error {
		if _, err := w.queue(ctx); err != nil {
			return err
		}
		return more(ctx, w)
	}}
}

func TestAWholeRunHoldsAndLeavesNothing(t *testing.T) {
	bubble(t, func(r *rig) {
		out, err := r.verify(r.Context(), plan{facts: facts()})
		if err != nil {
			t.Errorf("verify: %v\n%s", err, out)
		}
		if !strings.Contains(out, " 0 do not hold, 0 gave no answer,") {
			t.Errorf("the counts are not there:\n%s", out)
		}
		if n := r.left(); n > 0 {
			t.Errorf("%d queues and tables are left", n)
		}
	})
}

func TestAFailedCheckLeavesNothing(t *testing.T) {
	bubble(t, func(r *rig) {
		out, err := r.verify(r.Context(), plan{facts: []fact{
			making(func(context.Context, *world) error { return seen("otherwise") }),
			making(func(context.Context, *world) error { panic("a nil answer") }),
		}})
		if err == nil || !strings.Contains(out, "DOES NOT HOLD: making: otherwise") || !strings.Contains(out, "NO ANSWER: making: the check met an answer that it cannot read: a nil answer") {
			t.Errorf("verify: %v\n%s", err, out)
		}
		if n := r.left(); n > 0 {
			t.Errorf("%d queues and tables are left", n)
		}
	})
}

func TestAnInterruptLeavesNothing(t *testing.T) {
	bubble(t, func(r *rig) {
		ctx, interrupt := context.WithCancel(r.Context())
		out, err := r.verify(ctx, plan{facts: []fact{
			making(func(ctx context.Context, _ *world) error {
				interrupt()
				return pause(ctx, time.Hour)
			}),
			making(func(ctx context.Context, _ *world) error { return pause(ctx, time.Hour) }),
		}})
		if err == nil || !strings.Contains(err.Error(), "interrupted") || strings.Count(out, "interrupted") != 2 {
			t.Errorf("verify: %v\n%s", err, out)
		}
		if n := r.left(); n > 0 {
			t.Errorf("%d queues and tables are left", n)
		}
	})
}

// TestWhatWasMadeWithoutAnAnswerIsDeleted: the name is known before the call, so that a lost answer leaves nothing behind.
func TestWhatWasMadeWithoutAnAnswerIsDeleted(t *testing.T) {
	bubble(t, func(r *rig) {
		for _, call := range []string{"CreateQueue", "CreateTable"} {
			r.server.Inject(awstest.FailAfter(call, http.StatusForbidden, "AccessDenied"))
		}
		out, err := r.verify(r.Context(), plan{facts: []fact{making(func(context.Context, *world) error { return nil })}})
		if err == nil || !strings.Contains(out, "NO ANSWER") {
			t.Errorf("verify: %v\n%s", err, out)
		}
		if n := r.left(); n > 0 {
			t.Errorf("%d queues and tables are left", n)
		}
	})
}

func TestWhatCannotBeDeletedIsNamed(t *testing.T) {
	bubble(t, func(r *rig) {
		for _, call := range []string{"DeleteQueue", "DeleteTable"} {
			r.server.Inject(awstest.FailBefore(call, http.StatusForbidden, "AccessDenied"))
		}
		_, err := r.verify(r.Context(), plan{facts: []fact{making(func(context.Context, *world) error { return nil })}})
		for _, want := range []string{"queue test-", "table test-", "created-by=claimonce-verifyaws"} {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("got %v, want an error with %q", err, want)
			}
		}
		if n := r.left(); n != 2 {
			t.Errorf("%d queues and tables are left, want 2", n)
		}
	})
}

func TestNothingIsMadeWhereNothingCanBeUsed(t *testing.T) {
	for _, call := range []string{"GetQueueUrl", "DescribeTable"} {
		t.Run(call, func(t *testing.T) {
			bubble(t, func(r *rig) {
				remove := r.server.Inject(awstest.FailBefore(call, http.StatusForbidden, "AccessDenied"))
				out, err := r.verify(r.Context(), plan{facts: facts()})
				remove()
				if err == nil || !strings.Contains(err.Error(), "so nothing was created") || out != "" {
					r.Errorf("verify: %v\n%s", err, out)
				}
				if n := r.left() + r.server.Count("CreateQueue") + r.server.Count("CreateTable"); n > 0 {
					r.Errorf("%d queues and tables were made", n)
				}
			})
		})
	}
}

func TestKeepLeavesEverything(t *testing.T) {
	bubble(t, func(r *rig) {
		var out bytes.Buffer
		err := verify(r.Context(), options{prefix: "test-", keep: true}, plan{facts: []fact{making(func(context.Context, *world) error { return nil })}}, r.sqs, r.dynamo, &out)
		if err != nil || !strings.Contains(out.String(), "Kept: everything whose name begins with test-") || r.left() != 2 {
			t.Errorf("verify: %v, %d left\n%s", err, r.left(), out.String())
		}
	})
}

func TestCommandLine(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"-prefix", ""}, "-prefix"},
		{[]string{"-prefix", "a b"}, "-prefix"},
		{[]string{"-prefix", strings.Repeat("x", 41)}, "-prefix"},
		{[]string{"queue"}, "unexpected argument"},
	} {
		if _, err := parse(c.args, &bytes.Buffer{}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("parse(%q): got %v, want an error with %q", c.args, err, c.want)
		}
	}
	if _, err := parse([]string{"-help"}, &bytes.Buffer{}); err == nil {
		t.Error("parse(-help): want flag.ErrHelp")
	}
}

// TestNothingIsMadeWithoutConsent takes the program's whole way to a server. Not parallel: it sets the environment.
func TestNothingIsMadeWithoutConsent(t *testing.T) {
	for _, name := range []string{"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"} {
		t.Setenv(name, "test")
	}
	r := newRig(t)
	l, err := r.server.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	for _, answer := range []string{"", "no\n", "y\n"} {
		var out bytes.Buffer
		err := run(t.Context(), []string{"-endpoint", l.URL(), "-region", "eu-west-1"}, strings.NewReader(answer), &out, &out)
		if err == nil || !strings.Contains(out.String(), "USD") || !strings.Contains(out.String(), "eu-west-1") || len(r.server.Calls()) > 0 {
			t.Errorf("answer %q: %v, %d calls\n%s", answer, err, len(r.server.Calls()), out.String())
		}
	}
	if err := run(t.Context(), []string{"-known", "nowhere.txt"}, strings.NewReader("yes\n"), &bytes.Buffer{}, &bytes.Buffer{}); err == nil || errors.Is(err, context.Canceled) {
		t.Errorf("a missing list: got %v", err)
	}
}
