package dynamo_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/claimonce/claimonce/awstest"
	"github.com/claimonce/claimonce/dedupe"
	"github.com/claimonce/claimonce/store/dynamo"
)

// A rig is a store on a server in this process, whose calls can be counted and made to fail. In a bubble its time is fake.
type rig struct {
	env

	server *awstest.Server
}

func newRig(t *testing.T) rig {
	t.Helper()
	server := awstest.New(awstest.Config{})
	r := rig{newEnv(t, clientOf(server)), server}
	server.ResetCalls()
	return r
}

// requests runs f and fails the test if it makes another number of requests of any kind.
func (r rig) requests(t *testing.T, what string, want int, f func()) {
	t.Helper()
	r.server.ResetCalls()
	f()
	if got := r.server.Count(""); got != want {
		var ops []string
		for _, c := range r.server.Calls() {
			ops = append(ops, c.Operation)
		}
		t.Errorf("%s: %d requests %q, want %d", what, got, ops, want)
	}
}

// pass lets time pass in a bubble.
func pass(d time.Duration) { time.Sleep(d) }

// way is another way to the server.
type way func(*http.Request) (*http.Response, error)

func (w way) Do(r *http.Request) (*http.Response, error) { return w(r) }

// pausable is a way that fails while it is paused.
func pausable(base *http.Client) (line way, paused *atomic.Bool) {
	paused = &atomic.Bool{}
	return func(r *http.Request) (*http.Response, error) {
		if paused.Load() {
			return nil, errors.New("paused")
		}
		return base.Do(r)
	}, paused
}

// silent is a store whose server leaves the item out of refusals, as several local ones do.
func (r rig) silent(t *testing.T) *dynamo.Store {
	t.Helper()
	base := r.server.Client()
	s, err := dynamo.New(clientWith(way(func(req *http.Request) (*http.Response, error) {
		resp, err := base.Do(req)
		if err != nil || resp.StatusCode != http.StatusBadRequest {
			return resp, err
		}
		var body map[string]json.RawMessage
		if err := json.NewDecoder(resp.Body).Decode(&body); err != nil {
			return nil, err
		}
		delete(body, "Item")
		data, err := json.Marshal(body)
		resp.Body, resp.ContentLength = io.NopCloser(bytes.NewReader(data)), int64(len(data))
		resp.Header.Del("X-Amz-Crc32")
		return resp, err
	})), r.table, dynamo.Config{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// begun runs an operation that stops after its effect began: the process is gone.
func begun(t *testing.T, op *dedupe.Operation, step string) {
	t.Helper()
	if _, err := op.Begin(t.Context(), step); err != nil {
		t.Fatalf("Begin: %v", err)
	}
}

// settleOnly writes the outcome alone, without time for a renewal.
func settleOnly(t *testing.T, op *dedupe.Operation, herr error) dedupe.Settlement {
	t.Helper()
	return op.Run(t.Context(), func(context.Context, *dedupe.Operation) (dedupe.Result, error) { return dedupe.Result{}, herr }, dedupe.RunOptions{})
}
