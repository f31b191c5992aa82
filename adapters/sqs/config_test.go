package sqs_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	adapter "github.com/claimonce/claimonce/adapters/sqs"
	"github.com/claimonce/claimonce/awstest"
	"github.com/claimonce/claimonce/consumer"
)

const goodURL = "http://aws.invalid/000000000000/work"

func clientFor(o sqs.Options) *sqs.Client {
	if o.HTTPClient == nil {
		o.HTTPClient = awstest.New(awstest.Config{}).Client()
	}
	return sqs.New(o)
}

func TestBadSettingsAreRefusedWithWhatToDo(t *testing.T) {
	t.Parallel()
	fake := aws.String("http://aws.invalid")
	for name, c := range map[string]struct {
		options sqs.Options
		url     string
		cfg     adapter.Config
		want    []string
	}{
		"name for a URL":   {url: "work", want: []string{`"work" names no queue`}},
		"no URL":           {url: "", want: []string{"names no queue", "https://"}},
		"trailing slash":   {url: "http://aws.invalid/000000000000/", want: []string{"names no queue"}},
		"FIFO dead":        {cfg: adapter.Config{DeadLetterURL: goodURL + "-dead.fifo"}, want: []string{"DeadLetterURL", "name a standard queue"}},
		"standard dead":    {url: goodURL + ".fifo", cfg: adapter.Config{DeadLetterURL: goodURL + "-dead"}, want: []string{"DeadLetterURL", "name a FIFO queue"}},
		"dead is itself":   {cfg: adapter.Config{DeadLetterURL: goodURL}, want: []string{"DeadLetterURL is the queue itself"}},
		"visibility short": {cfg: adapter.Config{Visibility: 2 * time.Second}, want: []string{"Visibility is 2s", "from 3s to 12h"}},
		"visibility long":  {cfg: adapter.Config{Visibility: 12*time.Hour + time.Second}, want: []string{"Visibility is 12h0m1s"}},
		"visibility part":  {cfg: adapter.Config{Visibility: 3500 * time.Millisecond}, want: []string{"Visibility is 3.5s", "whole seconds"}},
		"wait long":        {cfg: adapter.Config{WaitTime: 21 * time.Second}, want: []string{"WaitTime is 21s", "up to 20s"}},
		"wait part":        {cfg: adapter.Config{WaitTime: 1500 * time.Millisecond}, want: []string{"WaitTime is 1.5s", "whole seconds"}},
		"wait negative":    {cfg: adapter.Config{WaitTime: -time.Second}, want: []string{"WaitTime is -1s"}},
		"gather negative":  {cfg: adapter.Config{GatherTime: -time.Second}, want: []string{"GatherTime is -1s"}},
		"close negative":   {cfg: adapter.Config{CloseWait: -time.Second}, want: []string{"CloseWait is -1s"}},
		"other region": {
			options: sqs.Options{Region: "us-east-1"}, url: "https://sqs.eu-west-1.amazonaws.com/123456789012/refunds",
			want: []string{"refunds", "in region eu-west-1", "us-east-1", "AWS_REGION"},
		},
		"no region": {
			options: sqs.Options{Region: " "}, url: "https://sqs.cn-north-1.amazonaws.com.cn/123456789012/refunds",
			want: []string{"refunds", "cn-north-1", "AWS_REGION"},
		},
		"other region of China": {
			options: sqs.Options{Region: "us-east-1"}, url: "https://sqs.cn-north-1.amazonaws.com.cn/123456789012/refunds",
			want: []string{"in region cn-north-1"},
		},
		"no region with an endpoint": {
			options: sqs.Options{Region: " ", BaseEndpoint: fake}, want: []string{"no region", "AWS_REGION"},
		},
		"HTTP timeout": {
			options: sqs.Options{Region: "eu-west-1", HTTPClient: &http.Client{Timeout: 20 * time.Second}},
			want:    []string{"after 20s", "waits 20s", "lower WaitTime"},
		},
		"HTTP timeout of the SDK's client": {
			options: sqs.Options{Region: "eu-west-1", HTTPClient: awshttp.NewBuildableClient().WithTimeout(5 * time.Second)},
			want:    []string{"after 5s", "waits 20s"},
		},
		"several": {
			url: goodURL + ".fifo", cfg: adapter.Config{DeadLetterURL: goodURL, Visibility: -1, WaitTime: time.Hour, GatherTime: -1, CloseWait: -1},
			want: []string{"FIFO", "Visibility", "WaitTime", "GatherTime", "CloseWait"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url := c.url
			if url == "" && name != "no URL" {
				url = goodURL
			}
			if c.options.Region == "" {
				c.options.Region, c.options.BaseEndpoint = "eu-west-1", fake
			}
			c.options.Region = strings.TrimSpace(c.options.Region)
			s, err := adapter.New(clientFor(c.options), url, c.cfg)
			if s != nil || !errors.Is(err, consumer.ErrSetup) {
				t.Fatalf("got %v, %v, want no source and an error that wraps ErrSetup", s, err)
			}
			for _, w := range c.want {
				if !strings.Contains(err.Error(), w) {
					t.Errorf("got %q, want it to contain %q", err, w)
				}
			}
		})
	}
}

