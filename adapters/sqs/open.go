package sqs

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/claimonce/claimonce/consumer"
)

// Open uses a queue as the SDK's usual environment has it (profile, region, AWS_ENDPOINT_URL and so on), and checks it: an error
// names what is missing and what to do. The region is the one of the queue's URL where nothing else names one.
func Open(ctx context.Context, queueURL string) (*Source, error) {
	return OpenWith(ctx, queueURL, Config{})
}

// OpenWith is [Open] with settings of the source. For settings of the SDK's client see [New].
func OpenWith(ctx context.Context, queueURL string, settings Config) (*Source, error) {
	cfg, err := config.LoadDefaultConfig(ctx)
	if err != nil {
		return nil, fmt.Errorf("sqs: %s: %w: the AWS configuration does not load: %w", nameOf(queueURL), consumer.ErrSetup, err)
	}
	if cfg.Region == "" {
		cfg.Region = regionOf(queueURL)
	}
	if cfg.Region == "" && (os.Getenv("AWS_ENDPOINT_URL") != "" || os.Getenv("AWS_ENDPOINT_URL_SQS") != "") {
		cfg.Region = "us-east-1" // what servers other than AWS take for granted
	}
	if cfg.Region == "" {
		return nil, fmt.Errorf("sqs: %s: %w: no region: set AWS_REGION, or choose a profile that has one with AWS_PROFILE", nameOf(queueURL), consumer.ErrSetup)
	}
	if err := haveCredentials(ctx, cfg); err != nil && ctx.Err() != nil { // told to stop: nothing is wrong with them
		return nil, fmt.Errorf("sqs: open %s: %w", nameOf(queueURL), context.Cause(ctx))
	} else if err != nil {
		return nil, fmt.Errorf("sqs: %s: %w: no credentials: set AWS_PROFILE or sign in as the AWS CLI does; "+
			"a local server takes any, so export AWS_ACCESS_KEY_ID=test AWS_SECRET_ACCESS_KEY=test: %w", nameOf(queueURL), consumer.ErrSetup, err)
	}
	s, err := New(sqs.NewFromConfig(cfg), queueURL, settings)
	if err != nil {
		return nil, err
	}
	if err := s.Check(ctx); err != nil {
		return nil, err
	}
	return s, nil
}

func haveCredentials(ctx context.Context, cfg aws.Config) error {
	if cfg.Credentials == nil {
		return errors.New("none are configured")
	}
	_, err := cfg.Credentials.Retrieve(ctx)
	return err
}
