package dynamo

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/claimonce/claimonce/dedupe"
	"github.com/claimonce/claimonce/internal/awshttp"
)

// Config are the settings of a [Store]; the zero value of each field means its default.
type Config struct {
	// MaxAttempts is how often the SDK sends one call, its repeats included. Default 3, or fewer if the client has fewer.
	MaxAttempts int
	// CallTimeout is how long one call may take, the SDK's repeats included: the SDK itself waits for ever for an answer on a
	// connection that is dead. Default 10 s.
	CallTimeout time.Duration
}

const (
	defaultMaxAttempts = 3
	defaultCallTimeout = 10 * time.Second
)

func (c Config) withDefaults(client *dynamodb.Client) Config {
	if c.MaxAttempts == 0 {
		c.MaxAttempts = defaultMaxAttempts
		if r := client.Options().Retryer; r != nil && r.MaxAttempts() > 0 {
			c.MaxAttempts = min(c.MaxAttempts, r.MaxAttempts())
		}
	}
	if c.CallTimeout == 0 {
		c.CallTimeout = defaultCallTimeout
	}
	return c
}

func (c Config) validate() error {
	var errs []error
	if c.MaxAttempts < 0 {
		errs = append(errs, fmt.Errorf("MaxAttempts is %d; it must be positive (0 means the default)", c.MaxAttempts))
	}
	if c.CallTimeout < 0 {
		errs = append(errs, fmt.Errorf("CallTimeout is %v; it must be positive (0 means the default)", c.CallTimeout))
	}
	return errors.Join(errs...)
}

// Store keeps records in a table. It is safe for concurrent use.
type Store struct {
	client *dynamodb.Client
	table  string
	cfg    Config
	clock  *clock

	// bringsItems: this server has brought an item with a refusal, so that a refusal without one says that there is none.
	bringsItems atomic.Bool
}

// New uses a client's options for a table. The client itself is not used and stays the caller's: the store's own copy has an HTTP
// client that the SDK cannot make lose answers, and that reads the server's clock. New makes no call; see [Store.Check].
func New(client *dynamodb.Client, table string, cfg Config) (*Store, error) {
	err := cfg.validate()
	if client == nil {
		err = errors.Join(errors.New("the client is nil: make one with dynamodb.NewFromConfig, or use Open"), err)
	}
	if table == "" {
		err = errors.Join(errors.New("the table has no name"), err)
	}
	if err != nil {
		return nil, fmt.Errorf("dynamo: the store cannot be built: %w", err)
	}
	s := &Store{table: table, cfg: cfg.withDefaults(client), clock: &clock{}}
	s.client = dynamodb.New(client.Options(), func(o *dynamodb.Options) {
		o.HTTPClient = s.clock.watch(awshttp.Wrap(o.HTTPClient))
		o.RetryMaxAttempts = s.cfg.MaxAttempts
	})
	return s, nil
}

// ClockSkew implements [dedupe.SkewMeter]: how far this machine's clock is ahead of the server's, to about a second.
func (s *Store) ClockSkew() (time.Duration, bool) { return s.clock.skew() }

// Load implements [dedupe.Store]: one consistent read, and one more for a result that is kept apart.
func (s *Store) Load(ctx context.Context, key dedupe.Key) (dedupe.Record, error) {
	rec, err := s.load(ctx, key)
	if err != nil {
		return dedupe.Record{}, s.failed("load from", err)
	}
	return rec, nil
}

// Swap implements [dedupe.Store]: one conditional put, after another one for a result that is kept apart.
func (s *Store) Swap(ctx context.Context, key dedupe.Key, expect dedupe.Expect, next dedupe.Record) (dedupe.Record, error) {
	current, err := s.swap(ctx, key, expect, next)
	if err != nil {
		return current, s.failed("write to", err)
	}
	return next, nil
}

func (s *Store) failed(what string, err error) error {
	return fmt.Errorf("dynamo: %s table %s in region %s: %w", what, s.table, s.client.Options().Region, err)
}
