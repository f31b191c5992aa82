package dynamo

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"

	"github.com/claimonce/claimonce/dedupe"
)

// put is tried again a few times where a transaction has the item, as a completion's does: the SDK does not do that.
func (s *Store) put(ctx context.Context, in *dynamodb.PutItemInput) error {
	for try := 1; ; try++ {
		err := s.call(ctx, func(ctx context.Context) error {
			_, err := s.client.PutItem(ctx, in)
			return err
		})
		if _, met := errors.AsType[*types.TransactionConflictException](err); !met || try == conflictTries || !pause(ctx, try) {
			return err
		}
	}
}

// get is one strongly consistent read; nil where there is no such item.
func (s *Store) get(ctx context.Context, id string) (it item, err error) {
	err = s.call(ctx, func(ctx context.Context) error {
		out, err := s.client.GetItem(ctx, &dynamodb.GetItemInput{
			TableName: &s.table, ConsistentRead: aws.Bool(true), Key: item{attrID: textValue(id)},
		})
		if err == nil {
			it = out.Item
		}
		return err
	})
	return it, err
}

func (s *Store) call(ctx context.Context, do func(context.Context) error) error {
	return s.explained(s.bare(ctx, do))
}

// bare is a call whose errors are not explained, but for that of a server that does not answer.
func (s *Store) bare(ctx context.Context, do func(context.Context) error) error {
	limited, cancel := context.WithTimeout(ctx, s.cfg.CallTimeout)
	defer cancel()
	err := do(limited)
	_, refused := errors.AsType[*types.ConditionalCheckFailedException](err)
	_, cancelled := errors.AsType[*types.TransactionCanceledException](err)
	switch {
	case err == nil || refused || cancelled:
		return err
	case ctx.Err() != nil && !errors.Is(err, ctx.Err()):
		return fmt.Errorf("%w: %w", ctx.Err(), err)
	case ctx.Err() == nil && limited.Err() != nil:
		// Not wrapped: the caller's own context has not ended.
		return fmt.Errorf("no answer within %v: %v", s.cfg.CallTimeout, err)
	}
	return err
}

// explained says what to do about errors that stay until somebody does something.
func (s *Store) explained(err error) error {
	coded, ok := errors.AsType[smithy.APIError](err)
	if !ok {
		return err
	}
	switch coded.ErrorCode() {
	case "ValidationException":
		if saysTooLarge(coded.ErrorMessage()) {
			return fmt.Errorf("%w: %w", dedupe.ErrTooLarge, err)
		}
		return fmt.Errorf("%w: the table is not as it should be, which Check explains: %w", dedupe.ErrSetup, err)
	case "ResourceNotFoundException":
		return fmt.Errorf("%w: there is no such table: %s: %w", dedupe.ErrSetup, s.howToSetUp(), err)
	case "AccessDeniedException", "UnrecognizedClientException", "InvalidSignatureException", "ExpiredTokenException":
		return fmt.Errorf("the credentials are not accepted, or lack a permission (a store needs dynamodb:GetItem and PutItem; "+
			"with DescribeTable and DescribeTimeToLive the table is checked at the start): %w", err)
	}
	return err
}

func (s *Store) howToSetUp() string {
	return "check the name and the region, or make it with go run github.com/claimonce/claimonce/localstack/setup -queue '' -table " + s.table
}
