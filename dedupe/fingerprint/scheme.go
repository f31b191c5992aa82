package fingerprint

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"hash"
	"slices"
	"strings"
)

const (
	algorithm  = "1"
	domain     = "claimonce/fingerprint"
	tagDomain  = "claimonce/fingerprint/rules"
	tagBytes   = 6
	digestSize = 43
)

// SchemeOf returns the scheme that a stored digest was made by, or "" if the
// string is no digest of this package's form. Its result is meant for
// [Digester.DigestAs], which refuses "".
func SchemeOf(digest string) string {
	scheme, sum, ok := strings.Cut(digest, ":")
	if !ok || len(sum) != digestSize {
		return ""
	}
	return scheme
}

func (c Config) scheme() string {
	s := algorithm + "j"
	if c.Format == Raw {
		s = algorithm + "r"
	}
	if c.Secret != nil {
		s += "h"
	}
	if len(c.Volatile) > 0 || c.Select != "" || c.Secret != nil {
		s += "-" + c.tag()
	}
	if c.Version != "" {
		s += "." + c.Version
	}
	return s
}

// tag makes rules that differ carry different schemes even where the
// application forgot to change Version: what would be a false mismatch for every
// older record is then an unknown scheme, which is no verdict.
func (c Config) tag() string {
	h := hasher(c.Secret)()
	pointers := slices.Clone(c.Volatile)
	slices.Sort(pointers) // their order and repetition mean nothing
	pointers = slices.Compact(pointers)
	writeField(h, tagDomain)
	writeField(h, c.Select)
	for _, p := range pointers {
		writeField(h, p)
	}
	return base64.RawURLEncoding.EncodeToString(h.Sum(nil)[:tagBytes])
}

// hasher keeps the secret inside a function value, where printing a Digester
// does not show it.
func hasher(secret []byte) func() hash.Hash {
	if secret == nil {
		return sha256.New
	}
	own := slices.Clone(secret)
	return func() hash.Hash { return hmac.New(sha256.New, own) }
}

// writeField writes the length first, so that ("ab", "c") and ("a", "bc") are
// different bytes.
func writeField[T string | []byte](h hash.Hash, field T) {
	var size [8]byte
	binary.BigEndian.PutUint64(size[:], uint64(len(field)))
	h.Write(size[:])
	h.Write([]byte(field))
}
