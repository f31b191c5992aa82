package main_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/claimonce/claimonce/awstest"
)

type summary struct {
	Operations    int `json:"operations"`
	Failed        int `json:"failed"`
	Deliveries    int `json:"deliveries"`
	HandlerRuns   int `json:"handler_runs"`
	Effects       int `json:"effects"`
	DoubleEffects int `json:"double_effects"`
	Replayed      int `json:"replayed"`
	Mismatched    int `json:"mismatched"`
	DeadLettered  int `json:"dead_lettered"`
	Unknown       int `json:"unknown"`
	InFlight      int `json:"in_flight"`
}

// build compiles the worker once for a test.
func build(t *testing.T) string {
	t.Helper()
	bin := filepath.Join(t.TempDir(), "worker")
	cmd := exec.CommandContext(t.Context(), "go", "build", "-o", bin, ".")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("building the worker: %v\n%s", err, out)
	}
	return bin
}

// environment is the process's own, but for what would lead the SDK elsewhere.
func environment(endpoint string) []string {
	return append(awsEnvironment(endpoint), "HOME="+os.TempDir(), "PATH="+os.Getenv("PATH"))
}

func awsEnvironment(endpoint string) []string {
	env := []string{
		"AWS_ACCESS_KEY_ID=test", "AWS_SECRET_ACCESS_KEY=test", "AWS_REGION=us-east-1", "AWS_EC2_METADATA_DISABLED=true",
	}
	if endpoint != "" {
		env = append(env, "AWS_ENDPOINT_URL="+endpoint)
	}
	return env
}

// patience ends a worker that would never be done.
const patience = 2 * time.Minute

// finish runs the worker to its end and reads its summary.
func finish(t *testing.T, bin string, env []string, args ...string) summary {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, bin, append([]string{"-json"}, args...)...)
	cmd.Env, cmd.Stdout, cmd.Stderr = env, &stdout, &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("worker %v: %v\n%s%s", args, err, stdout.String(), stderr.String())
	}
	lines := bytes.Split(bytes.TrimSpace(stdout.Bytes()), []byte("\n"))
	var s summary
	if err := json.Unmarshal(lines[len(lines)-1], &s); err != nil {
		t.Fatalf("the last line is no JSON object: %v\n%s", err, stdout.String())
	}
	return s
}

// What the README says of the bundled input.
const (
	bundledOperations = 1031
	bundledFailed     = 8
	bundledMismatched = 6
)

func checkBundled(t *testing.T, s summary) {
	t.Helper()
	for _, n := range []struct {
		name      string
		got, want int
	}{
		{"operations", s.Operations, bundledOperations},
		{"effects", s.Effects, bundledOperations},
		{"double_effects", s.DoubleEffects, 0},
		{"failed", s.Failed, bundledFailed},
		{"unknown", s.Unknown, 0},
		{"in_flight", s.InFlight, 0},
	} {
		if n.got != n.want {
			t.Errorf("%s: got %d, want %d", n.name, n.got, n.want)
		}
	}
	if s.Mismatched < bundledMismatched {
		t.Errorf("mismatched: got %d, want at least %d", s.Mismatched, bundledMismatched)
	}
	if t.Failed() {
		t.Logf("summary: %+v", s)
	}
}

func TestEveryWiringEndsWithOneEffectEach(t *testing.T) {
	t.Parallel()
	bin := build(t)
	for _, args := range [][]string{
		{},
		{"-source", "memory"},
		{"-store", "memory"},
		{"-source", "memory", "-store", "memory", "-workers", "3"},
		{"-fifo"},
		{"-sns"},
		{"-fifo", "-sns"},
	} {
		t.Run(args2name(args), func(t *testing.T) {
			t.Parallel()
			checkBundled(t, finish(t, bin, environment(""), args...))
		})
	}
}

func args2name(args []string) string {
	if len(args) == 0 {
		return "default"
	}
	var b bytes.Buffer
	for _, a := range args {
		b.WriteString(a)
	}
	return b.String()
}

// server is SQS and DynamoDB on a socket, set up for the worker: what survives when a worker is killed.
func server(t *testing.T, setup ...string) (endpoint string) {
	t.Helper()
	s := awstest.New(awstest.Config{})
	l, err := s.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	cmd := exec.CommandContext(t.Context(), "go", append([]string{"run", "../../localstack/setup"}, setup...)...)
	cmd.Env = append(os.Environ(), awsEnvironment(l.URL())...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("setting the server up: %v\n%s", err, out)
	}
	return l.URL()
}

// Workers are killed with SIGKILL again and again while they run; each leaves claims, marks and effects behind. Whoever comes
// next sends the whole input once more, and in the end every refund was paid once.
func TestLIF01_KilledWorkersPayOnce(t *testing.T) {
	t.Parallel()
	bin := build(t)
	for name, c := range map[string]struct{ setup, args []string }{
		"standard":            {},
		"FIFO behind a topic": {[]string{"-queue", "claimonce-refunds.fifo"}, []string{"-fifo", "-sns"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			endpoint := server(t, c.setup...)
			hideBriefly(t, endpoint)
			env := environment(endpoint)
			args := append([]string{"-run", "killed", "-ledger", filepath.Join(t.TempDir(), "ledger.jsonl")}, c.args...)
			for _, after := range []time.Duration{300 * time.Millisecond, 600 * time.Millisecond, time.Second} {
				kill(t, bin, env, after, args...)
			}
			checkBundled(t, finish(t, bin, env, args...))
		})
	}
}

// hideBriefly: what a killed worker held blocks the groups of a FIFO queue until its visibility ends.
func hideBriefly(t *testing.T, endpoint string) {
	t.Helper()
	client := sqs.New(sqs.Options{
		Region: "us-east-1", BaseEndpoint: &endpoint, Credentials: credentials.NewStaticCredentialsProvider("test", "test", ""),
	})
	queues, err := client.ListQueues(t.Context(), &sqs.ListQueuesInput{})
	if err != nil {
		t.Fatal(err)
	}
	for _, url := range queues.QueueUrls {
		if _, err := client.SetQueueAttributes(t.Context(), &sqs.SetQueueAttributesInput{
			QueueUrl: &url, Attributes: map[string]string{"VisibilityTimeout": "5"},
		}); err != nil {
			t.Fatal(err)
		}
	}
}

// kill starts a worker and ends it with SIGKILL. When exactly does not matter: the later assertions hold for any moment.
func kill(t *testing.T, bin string, env []string, after time.Duration, args ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), after)
	defer cancel()
	cmd := exec.CommandContext(ctx, bin, append([]string{"-json"}, args...)...) // CommandContext kills with SIGKILL
	cmd.Env = env
	if err := cmd.Run(); err == nil {
		t.Logf("the worker was done before it was to be killed after %v", after)
	}
}

// The second run of the same label is answered from the stored results: the provider is not asked again.
func TestSecondRunIsReplayed(t *testing.T) {
	t.Parallel()
	bin, env := build(t), environment(server(t))
	args := []string{"-run", "twice", "-ledger", filepath.Join(t.TempDir(), "ledger.jsonl")}
	checkBundled(t, finish(t, bin, env, args...))
	again := finish(t, bin, env, args...)
	checkBundled(t, again)
	// Exhausted operations run again when they are asked for again; nothing else does.
	if again.HandlerRuns > 2*5 {
		t.Errorf("handler runs of the second run: got %d, want at most 10, of the two exhausted operations", again.HandlerRuns)
	}
}