func TestNoClientIsRefused(t *testing.T) {
	t.Parallel()
	if _, err := adapter.New(nil, goodURL, adapter.Config{WaitTime: -1}); err == nil ||
		!strings.Contains(err.Error(), "client is nil") || !strings.Contains(err.Error(), "WaitTime") {
		t.Errorf("got %v, want both problems", err)
	}
}

func TestBoundsThemselvesAreTaken(t *testing.T) {
	t.Parallel()
	client := clientFor(sqs.Options{Region: "eu-west-1", BaseEndpoint: aws.String("http://aws.invalid")})
	for _, cfg := range []adapter.Config{
		{}, {Visibility: 3 * time.Second, WaitTime: time.Second}, {Visibility: 12 * time.Hour, WaitTime: 20 * time.Second},
	} {
		if _, err := adapter.New(client, goodURL, cfg); err != nil {
			t.Errorf("%+v: %v", cfg, err)
		}
	}
	aws1 := clientFor(sqs.Options{Region: "eu-west-1"})
	for _, url := range []string{
		"https://sqs.eu-west-1.amazonaws.com/123456789012/refunds",
		"https://vpce-1.sqs.us-east-1.vpce.amazonaws.com/123456789012/refunds",
	} {
		if _, err := adapter.New(aws1, url, adapter.Config{}); err != nil {
			t.Errorf("%s: %v", url, err)
		}
	}
	slow := clientFor(sqs.Options{Region: "eu-west-1", HTTPClient: &http.Client{Timeout: 21 * time.Second}})
	if _, err := adapter.New(slow, goodURL, adapter.Config{}); err != nil {
		t.Error(err)
	}
	// A client with an endpoint of its own sends there, whatever the URL says.
	if _, err := adapter.New(client, "https://sqs.us-west-2.amazonaws.com/123456789012/refunds", adapter.Config{}); err != nil {
		t.Error(err)
	}
}

// counting counts the requests that pass.
type counting struct {
	*http.Client

	n int
}

func (c *counting) Do(r *http.Request) (*http.Response, error) {
	c.n++
	return c.Client.Do(r)
}

func TestNewChangesNothingOfTheUsersClient(t *testing.T) {
	t.Parallel()
	server := awstest.New(awstest.Config{})
	doer := &counting{Client: server.Client()}
	client := clientFor(sqs.Options{Region: "eu-west-1", BaseEndpoint: aws.String("http://aws.invalid"), HTTPClient: doer, RetryMaxAttempts: 7})
	before := client.Options()
	if _, err := adapter.New(client, goodURL, adapter.Config{}); err != nil {
		t.Fatal(err)
	}
	after := client.Options()
	if after.HTTPClient != doer || after.RetryMaxAttempts != 7 || after.Retryer != before.Retryer || len(after.APIOptions) != len(before.APIOptions) {
		t.Errorf("got %+v, want the options as they were: %+v", after, before)
	}
	if doer.n != 0 {
		t.Errorf("New made %d calls, want none", doer.n)
	}
}
