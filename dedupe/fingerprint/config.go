package fingerprint

import (
	"errors"
	"fmt"
)

// Format says how a body is read.
type Format int

const (
	// JSON reads the body as one strict JSON value and hashes what it means.
	JSON Format = iota
	// Raw hashes the body's bytes.
	Raw
)

const (
	defaultMaxDepth = 128
	defaultMaxBody  = 16 << 20
	// The deepest levels are recursion; the bound keeps the stack small.
	limitMaxDepth = 1_000
	// Offsets and exponents are computed in int; this keeps them far from overflow.
	limitMaxBody = 1 << 30

	minSecret  = 16
	maxVersion = 32
)

// Config holds the rules of a [Digester]. The zero value is strict JSON with
// nothing left out.
type Config struct {
	// Format is how bodies are read. Default: JSON.
	Format Format

	// Volatile holds JSON Pointers (RFC 6901), from the root of the body, of
	// members and elements that are left out because they change on a retry. The
	// token * matches every member or every element; a member that is really
	// named * cannot be addressed alone. A pointer that matches nothing is
	// harmless. A pointer to an element removes it, and with * the number of
	// elements is hidden, too: to ignore a member of each write /items/*/updated.
	//
	// A body is refused if every value in it is left out.
	Volatile []string

	// Select is the JSON Pointer, from the root of the body, of the part that
	// counts: the payload inside an envelope. The rest must still be valid JSON.
	// A body without that part is refused. A selected string is compared as a
	// string, also if it holds JSON. Default: the whole body.
	Select string

	// Secret makes the digest an HMAC, for bodies that could be guessed from a
	// plain hash (few possible amounts, a known account). At least 16 random
	// bytes. Default: none.
	Secret []byte `json:"-"`

	// Version is the application's own label of these rules, 1 to 32 characters
	// of A-Z a-z 0-9 _ -. Change it whenever what goes into a Request changes.
	// A change of Format, Volatile, Select or Secret changes the scheme even if
	// Version was forgotten. Default: none.
	Version string

	// Previous holds rules that stored records may still carry, so that a change
	// never turns old records into false mismatches. Their own Previous count
	// too, so the former Config can be put here as it was.
	Previous []Config

	// MaxDepth is how deep arrays and objects may be nested. Default: 128; at
	// most 1,000.
	MaxDepth int

	// MaxBody is the largest body, in bytes, in either format. Default: 16 MiB;
	// at most 1 GiB.
	MaxBody int
}

// String names the scheme and hides everything else, so that a logged Config
// does not reveal its secret.
func (c Config) String() string {
	r, err := c.compile("")
	if err != nil {
		return "fingerprint.Config(invalid)"
	}
	return "fingerprint.Config(" + r.scheme + ")"
}

// GoString is String, for %#v.
func (c Config) GoString() string { return c.String() }

// compile checks everything except Previous, and reports all problems at once.
// Each names its field after the path where, as in config.Previous[0].Select.
func (c Config) compile(where string) (*rules, error) {
	var problems []error
	report := func(field string, err error) {
		if err != nil {
			problems = append(problems, fmt.Errorf("%s%s: %w", where, field, err))
		}
	}
	report("Format", c.checkFormat())
	report("Secret", checkSecret(c.Secret))
	report("Version", checkVersion(c.Version))
	maxDepth, err := limit(c.MaxDepth, defaultMaxDepth, limitMaxDepth)
	report("MaxDepth", err)
	maxBody, err := limit(c.MaxBody, defaultMaxBody, limitMaxBody)
	report("MaxBody", err)
	selected, err := parseSelect(c.Select)
	report("Select", err)
	var volatile *node
	for i, pointer := range c.Volatile {
		tokens, err := parseVolatile(pointer, selected)
		report(fmt.Sprintf("Volatile[%d]", i), err)
		volatile = volatile.insert(tokens)
	}
	if len(problems) > 0 {
		return nil, errors.Join(problems...)
	}
	return &rules{
		scheme: c.scheme(), format: c.Format, newHash: hasher(c.Secret),
		volatile: volatile, selected: selected, maxDepth: maxDepth, maxBody: maxBody,
	}, nil
}

func (c Config) checkFormat() error {
	switch c.Format {
	case JSON:
	case Raw:
		if len(c.Volatile) > 0 || c.Select != "" {
			return errors.New("is Raw, and a raw body has no members; use JSON, or no Volatile and no Select")
		}
	default:
		return fmt.Errorf("is %d; use JSON or Raw", c.Format)
	}
	return nil
}

func checkSecret(secret []byte) error {
	// An empty secret is most likely a variable that was not set.
	if secret != nil && len(secret) < minSecret {
		return fmt.Errorf("has %d bytes; use at least %d random ones, or nil for none", len(secret), minSecret)
	}
	return nil
}

func limit(value, byDefault, most int) (int, error) {
	switch {
	case value == 0:
		return byDefault, nil
	case value < 0 || value > most:
		return 0, fmt.Errorf("is %d; use 1 to %d, or 0 for %d", value, most, byDefault)
	}
	return value, nil
}

func checkVersion(version string) error {
	if len(version) > maxVersion {
		return fmt.Errorf("has %d characters; use at most %d", len(version), maxVersion)
	}
	for i := range len(version) {
		switch c := version[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '_', c == '-':
		default:
			return fmt.Errorf("is %q; use only A-Z a-z 0-9 _ -", version)
		}
	}
	return nil
}
