//go:build integration

package awstest_test

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/smithy-go"

	"github.com/claimonce/claimonce/internal/awshttp"
)

// The same random calls go to awstest and to a server by other people, and each answer of one is compared with the other's. Where
// they differ AWS's documentation decides: awstest is changed, or the difference is listed with its reason.

// firstSeed begins the sequences; CLAIMONCE_SEED=n runs others, of which a new difference is a finding too.
const firstSeed = 1

// known are kinds of answers in which a server is known to differ from AWS, with the reason. A kind of which no difference is met is
// reported, so that the list stays true; a reason that begins with "sometimes" may not show. With one that begins with "left out"
// such calls are not made, since the server would go its own way after them.
type known map[string]string

func (k known) leavesOut(kind string) bool { return strings.HasPrefix(k[kind], "left out") }

// endpointOf reads where a server is, and tells which it is by what it answers to anybody: moto names its HTTP library.
func endpointOf(t *testing.T, variable string) (url, name string) {
	t.Helper()
	url = os.Getenv(variable)
	if url == "" {
		t.Fatalf("set %s to the URL of a server, for example http://127.0.0.1:4566", variable)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatalf("nothing answers at %s: %v", variable, err)
	}
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	switch {
	case strings.HasPrefix(resp.Header.Get("Server"), "Werkzeug"):
		return url, "moto"
	case strings.HasPrefix(string(body), "healthy: dynamodb"):
		return url, "dynalite"
	case strings.Contains(string(body), "awstest"):
		return url, "awstest"
	default:
		return url, "ministack"
	}
}

func configAt(url string) aws.Config {
	return aws.Config{
		Region: "us-east-1", Credentials: credentials.NewStaticCredentialsProvider("test", "test", ""), BaseEndpoint: &url, RetryMaxAttempts: 1,
		HTTPClient: awshttp.Wrap(nil), // the SDK's own loses answers now and then
	}
}

func seed(t *testing.T) uint64 {
	t.Helper()
	text := os.Getenv("CLAIMONCE_SEED")
	if text == "" {
		return firstSeed
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatalf("CLAIMONCE_SEED: %v", err)
	}
	return n
}

// pair compares the answers of awstest with those of the other server.
type pair struct {
	*testing.T
	*rand.Rand

	other   string
	known   known
	met     map[string]bool
	history []string
}

func newPair(t *testing.T, other string, known known) *pair {
	t.Helper()
	n := seed(t)
	t.Logf("CLAIMONCE_SEED=%d, against %s", n, other)
	return &pair{T: t, Rand: rand.New(rand.NewPCG(n, 0)), other: other, known: known, met: map[string]bool{}}
}

// compare ends the test at an unknown difference: what follows would only follow from it.
func (p *pair) compare(kind, call, ours, theirs string) {
	p.Helper()
	p.history = append(p.history, call+" → "+ours)
	switch {
	case ours == theirs:
	case p.known[kind] != "":
		p.met[kind] = true
	default:
		p.Fatalf("%s: %s\n  awstest: %s\n%9s: %s\nbefore it:\n  %s", kind, call, ours, p.other, theirs,
			strings.Join(p.history[max(0, len(p.history)-12):len(p.history)-1], "\n  "))
	}
}

// finish reports known differences that are none any more.
func (p *pair) finish() {
	p.Helper()
	if os.Getenv("CLAIMONCE_SEED") != "" {
		return // other sequences may not meet them all
	}
	for kind, reason := range p.known {
		if !p.met[kind] && !strings.HasPrefix(reason, "sometimes ") && !p.known.leavesOut(kind) {
			p.Errorf("%s answered %s as awstest does throughout, although it is listed: %s", p.other, kind, reason)
		}
	}
}

func choose[X any](p *pair, list []X) X { return list[p.IntN(len(list))] }

// refused is an error as its bare code, or that the call succeeded.
func refused(err error) string {
	if err == nil {
		return "ok"
	}
	e, ok := errors.AsType[smithy.APIError](err)
	if !ok {
		return "no API error: " + err.Error()
	}
	code := strings.TrimPrefix(e.ErrorCode(), "AWS.SimpleQueueService.")
	return "error " + strings.TrimSuffix(code, "Exception")
}

func sorted(list []string) string {
	slices.Sort(list)
	return fmt.Sprint(list)
}
