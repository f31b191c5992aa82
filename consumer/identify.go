package consumer

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/claimonce/claimonce/dedupe"
)

// A refusal is why a message can never run. It is dead-lettered, never let through and never silently deleted.
type refusal struct {
	reason string
	err    error
}

func (r *refusal) Error() string {
	if text := r.err.Error(); strings.HasPrefix(text, r.reason) {
		return text
	}
	return r.reason + ": " + r.err.Error()
}
func (r *refusal) Unwrap() error { return r.err }

// identify takes the key from a message, without looking at its body. The key is set as far as it is known even if there is
// a refusal.
func (c *Consumer) identify(m *Message) (dedupe.Key, *refusal) {
	m.Needed = c.needed
	key := dedupe.Key{Tenant: c.cfg.Tenant.fixed, Operation: c.operation}
	if m.Fault != nil { // before the key: whatever is missing is missing because of it
		return key, &refusal{ReasonMalformedBody, m.Fault}
	}
	if name := c.cfg.Tenant.attribute; name != "" {
		tenant, ok, err := m.Attribute(name)
		switch {
		case err != nil:
			return key, &refusal{ReasonMissingTenant, err}
		case !ok || tenant == "":
			return key, &refusal{ReasonMissingTenant, &noTenantError{missing(m, name, ", which names its tenant")}}
		}
		key.Tenant = tenant
	}
	id, ok, err := c.keyOf(m)
	switch {
	case err != nil:
		return key, &refusal{ReasonMalformedKey, err}
	case !ok:
		return key, &refusal{ReasonMissingKey, missing(m, c.cfg.KeyAttribute, "")}
	}
	key.ID = id
	if err := c.ledger.ValidateKey(key); err != nil {
		if errors.Is(err, dedupe.ErrMissingKey) {
			return key, &refusal{ReasonMissingKey, err}
		}
		return key, &refusal{ReasonMalformedKey, err}
	}
	return key, nil
}

// needed names the attributes that identify looks at, and the one of the age.
func (c Config) needed() []string {
	names := []string{c.KeyAttribute, c.OldKeyAttribute, c.Tenant.attribute, c.CreatedAtAttribute}
	return slices.DeleteFunc(names, func(name string) bool { return name == "" })
}

// missing says more if the source knows more.
func missing(m *Message, name, meaning string) error {
	err := fmt.Errorf("%w: the message has no attribute %s%s", dedupe.ErrMissingKey, name, meaning)
	if m.Hint != "" {
		err = fmt.Errorf("%w; %s", err, m.Hint)
	}
	return err
}

// noTenantError is a missing key to errors.Is, since without its tenant a key names nothing; a reader would look for the key.
type noTenantError struct{ error }

func (e *noTenantError) Error() string {
	return strings.TrimPrefix(e.error.Error(), dedupe.ErrMissingKey.Error()+": ")
}
func (e *noTenantError) Unwrap() error { return e.error }

func (c *Consumer) keyOf(m *Message) (id string, ok bool, err error) {
	if c.cfg.MessageIDAsKey {
		return m.ID, true, nil
	}
	id, ok, err = m.Attribute(c.cfg.KeyAttribute)
	if err == nil && !ok && c.cfg.OldKeyAttribute != "" {
		id, ok, err = m.Attribute(c.cfg.OldKeyAttribute)
	}
	return id, ok, err
}

// age refuses what is older than records remember: a record of its first run may be gone. accepted: it is, and is run all the same.
func (c *Consumer) age(m *Message, now time.Time) (accepted bool, ref *refusal) {
	made, err := c.createdAt(m)
	if err != nil {
		return false, &refusal{ReasonMalformedCreated, err}
	}
	rules := c.ledger.Rules()
	oldest := rules.Window - 2*rules.SkewMargin
	switch {
	case made.IsZero() || now.Sub(made) <= oldest:
		return false, nil
	case c.cfg.AcceptOlderThanWindow != "":
		return true, nil
	}
	return false, &refusal{ReasonOlderThanWindow, fmt.Errorf("%w: made at %s, which is more than %v ago",
		dedupe.ErrOlderThanWindow, made.UTC().Format(time.RFC3339), oldest)}
}

func (c *Consumer) createdAt(m *Message) (time.Time, error) {
	text, ok, err := m.Attribute(c.cfg.CreatedAtAttribute)
	if err != nil {
		return time.Time{}, err
	}
	if !ok {
		return m.SentAt, nil
	}
	made, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return time.Time{}, fmt.Errorf("attribute %s is no RFC 3339 time such as 2026-01-31T12:00:00Z", c.cfg.CreatedAtAttribute)
	}
	return made, nil
}

// prepare decodes and digests the body. Decoders are the application's code: one that panics refuses its message.
func (c *Consumer) prepare(m *Message, key dedupe.Key) (run dedupe.Handler, req dedupe.Request, ref *refusal) {
	req, err := c.ledger.Request(key, m.Body)
	if err == nil {
		if fault := guarded(func() { run, err = c.handler.prepare(m) }); fault != nil {
			err = fmt.Errorf("the decoder %w", fault)
		}
	}
	if err != nil {
		return nil, req, &refusal{ReasonMalformedBody, err}
	}
	return run, req, nil
}
