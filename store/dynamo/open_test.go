package dynamo_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/config"

	"github.com/claimonce/claimonce/awstest"
	"github.com/claimonce/claimonce/dedupe"
	"github.com/claimonce/claimonce/store/dynamo"
)

// environment is that of a process which has nothing but what is given: no profile, no metadata service.
func environment(t *testing.T, vars map[string]string) {
	t.Helper()
	for _, name := range []string{
		"AWS_PROFILE", "AWS_REGION", "AWS_DEFAULT_REGION", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN",
		"AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_DYNAMODB", "AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_CONTAINER_CREDENTIALS_FULL_URI",
		"AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
	} {
		t.Setenv(name, vars[name])
	}
	t.Setenv("AWS_EC2_METADATA_DISABLED", "true")
	t.Setenv("AWS_CONFIG_FILE", t.TempDir()+"/none")
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", t.TempDir()+"/none")
}

func serve(t *testing.T, h http.Handler) string {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL
}

func local(url string) map[string]string {
	return map[string]string{
		"AWS_ENDPOINT_URL": url, "AWS_REGION": "eu-central-1", "AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test",
	}
}

func TestOpenUsesTheEnvironment(t *testing.T) { //nolint:tparallel // sets the environment
	server := awstest.New(awstest.Config{})
	environment(t, local(serve(t, server)))
	if _, err := dynamo.Setup(t.Context(), clientOf(server), "records"); err != nil {
		t.Fatal(err)
	}
	server.ResetCalls()
	s, err := dynamo.Open(t.Context(), "records")
	if err != nil {
		t.Fatal(err)
	}
	if got := server.Count(""); got != 1 || server.Count("DescribeTable") != 1 {
		t.Errorf("Open made %d requests, want one DescribeTable", got)
	}
	want(t, newLedger(t, s, dedupe.Config{}), keyOf(t), `{}`, dedupe.OutcomeClaimed)
	want(t, newLedger(t, s, dedupe.Config{}), keyOf(t), `{}`, dedupe.OutcomeBusy)
	if _, ok := s.ClockSkew(); !ok {
		t.Error("the clock was not compared")
	}
}

func TestDDB22_OpenFailsFastAndSaysWhatToDo(t *testing.T) { //nolint:tparallel // sets the environment
	server := awstest.New(awstest.Config{})
	table{key: "pk"}.make(t, clientOf(server), "wrong")
	denied := awstest.New(awstest.Config{})
	denied.Inject(awstest.FailBefore("", 400, "AccessDeniedException"))
	url, refusing := serve(t, server), serve(t, denied)
	without := func(names ...string) map[string]string {
		vars := local(url)
		for _, n := range names {
			delete(vars, n)
		}
		return vars
	}
	for name, c := range map[string]struct {
		vars  map[string]string
		opts  []func(*config.LoadOptions) error
		table string
		says  []string
	}{
		"missing table": {local(url), nil, "records", []string{
			"table records in region eu-central-1", "there is no such table", "go run github.com/claimonce/claimonce/localstack/setup -queue '' -table records",
		}},
		"another region": {local(url), []func(*config.LoadOptions) error{config.WithRegion("us-west-2")}, "records", []string{"in region us-west-2"}},
		"wrong table":    {local(url), nil, "wrong", []string{"table wrong in region eu-central-1", "its key is pk"}},
		"access denied":  {local(refusing), nil, "records", []string{"table records in region eu-central-1", "lack a permission", "DescribeTable"}},
		"no credentials": {without("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"), nil, "records", []string{
			"table records", "region eu-central-1", "no credentials: set AWS_PROFILE",
		}},
		"no region":  {without("AWS_REGION", "AWS_ENDPOINT_URL"), nil, "records", []string{"table records", "no region: set AWS_REGION"}},
		"no profile": {map[string]string{"AWS_PROFILE": "nobody"}, nil, "records", []string{"table records", "nobody"}},
		"no name":    {local(url), nil, "", []string{"no name"}},
		"no server":  {local("http://127.0.0.1:1"), nil, "records", []string{"table records in region eu-central-1", "refused"}},
	} {
		t.Run(name, func(t *testing.T) {
			environment(t, c.vars)
			_, err := dynamo.Open(t.Context(), c.table, c.opts...)
			for _, part := range c.says {
				if err == nil || !strings.Contains(err.Error(), part) {
					t.Errorf("got %v\nwant it to say %q", err, part)
				}
			}
		})
	}
}

func TestOpenEndsWithItsContext(t *testing.T) { //nolint:tparallel // sets the environment
	environment(t, local(serve(t, awstest.New(awstest.Config{}))))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := dynamo.Open(ctx, "records"); err == nil {
		t.Error("opened although the context had ended")
	}
}

// A worker that is told to stop while it starts has no fault of its set-up.
func TestOpenThatIsCancelledDoesNotBlameTheCredentials(t *testing.T) {
	t.Setenv("AWS_ACCESS_KEY_ID", "test")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "test")
	t.Setenv("AWS_REGION", "us-east-1")
	t.Setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := dynamo.Open(ctx, "records")
	if !errors.Is(err, context.Canceled) || errors.Is(err, dedupe.ErrSetup) || strings.Contains(err.Error(), "credentials") {
		t.Errorf("got %v, want the context's end and nothing else", err)
	}
}
