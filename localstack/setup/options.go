package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/feature/ec2/imds"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
)

const fifo = ".fifo"

type options struct {
	queue, dlq, table string
	region, endpoint  string
	maxReceives       int
}

func parse(args []string, stderr io.Writer) (options, error) {
	var o options
	fs := flag.NewFlagSet("setup", flag.ContinueOnError)
	fs.SetOutput(stderr)
	fs.StringVar(&o.queue, "queue", "claimonce-refunds", "name of the `queue`; one that ends in .fifo becomes a FIFO queue; empty: no queue")
	fs.StringVar(&o.dlq, "dlq", "", "name of the dead-letter `queue`; empty: the queue's name with -dlq")
	fs.StringVar(&o.table, "table", "claimonce", "name of the `table` of records; empty: no table")
	fs.StringVar(&o.region, "region", "", "AWS `region`; empty: as the environment says, or us-east-1 where an endpoint is given")
	fs.StringVar(&o.endpoint, "endpoint", "", "`URL` of a server to use instead of AWS; empty: AWS_ENDPOINT_URL, if that is set")
	fs.IntVar(&o.maxReceives, "max-receive-count", 100, "receives after which SQS itself moves a message to the dead-letter queue, 1 to 1000")
	if err := fs.Parse(args); err != nil {
		return options{}, err
	}
	if fs.NArg() > 0 {
		return options{}, fmt.Errorf("unexpected argument %q: all settings are flags, see -help", fs.Arg(0))
	}
	if o.dlq == "" && o.queue != "" {
		name, isFIFO := strings.CutSuffix(o.queue, fifo)
		o.dlq = name + "-dlq"
		if isFIFO {
			o.dlq += fifo
		}
	}
	return o, o.validate()
}

// validate joins all problems, so that a person mends them in one go.
func (o options) validate() error {
	var problems []error
	if o.queue == "" && o.table == "" {
		problems = append(problems, errors.New("nothing to do: give -queue, -table or both a name"))
	}
	if o.queue != "" && o.queue == o.dlq {
		problems = append(problems, fmt.Errorf("-queue and -dlq are both %q: a queue cannot be its own dead-letter queue", o.queue))
	}
	if o.queue != "" && strings.HasSuffix(o.queue, fifo) != strings.HasSuffix(o.dlq, fifo) {
		problems = append(problems, fmt.Errorf("-queue %q and -dlq %q: SQS wants both or neither to end in %s", o.queue, o.dlq, fifo))
	}
	if o.maxReceives < 1 || o.maxReceives > 1000 {
		problems = append(problems, fmt.Errorf("-max-receive-count %d: SQS accepts 1 to 1000", o.maxReceives))
	}
	return errors.Join(problems...)
}

// aws loads the SDK's configuration and makes sure of region and credentials, whose absence the SDK reports late and darkly.
func (o options) aws(ctx context.Context) (aws.Config, error) {
	var load []func(*config.LoadOptions) error
	if o.region != "" {
		load = append(load, config.WithRegion(o.region))
	}
	emulated := o.endpoint != "" || os.Getenv("AWS_ENDPOINT_URL") != ""
	if emulated { // do not ask the network for an EC2 instance's role: where there is none, that hangs for seconds
		load = append(load, config.WithEC2IMDSClientEnableState(imds.ClientDisabled))
	}
	cfg, err := config.LoadDefaultConfig(ctx, load...)
	if err != nil {
		return aws.Config{}, fmt.Errorf("the AWS configuration does not load: %w", err)
	}
	if cfg.Region == "" {
		if !emulated {
			return aws.Config{}, errors.New("no region: set AWS_REGION or give -region")
		}
		cfg.Region = "us-east-1"
	}
	if _, err := cfg.Credentials.Retrieve(ctx); err != nil {
		if emulated {
			return aws.Config{}, fmt.Errorf("no credentials: an emulator takes any, so export AWS_ACCESS_KEY_ID=test AWS_SECRET_ACCESS_KEY=test: %w", err)
		}
		return aws.Config{}, fmt.Errorf("no credentials: set AWS_PROFILE, or sign in as the AWS CLI does: %w", err)
	}
	return cfg, nil
}

// sqs sets the flag's endpoint on the client: on the configuration, AWS_ENDPOINT_URL_SQS would win over the flag.
func (o options) sqs(cfg aws.Config) *sqs.Client {
	return sqs.NewFromConfig(cfg, func(client *sqs.Options) {
		if o.endpoint != "" {
			client.BaseEndpoint = &o.endpoint
		}
	})
}

func (o options) dynamo(cfg aws.Config) *dynamodb.Client {
	return dynamodb.NewFromConfig(cfg, func(client *dynamodb.Options) {
		if o.endpoint != "" {
			client.BaseEndpoint = &o.endpoint
		}
	})
}
