package consumer

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/claimonce/claimonce/dedupe"
)

// A PathCheck is one message that shows whether key, tenant and time arrive at the workers: bridges, fan-outs and gateways strip
// attributes silently, and what they strip is noticed as a dead letter, or not at all.
//
//	check, err := consumer.NewPathCheck("refund", consumer.PathCheckConfig{TenantAttribute: "Tenant"})
//	// send check.Body() with check.Attributes() as string attributes, by the application's own producer, over the real path
//	arrival, err := check.Await(ctx, store) // the workers' store
//	fmt.Println(arrival)
//
// A worker that receives it never runs the handler, in observe-only mode too. It writes what arrived as the result of a record of its
// own and acks the message, whether or not anything was stripped. In observe-only mode one of a group is acked and logged even if
// the store does not take the answer: what is behind it must not wait. Await then ends with [ErrNotArrived].
//
// A message is taken for a check if its body is one JSON object whose first member is named claimonce-path-check, with
// the members of [PathCheck.Body], each of the right form, and no others. A message that only begins so is an ordinary one.
type PathCheck struct {
	probe pathProbe
	cfg   PathCheckConfig
	key   dedupe.Key
}

// PathCheckConfig are the names as the workers' [Config] has them. The zero value fits its defaults.
type PathCheckConfig struct {
	KeyAttribute       string // default "Idempotency-Key"
	TenantAttribute    string // default none: the workers take no tenant from messages
	Tenant             string // to be sent; default a random one. Filter policies may ask for a real one
	CreatedAtAttribute string // default "Operation-Created-At"
}

// NewPathCheck makes a check with fresh random values. It is for one message: make another for another try. operation is what the workers
// are named for; where a path fans out to workers of several, those of the others answer too, and are not seen here.
func NewPathCheck(operation string, cfg PathCheckConfig) (*PathCheck, error) {
	if cfg.KeyAttribute == "" {
		cfg.KeyAttribute = DefaultKeyAttribute
	}
	if cfg.CreatedAtAttribute == "" {
		cfg.CreatedAtAttribute = DefaultCreatedAtAttribute
	}
	if cfg.TenantAttribute != "" && cfg.Tenant == "" {
		cfg.Tenant = "path-check-" + probeToken()
	}
	if cfg.TenantAttribute == "" && cfg.Tenant != "" {
		return nil, errors.New("consumer: path check: Tenant is set without TenantAttribute, so that it could not be sent; name the attribute")
	}
	p := pathProbe{Token: probeToken(), CreatedAt: time.Now().UTC().Format(time.RFC3339), Key: probeToken(), Operation: operation, Tenant: cfg.Tenant}
	if err := (dedupe.Key{Tenant: p.Tenant, Operation: operation, ID: p.Key}).Validate(""); err != nil {
		return nil, fmt.Errorf("consumer: path check: no message can have this operation and tenant: %w", err)
	}
	return &PathCheck{probe: p, cfg: cfg, key: p.record(operation)}, nil
}

// probeToken is 128 random bits as 22 characters.
func probeToken() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails: the runtime ends the process if the system has no entropy
	return base64.RawURLEncoding.EncodeToString(b[:])
}

// Body is what is to be sent, as it is: a JSON object.
func (p *PathCheck) Body() []byte {
	body, err := json.Marshal(p.probe)
	if err != nil {
		panic("consumer: a struct of strings cannot be encoded: " + err.Error()) // it always can
	}
	return body
}

// Attributes are to be sent beside the body, as strings.
func (p *PathCheck) Attributes() []Attribute {
	as := []Attribute{
		{Name: p.cfg.KeyAttribute, Value: []byte(p.probe.Key)},
		{Name: p.cfg.CreatedAtAttribute, Value: []byte(p.probe.CreatedAt)},
	}
	if p.cfg.TenantAttribute != "" {
		as = append(as, Attribute{Name: p.cfg.TenantAttribute, Value: []byte(p.probe.Tenant)})
	}
	return as
}

// ErrNotArrived says that no worker has answered the check yet.
var ErrNotArrived = errors.New("no worker has answered the path check")

// Await asks the workers' store until one of them has answered or ctx ends: give it a deadline beyond the path's usual delay. An
// error then wraps [ErrNotArrived] and the context's, and says where to look. It may be called again.
func (p *PathCheck) Await(ctx context.Context, store dedupe.Store) (Arrival, error) {
	started := time.Now()
	asked := backoff{base: 100 * time.Millisecond, top: 2 * time.Second}
	var last error
	begun := false
	for {
		rec, err := store.Load(ctx, p.key)
		begun = begun || err == nil && rec.State != dedupe.StateAbsent
		switch {
		case err == nil && rec.State == dedupe.StateCompleted:
			return p.read(rec)
		case errors.Is(err, dedupe.ErrSetup), errors.Is(err, dedupe.ErrNewerSchema):
			return Arrival{}, fmt.Errorf("consumer: path check: %w", err)
		case err == nil || ctx.Err() == nil:
			last = err
		}
		if !pause(ctx, asked.next()) {
			return Arrival{}, p.notArrived(ctx, time.Since(started), begun, last)
		}
	}
}

func (p *PathCheck) notArrived(ctx context.Context, after time.Duration, begun bool, last error) error {
	if begun {
		return fmt.Errorf("consumer: path check of %q: %w after %v: %w; the message arrived, but the worker could not write its answer yet: "+
			"wait again, and look at that worker's log", p.probe.Operation, ErrNotArrived, after.Round(time.Second), context.Cause(ctx))
	}
	err := fmt.Errorf("consumer: path check of %q: %w after %v: %w; look among the dead letters of its queue (one whose body was wrapped or changed on "+
		"the way is refused there, as a missing key or for its body), at the filter policies of subscriptions and pipes, whether it still waits in a queue, "+
		"whether workers of this operation run, at a release that knows path checks, and whether they use this store",
		p.probe.Operation, ErrNotArrived, after.Round(time.Second), context.Cause(ctx))
	if last != nil {
		err = fmt.Errorf("%w; the store failed last with: %w", err, last)
	}
	return err
}
