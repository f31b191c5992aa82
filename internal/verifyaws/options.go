package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"regexp"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/feature/ec2/imds"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/claimonce/claimonce/internal/awshttp"
)

type options struct {
	endpoint, region, prefix, known string
	keep, yes                       bool
}

func parse(args []string, stderr io.Writer) (options, error) {
	var o options
	fs := flag.NewFlagSet("verifyaws", flag.ContinueOnError)
	fs.SetOutput(stderr)
	fs.StringVar(&o.endpoint, "endpoint", "", "`URL` of a server to use instead of AWS; empty: AWS_ENDPOINT_URL, if that is set")
	fs.StringVar(&o.region, "region", "", "AWS `region`; empty: as the environment says, or us-east-1 where an endpoint is given")
	fs.StringVar(&o.prefix, "prefix", "claimonce-verify-", "`beginning` of the names of all that is created")
	fs.StringVar(&o.known, "known", "", "`file` of facts that this server is known to fail: lines of an id and the reason")
	fs.BoolVar(&o.keep, "keep", false, "do not delete the table and the queues at the end")
	fs.BoolVar(&o.yes, "yes", false, "do not ask")
	if err := fs.Parse(args); err != nil {
		return options{}, err
	}
	if fs.NArg() > 0 {
		return options{}, fmt.Errorf("unexpected argument %q: all settings are flags, see -help", fs.Arg(0))
	}
	return o, o.validate()
}

// prefixes leaves room in a queue's name of at most 80 characters.
// https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_CreateQueue.html
const prefixes = `^[A-Za-z0-9_-]{1,40}$`

func (o options) validate() error {
	if !regexp.MustCompile(prefixes).MatchString(o.prefix) {
		return fmt.Errorf("-prefix %q: give 1 to 40 characters of A-Z a-z 0-9 _ -", o.prefix)
	}
	return nil
}

// onAWS: no server takes its place.
func (o options) onAWS() bool {
	for _, name := range []string{"AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_SQS", "AWS_ENDPOINT_URL_DYNAMODB"} {
		if os.Getenv(name) != "" {
			return false
		}
	}
	return o.endpoint == ""
}

func (o options) aws(ctx context.Context) (aws.Config, error) {
	var load []func(*config.LoadOptions) error
	if o.region != "" {
		load = append(load, config.WithRegion(o.region))
	}
	if !o.onAWS() { // do not ask the network for an EC2 instance's role: where there is none, that hangs for seconds
		load = append(load, config.WithEC2IMDSClientEnableState(imds.ClientDisabled))
	}
	cfg, err := config.LoadDefaultConfig(ctx, load...)
	if err != nil {
		return aws.Config{}, fmt.Errorf("the AWS configuration does not load: %w", err)
	}
	if cfg.Region == "" {
		if o.onAWS() {
			return aws.Config{}, errors.New("no region: set AWS_REGION or give -region")
		}
		cfg.Region = "us-east-1"
	}
	if _, err := cfg.Credentials.Retrieve(ctx); err != nil {
		return aws.Config{}, fmt.Errorf("no credentials: set AWS_PROFILE, or sign in as the AWS CLI does; "+
			"a local server takes any, so export AWS_ACCESS_KEY_ID=test AWS_SECRET_ACCESS_KEY=test: %w", err)
	}
	return cfg, nil
}

// patience is how often a call is sent: many queues are created at once, more quickly than a new account may.
const patience = 6

// clients set the flag's endpoint on each client: on the configuration, AWS_ENDPOINT_URL_SQS would win over the flag. Their HTTP
// clients are those of the adapter and the store.
func (o options) clients(cfg aws.Config) (*sqs.Client, *dynamodb.Client) {
	s := sqs.NewFromConfig(cfg, func(client *sqs.Options) {
		client.HTTPClient, client.RetryMaxAttempts = awshttp.Wrap(client.HTTPClient), patience
		if o.endpoint != "" {
			client.BaseEndpoint = &o.endpoint
		}
	})
	d := dynamodb.NewFromConfig(cfg, func(client *dynamodb.Options) {
		client.HTTPClient, client.RetryMaxAttempts = awshttp.Wrap(client.HTTPClient), patience
		if o.endpoint != "" {
			client.BaseEndpoint = &o.endpoint
		}
	})
	return s, d
}
