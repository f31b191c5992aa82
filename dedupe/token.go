package dedupe

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"fmt"
)

// newToken makes 128 random bits: an owner token or a revision. A fixed worker name would let a stalled attempt pass for
// its own successor on the same worker.
func newToken() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails: the runtime ends the process if the system has no entropy
	return base64.RawURLEncoding.EncodeToString(b[:])
}

// downstreamScheme separates these digests from every other use of SHA-256 and from later schemes.
const downstreamScheme = "claimonce downstream key 1"

// DownstreamKey is the idempotency key for a provider: the same on every attempt and worker of one generation, and
// another for every other tenant, operation, key, request, step and generation. It has the form of a UUID
// (version 8, RFC 9562 section 5.8), since every provider accepts that; 122 bits of it are digest.
func (r Record) DownstreamKey(step string, generation int) string {
	h := sha256.New()
	for _, part := range []string{downstreamScheme, r.Key.Tenant, r.Key.Operation, r.Key.ID, r.Fingerprint, step} {
		var n [8]byte
		binary.BigEndian.PutUint64(n[:], uint64(len(part)))
		h.Write(n[:])
		h.Write([]byte(part))
	}
	var g [8]byte
	binary.BigEndian.PutUint64(g[:], uint64(max(generation, 0)))
	h.Write(g[:])
	b := h.Sum(nil)[:16]
	b[6] = b[6]&0x0f | 0x80
	b[8] = b[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// DownstreamKeys lists the keys of a step in all generations up to the record's, the newest first: those that a
// reconciler asks about.
func (r Record) DownstreamKeys(step string) []string {
	keys := make([]string, 0, r.Generation+1)
	for g := r.Generation; g >= 0; g-- {
		keys = append(keys, r.DownstreamKey(step, g))
	}
	return keys
}
