//go:build integration

package sqs_test

import (
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
)

// deviates is what is known of servers by other people: the rules that they break. A server that breaks one more, or one less, fails,
// so that the list stays true.
func deviates() map[string][]string {
	return map[string][]string{
		"ministack": {"a receive is repeated by its attempt id"},
		"moto": {
			"an id is recognised for five minutes, though its message is deleted",
			"an id is recognised in its group only, if the queue says so",
			"a receive is repeated by its attempt id",
		},
	}
}

// SQS-13: what the server does with deduplication is told, whatever it is.
func TestSQS13_ServerDeviations(t *testing.T) {
	t.Parallel()
	server := serverName(t)
	expected, known := deviates()[server]
	for _, d := range deviations() {
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			err := d.ask(t.Context(), serverClient(t))
			listed := slices.Contains(expected, d.name)
			switch {
			case err == nil && listed:
				t.Errorf("%s keeps this rule now: take it from the list of what it breaks", server)
			case err == nil:
			case listed:
				t.Logf("%s does not do as SQS does, as is known: %v", server, err)
			case known:
				t.Errorf("%s does not do as SQS does, which is not known of it: %v", server, err)
			default:
				t.Skipf("this server does not do as SQS does, so nothing can be learnt from it here: %v", err)
			}
		})
	}
}

// serverName tells the servers apart by pages that only they have.
func serverName(t *testing.T) string {
	t.Helper()
	for name, path := range map[string]string{"ministack": "/_ministack/health", "moto": "/moto-api/"} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, strings.TrimSuffix(os.Getenv("CLAIMONCE_SQS_ENDPOINT"), "/")+path, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if resp.StatusCode == http.StatusOK {
			return name
		}
	}
	return "unknown"
}
