package dynamo

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"

	"github.com/claimonce/claimonce/dedupe"
	"github.com/claimonce/claimonce/internal/awshttp"
)

// Config are the settings of a [Store]; the zero value of each field means its default.
type Config struct {
	// MaxAttempts is how often the SDK sends one call, its repeats included. Default 3.
	MaxAttempts int
}

// Store keeps records in a table. It is safe for concurrent use.
type Store struct {
	client *dynamodb.Client
	table  string
	clock  *clock
}

// New uses a client's configuration for a table. The client itself is not used and stays the caller's: the store's own copy has an
// HTTP client that the SDK cannot make lose answers, and that reads the server's clock.
func New(client *dynamodb.Client, table string, cfg Config) (*Store, error) {
	if client == nil || table == "" {
		return nil, errors.New("dynamo: a client and the table's name are required")
	}
	if cfg.MaxAttempts < 0 {
		return nil, fmt.Errorf("dynamo: MaxAttempts is %d; it must be positive (0 means the default)", cfg.MaxAttempts)
	}
	if cfg.MaxAttempts == 0 {
		cfg.MaxAttempts = 3
	}
	s := &Store{table: table, clock: &clock{}}
	s.client = dynamodb.New(client.Options(), func(o *dynamodb.Options) {
		o.HTTPClient = s.clock.watch(awshttp.Wrap(o.HTTPClient))
		o.RetryMaxAttempts = cfg.MaxAttempts
	})
	return s, nil
}

// Load implements [dedupe.Store]: one consistent read.
func (s *Store) Load(ctx context.Context, key dedupe.Key) (dedupe.Record, error) {
	rec, err := s.load(ctx, key)
	if err != nil {
		return dedupe.Record{}, fmt.Errorf("dynamo: load from %s: %w", s.table, err)
	}
	return rec, nil
}

func (s *Store) load(ctx context.Context, key dedupe.Key) (dedupe.Record, error) {
	out, err := s.client.GetItem(ctx, &dynamodb.GetItemInput{
		TableName: &s.table, ConsistentRead: aws.Bool(true),
		Key: item{attrID: &types.AttributeValueMemberS{Value: key.StoreID()}},
	})
	if err != nil || len(out.Item) == 0 {
		return dedupe.Record{}, err
	}
	return s.read(ctx, key, out.Item)
}

func (s *Store) read(ctx context.Context, key dedupe.Key, it item) (dedupe.Record, error) {
	rec, err := decode(key, it)
	if err != nil {
		return dedupe.Record{}, err
	}
	rec.Result, err = s.result(ctx, it)
	return rec, err
}

// Swap implements [dedupe.Store]: one conditional put, after one more for a result that does not fit into the record.
func (s *Store) Swap(ctx context.Context, key dedupe.Key, expect dedupe.Expect, next dedupe.Record) (dedupe.Record, error) {
	current, err := s.swap(ctx, key, expect, next)
	if err != nil {
		return current, fmt.Errorf("dynamo: write to %s: %w", s.table, err)
	}
	return current, nil
}

func (s *Store) swap(ctx context.Context, key dedupe.Key, expect dedupe.Expect, next dedupe.Record) (dedupe.Record, error) {
	if next.Key != key {
		return dedupe.Record{}, errors.New("the record's key is not the one to be written")
	}
	record, second, err := items(next)
	if err != nil {
		return dedupe.Record{}, err
	}
	if second != nil {
		// First: a completion must never point to a result that is not there. If we crash in between, the item is left
		// without a record and expires.
		if _, err := s.client.PutItem(ctx, &dynamodb.PutItemInput{TableName: &s.table, Item: second}); err != nil {
			return dedupe.Record{}, sized(err)
		}
	}
	in := &dynamodb.PutItemInput{
		TableName: &s.table, Item: record,
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	}
	condition(in, expect)
	_, err = s.client.PutItem(ctx, in)
	if refused, ok := errors.AsType[*types.ConditionalCheckFailedException](err); ok {
		return s.conflict(ctx, key, refused)
	}
	if err != nil {
		return dedupe.Record{}, sized(err)
	}
	return next.Clone(), nil
}

// condition is the whole of what DynamoDB decides. It filters expires_at at read time: TTL deletes hours late.
func condition(in *dynamodb.PutItemInput, expect dedupe.Expect) {
	if revision, ok := expect.Revision(); ok {
		in.ConditionExpression = aws.String("revision = :revision")
		in.ExpressionAttributeValues = item{":revision": &types.AttributeValueMemberS{Value: revision}}
		return
	}
	in.ConditionExpression = aws.String("attribute_not_exists(id) OR expires_at <= :t")
	in.ExpressionAttributeValues = item{":t": &types.AttributeValueMemberN{Value: strconv.FormatInt(expect.ExpiredBy(), 10)}}
}

// conflict gives what is stored. Servers that bring no item with the refusal are asked for it, consistently: an older state could
// say that nothing is there.
func (s *Store) conflict(ctx context.Context, key dedupe.Key, refused *types.ConditionalCheckFailedException) (dedupe.Record, error) {
	var rec dedupe.Record
	var err error
	if len(refused.Item) > 0 {
		rec, err = s.read(ctx, key, refused.Item)
	} else {
		rec, err = s.load(ctx, key)
	}
	if err != nil {
		return dedupe.Record{}, err
	}
	return rec, dedupe.ErrConflict
}

// sized recognises the refusal of an item for its size, which no repeat mends.
func sized(err error) error {
	if api, ok := errors.AsType[smithy.APIError](err); ok && api.ErrorCode() == "ValidationException" &&
		strings.Contains(strings.ToLower(api.ErrorMessage()), "size") {
		return fmt.Errorf("%w: %w", dedupe.ErrTooLarge, err)
	}
	return err
}

// ClockSkew implements [dedupe.SkewMeter]: how far this machine's clock is ahead of the server's, to about a second.
func (s *Store) ClockSkew() (time.Duration, bool) { return s.clock.skew() }
