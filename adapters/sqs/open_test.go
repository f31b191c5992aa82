package sqs_test

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	adapter "github.com/claimonce/claimonce/adapters/sqs"
	"github.com/claimonce/claimonce/awstest"
	"github.com/claimonce/claimonce/consumer"
)

// environment is what Open sees: nothing of the machine's own, save what env names.
func environment(t *testing.T, env map[string]string) {
	t.Helper()
	nowhere := t.TempDir()
	for name, v := range map[string]string{
		"AWS_REGION": "", "AWS_DEFAULT_REGION": "", "AWS_PROFILE": "", "AWS_DEFAULT_PROFILE": "",
		"AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": "", "AWS_SESSION_TOKEN": "",
		"AWS_ENDPOINT_URL": "", "AWS_ENDPOINT_URL_SQS": "", "AWS_ROLE_ARN": "", "AWS_WEB_IDENTITY_TOKEN_FILE": "",
		"AWS_CONTAINER_CREDENTIALS_RELATIVE_URI": "", "AWS_CONTAINER_CREDENTIALS_FULL_URI": "",
		"AWS_CONFIG_FILE": filepath.Join(nowhere, "config"), "AWS_SHARED_CREDENTIALS_FILE": filepath.Join(nowhere, "credentials"),
		"AWS_EC2_METADATA_DISABLED": "true", "HOME": nowhere,
	} {
		t.Setenv(name, v)
	}
	for name, v := range env {
		t.Setenv(name, v)
	}
}

// listen serves one queue on a socket.
func listen(t *testing.T) (endpoint, queue string) {
	t.Helper()
	l, err := awstest.New(awstest.Config{}).Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	client := sqs.New(sqs.Options{
		Region: "us-east-1", BaseEndpoint: aws.String(l.URL()), Credentials: credentials.NewStaticCredentialsProvider("test", "test", ""),
	})
	out, err := client.CreateQueue(t.Context(), &sqs.CreateQueueInput{QueueName: aws.String("work")})
	if err != nil {
		t.Fatal(err)
	}
	return l.URL(), aws.ToString(out.QueueUrl)
}

func TestOpenNeedsARegion(t *testing.T) {
	environment(t, map[string]string{"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test"})
	s, err := adapter.Open(t.Context(), "https://queues.example.com/1/work")
	if s != nil {
		t.Errorf("got a source beside the error")
	}
	wantError(t, err, true, "work", "no region", "set AWS_REGION", "AWS_PROFILE")
}

func TestOpenNeedsCredentials(t *testing.T) {
	endpoint, queue := listen(t)
	environment(t, map[string]string{"AWS_ENDPOINT_URL": endpoint})
	_, err := adapter.Open(t.Context(), queue)
	wantError(t, err, true, "work", "no credentials", "AWS_PROFILE", "AWS_ACCESS_KEY_ID=test")
}

func TestOpenNeedsAProfileThatExists(t *testing.T) {
	environment(t, map[string]string{"AWS_PROFILE": "missing"})
	_, err := adapter.Open(t.Context(), goodURL)
	wantError(t, err, true, "work", "the AWS configuration does not load", "missing")
}

func TestOpenChecksTheQueue(t *testing.T) {
	endpoint, queue := listen(t)
	for _, name := range []string{"AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_SQS"} {
		environment(t, map[string]string{name: endpoint, "AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test"})
		s, err := adapter.Open(t.Context(), queue)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Close(t.Context()); err != nil {
			t.Error(err)
		}
		s, err = adapter.Open(t.Context(), queue+"-missing")
		if s != nil {
			t.Errorf("got a source beside the error")
		}
		// A local server needs no region.
		wantError(t, err, true, "work-missing", "in region us-east-1", "does not exist")
	}
}

func TestOpenTakesTheRegionOfTheURL(t *testing.T) {
	endpoint, _ := listen(t)
	keys := map[string]string{"AWS_ENDPOINT_URL": endpoint, "AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test"}
	environment(t, keys)
	const url = "https://sqs.ap-south-1.amazonaws.com/123456789012/missing"
	_, err := adapter.Open(t.Context(), url)
	wantError(t, err, true, "in region ap-south-1")
	keys["AWS_REGION"] = "eu-central-1"
	environment(t, keys)
	_, err = adapter.Open(t.Context(), url)
	wantError(t, err, true, "in region eu-central-1") // what is set counts, and a server that is not AWS has no regions in its URLs
}

func TestOpenWithSettings(t *testing.T) {
	endpoint, queue := listen(t)
	environment(t, map[string]string{"AWS_ENDPOINT_URL": endpoint, "AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test"})
	var out log
	settings := adapter.Config{Visibility: 7 * time.Minute, Envelope: adapter.SNS, Logger: slog.New(slog.NewTextHandler(&out, nil))}
	s, err := adapter.OpenWith(t.Context(), queue, settings)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close(t.Context()) }()
	if got := s.Visibility(); got != settings.Visibility {
		t.Errorf("got visibility %v, want the one that was set, %v", got, settings.Visibility)
	}
	if got := out.String(); !strings.Contains(got, "no dead-letter queue") {
		t.Errorf("got log %q, want the warning of the check", got)
	}
	settings.Visibility = time.Second
	_, err = adapter.OpenWith(t.Context(), queue, settings)
	wantError(t, err, true, "Visibility is 1s")
}

// A worker that is told to stop while it starts has no fault of its set-up.
func TestOpenThatIsCancelledDoesNotBlameTheCredentials(t *testing.T) {
	t.Setenv("AWS_ACCESS_KEY_ID", "test")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "test")
	t.Setenv("AWS_REGION", "us-east-1")
	t.Setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := adapter.Open(ctx, "http://127.0.0.1:1/000000000000/work")
	if !errors.Is(err, context.Canceled) || errors.Is(err, consumer.ErrSetup) || strings.Contains(err.Error(), "credentials") {
		t.Errorf("got %v, want the context's end and nothing else", err)
	}
}
