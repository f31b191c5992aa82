package dedupe

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Bounds of a [Key]. Tenant and operation are bounded so that every store can use the encoded key as
// its primary key (DynamoDB: 2,048 bytes).
const (
	MaxKeyLength   = 255 // characters of Key.ID
	MaxScopeLength = 128 // bytes of Key.Tenant and of Key.Operation, each
)

// A Key names one operation: keys are unique inside a scope (tenant and operation name), never globally.
//
// The zero Key is invalid. Printing a Key with any verb and logging it show its scope and a hash of its ID: keys may hold personal
// data and must not reach logs by accident. Encoding it, as JSON for example, keeps the ID, since keys are data too.
type Key struct {
	Tenant    string // whose operation it is; may be empty in a system of one tenant
	Operation string // the application's name of the operation, for example "refund"; required
	ID        string // the caller's idempotency key, the same on every retry
}

// StoreID encodes the key as one string for stores: no two different keys have the same one, whatever
// characters they hold, since both parts of the scope are preceded by their length in bytes.
func (k Key) StoreID() string {
	b := make([]byte, 0, len(k.Tenant)+len(k.Operation)+len(k.ID)+8)
	b = strconv.AppendInt(b, int64(len(k.Tenant)), 10)
	b = append(b, ':')
	b = append(b, k.Tenant...)
	b = strconv.AppendInt(b, int64(len(k.Operation)), 10)
	b = append(b, ':')
	b = append(b, k.Operation...)
	return string(append(b, k.ID...))
}

// Hash is a short digest of the whole key for logs, metrics and errors: 64 bits in hexadecimal.
func (k Key) Hash() string {
	sum := sha256.Sum256([]byte(k.StoreID()))
	return hex.EncodeToString(sum[:8])
}

// String shows the scope and the hash, never the ID.
func (k Key) String() string {
	return fmt.Sprintf("%q/%q#%s", k.Tenant, k.Operation, k.Hash())
}

// GoString keeps the ID out of %#v too.
func (k Key) GoString() string { return "dedupe.Key(" + k.String() + ")" }

// LogValue implements [slog.LogValuer].
func (k Key) LogValue() slog.Value {
	return slog.GroupValue(
		slog.String("tenant", k.Tenant), slog.String("operation", k.Operation), slog.String("hash", k.Hash()),
	)
}

// Validate reports everything that is wrong with the key, as one error that wraps [ErrMalformedKey] or, for an
// empty ID, [ErrMissingKey]. extra widens the alphabet A-Z a-z 0-9 _ - of the ID by more characters.
// The texts never contain the ID.
func (k Key) Validate(extra string) error {
	var errs []error
	if k.Operation == "" {
		errs = append(errs, fmt.Errorf("%w: the operation name is empty", ErrMalformedKey))
	}
	for _, s := range []struct{ name, value string }{{"tenant", k.Tenant}, {"operation", k.Operation}} {
		switch {
		case len(s.value) > MaxScopeLength:
			errs = append(errs, fmt.Errorf("%w: the %s has %d bytes, at most %d are allowed", ErrMalformedKey, s.name, len(s.value), MaxScopeLength))
		case !utf8.ValidString(s.value):
			errs = append(errs, fmt.Errorf("%w: the %s is not valid UTF-8", ErrMalformedKey, s.name))
		}
	}
	if err := validateID(k.ID, extra); err != nil {
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// validateID counts characters, not bytes: an option may allow characters outside ASCII.
func validateID(id, extra string) error {
	if strings.TrimFunc(id, isBlank) == "" {
		return fmt.Errorf("%w: it is empty or blank", ErrMissingKey)
	}
	if !utf8.ValidString(id) {
		return fmt.Errorf("%w: it is not valid UTF-8", ErrMalformedKey)
	}
	n := 0
	for _, r := range id {
		n++
		if !isKeyChar(r) && !strings.ContainsRune(extra, r) {
			return fmt.Errorf("%w: character %d (%U) is not one of A-Z a-z 0-9 _ -%s", ErrMalformedKey, n, r, hint(r))
		}
	}
	if n > MaxKeyLength {
		return fmt.Errorf("%w: it has %d characters, at most %d are allowed", ErrMalformedKey, n, MaxKeyLength)
	}
	return nil
}

func isKeyChar(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-'
}

// isBlank counts the invisible characters too that a producer may send in place of a key.
func isBlank(r rune) bool {
	switch r {
	case ' ', '\t', '\n', '\r', '\v', '\f', 0x85, 0xA0, 0x1680, 0x2028, 0x2029, 0x202F, 0x205F, 0x3000, 0xFEFF:
		return true
	}
	return r >= 0x2000 && r <= 0x200F
}

func hint(r rune) string {
	switch {
	case r == '"' || r == '\'':
		return "; send the key without quotes"
	case isBlank(r):
		return "; white space is never trimmed, since two producers could trim differently"
	}
	return "; widen the alphabet with KeyCharacters if your keys need it"
}

// validateExtra refuses alphabets that would let two spellings of one key, or a forged log line, through.
func validateExtra(extra string) error {
	for _, r := range extra {
		// Not graphic: controls, among them those of terminals, and what is not seen at all.
		if !unicode.IsGraphic(r) || r == '"' || r == '\'' || isBlank(r) || r == utf8.RuneError {
			return fmt.Errorf("KeyCharacters: %U cannot be allowed in keys: quotes, white space, control and invisible characters are refused on every queue", r)
		}
	}
	return nil
}
