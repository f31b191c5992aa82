package dynamo

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

// Open uses a table as the SDK's usual environment has it (profile, region, AWS_ENDPOINT_URL and so on), and checks it: an error
// names what is missing and what to do. For other settings see [New].
func Open(ctx context.Context, table string) (*Store, error) {
	cfg, err := config.LoadDefaultConfig(ctx)
	if err != nil {
		return nil, fmt.Errorf("dynamo: the AWS configuration does not load: %w", err)
	}
	if err := usable(ctx, &cfg, "DYNAMODB"); err != nil {
		return nil, fmt.Errorf("dynamo: table %s: %w", table, err)
	}
	s, err := New(dynamodb.NewFromConfig(cfg), table, Config{})
	if err != nil {
		return nil, err
	}
	return s, s.Check(ctx)
}

// usable makes sure of region and credentials, whose absence the SDK reports late.
func usable(ctx context.Context, cfg *aws.Config, service string) error {
	emulated := os.Getenv("AWS_ENDPOINT_URL") != "" || os.Getenv("AWS_ENDPOINT_URL_"+service) != ""
	if cfg.Region == "" {
		if !emulated {
			return errors.New("no region: set AWS_REGION, or choose a profile that has one with AWS_PROFILE")
		}
		cfg.Region = "us-east-1"
	}
	if cfg.Credentials == nil {
		return errNoCredentials
	}
	if _, err := cfg.Credentials.Retrieve(ctx); err != nil {
		return fmt.Errorf("%w: %w", errNoCredentials, err)
	}
	return nil
}

var errNoCredentials = errors.New("no credentials: set AWS_PROFILE or sign in as the AWS CLI does; " +
	"a local server takes any, so export AWS_ACCESS_KEY_ID=test AWS_SECRET_ACCESS_KEY=test")
