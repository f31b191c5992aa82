package sqs

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/claimonce/claimonce/consumer"
)

// Open uses a queue as the SDK's usual environment has it (profile, region, AWS_ENDPOINT_URL and so on), and checks it: an error
// names what is missing and what to do. For other settings see [New].
func Open(ctx context.Context, queueURL string) (*Source, error) {
	cfg, err := config.LoadDefaultConfig(ctx)
	if err != nil {
		return nil, fmt.Errorf("sqs: the AWS configuration does not load: %w", err)
	}
	emulated := os.Getenv("AWS_ENDPOINT_URL") != "" || os.Getenv("AWS_ENDPOINT_URL_SQS") != ""
	if cfg.Region == "" {
		if !emulated {
			return nil, fmt.Errorf("sqs: %s: %w: no region: set AWS_REGION, or choose a profile that has one with AWS_PROFILE", nameOf(queueURL), consumer.ErrSetup)
		}
		cfg.Region = "us-east-1"
	}
	if cfg.Credentials == nil {
		err = errors.New("none are configured")
	} else {
		_, err = cfg.Credentials.Retrieve(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("sqs: %s: %w: no credentials: set AWS_PROFILE or sign in as the AWS CLI does; "+
			"a local server takes any, so export AWS_ACCESS_KEY_ID=test AWS_SECRET_ACCESS_KEY=test: %w", nameOf(queueURL), consumer.ErrSetup, err)
	}
	s, err := New(sqs.NewFromConfig(cfg), queueURL, Config{})
	if err != nil {
		return nil, err
	}
	return s, s.Check(ctx)
}
