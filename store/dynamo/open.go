package dynamo

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/feature/ec2/imds"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

// Open uses a table with the SDK's usual environment (profile, region, AWS_ENDPOINT_URL and so on) and looks at it once, by
// DescribeTable, or where that is not allowed by reading an item: an error says what is missing and what to do. opts change how that
// environment is read. For other settings see [New].
func Open(ctx context.Context, table string, opts ...func(*config.LoadOptions) error) (*Store, error) {
	emulated := emulator()
	if emulated { // do not ask the network for an EC2 instance's role: where there is none, that takes seconds
		opts = append([]func(*config.LoadOptions) error{config.WithEC2IMDSClientEnableState(imds.ClientDisabled)}, opts...)
	}
	cfg, err := config.LoadDefaultConfig(ctx, opts...)
	if err != nil {
		return nil, fmt.Errorf("dynamo: open table %s: the AWS configuration does not load: %w", table, err)
	}
	if err := usable(ctx, &cfg, emulated); err != nil {
		return nil, fmt.Errorf("dynamo: open table %s: %w", table, err)
	}
	s, err := New(dynamodb.NewFromConfig(cfg), table, Config{})
	if err != nil {
		return nil, err
	}
	t, err := s.describe(ctx)
	if forbidden(err) {
		if err := s.readable(ctx); err != nil {
			return nil, s.failed("open", err)
		}
		return s, nil
	}
	if err != nil {
		return nil, s.failed("open", err)
	}
	if problems := checkTable(t); len(problems) > 0 {
		return nil, s.unfit(problems)
	}
	return s, nil
}

// emulator: the environment names an endpoint that is no AWS one. Those, of a VPC for example, speak TLS.
func emulator() bool {
	return strings.HasPrefix(cmp.Or(os.Getenv("AWS_ENDPOINT_URL_DYNAMODB"), os.Getenv("AWS_ENDPOINT_URL")), "http://")
}

// usable makes sure of region and credentials, whose absence the SDK reports late.
func usable(ctx context.Context, cfg *aws.Config, emulated bool) error {
	if cfg.Region == "" {
		if !emulated {
			return errors.New("no region: set AWS_REGION, or choose a profile that has one with AWS_PROFILE")
		}
		cfg.Region = "us-east-1"
	}
	if cfg.Credentials == nil {
		return errNoCredentials
	}
	if _, err := cfg.Credentials.Retrieve(ctx); err != nil && ctx.Err() != nil { // told to stop: nothing is wrong with them
		return context.Cause(ctx)
	} else if err != nil {
		return fmt.Errorf("%w (region %s): %w", errNoCredentials, cfg.Region, err)
	}
	return nil
}

var errNoCredentials = errors.New("no credentials: set AWS_PROFILE or sign in as the AWS CLI does; " +
	"a local server takes any, so export AWS_ACCESS_KEY_ID=test AWS_SECRET_ACCESS_KEY=test")
