package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/claimonce/claimonce/awstest"
)

// TestRunTwiceThenDiffer takes the program's whole way over the SDK to a server. Not parallel: it sets the environment.
func TestRunTwiceThenDiffer(t *testing.T) {
	t.Setenv("AWS_ACCESS_KEY_ID", "test")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "test")
	t.Setenv("AWS_ENDPOINT_URL_SQS", "http://127.0.0.1:1") // the flag must win over it
	url := serve(t)

	for _, want := range []string{"created", "exists as wanted"} {
		out, err := setup(t, "-endpoint", url)
		if err != nil {
			t.Fatalf("run: %v", err)
		}
		for _, resource := range []string{"dead-letter queue claimonce-refunds-dlq", "queue claimonce-refunds", "table claimonce"} {
			if line := resource + ": " + want; !strings.Contains(out, line) {
				t.Errorf("the output lacks %q:\n%s", line, out)
			}
		}
	}

	out, err := setup(t, "-endpoint", url, "-max-receive-count", "7")
	if err == nil || !strings.Contains(err.Error(), "maxReceiveCount is 100, wanted 7") {
		t.Errorf("got error %v, want it to name the count that differs", err)
	}
	if !strings.Contains(out, "table claimonce: exists as wanted") {
		t.Errorf("a queue that differs kept the table from being looked at:\n%s", out)
	}
}

func TestNoRegionAndNoEndpointIsRefused(t *testing.T) {
	for _, name := range []string{"AWS_REGION", "AWS_DEFAULT_REGION", "AWS_PROFILE", "AWS_ENDPOINT_URL"} {
		t.Setenv(name, "")
	}
	t.Setenv("AWS_CONFIG_FILE", t.TempDir()+"/none")
	_, err := setup(t)
	if err == nil || !strings.Contains(err.Error(), "set AWS_REGION or give -region") {
		t.Errorf("got error %v, want it to ask for a region", err)
	}
}

func setup(t *testing.T, args ...string) (string, error) {
	t.Helper()
	var out, problems bytes.Buffer
	err := run(t.Context(), args, &out, &problems)
	return out.String(), err
}

func serve(t *testing.T) string {
	t.Helper()
	listener, err := awstest.New(awstest.Config{}).Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := listener.Close(); err != nil {
			t.Errorf("closing the server: %v", err)
		}
	})
	return listener.URL()
}
