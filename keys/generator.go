package keys

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"io"
	"time"

	"github.com/google/uuid"
	"github.com/oklog/ulid/v2"
)

// Maker makes one new key. The makers of this package may be called by any
// number of goroutines.
type Maker func() (string, error)

// New makes a key in the default form, which is that of [UUIDv4].
func New() (string, error) { return UUIDv4() }

// UUIDv4 makes a key of 122 random bits as 36 characters.
func UUIDv4() (string, error) { return Generator{}.UUIDv4() }

// UUIDv7 makes a key of the time in milliseconds and 74 random bits, as 36
// characters. It reveals when it was made.
func UUIDv7() (string, error) { return Generator{}.UUIDv7() }

// ULID makes a key of the time in milliseconds and 80 random bits, as 26
// characters. It reveals when it was made.
func ULID() (string, error) { return Generator{}.ULID() }

// Token makes a key of 128 random bits as 22 characters of unpadded base64url.
func Token() (string, error) { return Generator{}.Token() }

// Generator makes keys from another source than crypto/rand. Its methods are
// makers, and as safe for concurrent use as Rand is; no lock is held. The zero
// value makes the same keys as the functions of this package.
type Generator struct {
	// Rand must be a cryptographic source, except in tests. If it fails, or ends
	// before a key is complete, there is no key. Default: crypto/rand.Reader.
	Rand io.Reader
}

// UUIDv4 is [UUIDv4] from g's source.
func (g Generator) UUIDv4() (string, error) {
	var id uuid.UUID
	if err := g.fill(id[:]); err != nil {
		return "", err
	}
	return stamp(id, 4).String(), nil
}

// UUIDv7 is [UUIDv7] from g's source.
func (g Generator) UUIDv7() (string, error) {
	// Not uuid.NewV7: it takes a lock and puts a counter where 12 of the random
	// bits belong.
	var id uuid.UUID
	if err := g.fill(id[6:]); err != nil {
		return "", err
	}
	ms, err := milliseconds(time.Now())
	if err != nil {
		return "", err
	}
	var clock [8]byte
	binary.BigEndian.PutUint64(clock[:], ms)
	copy(id[:6], clock[2:])
	return stamp(id, 7).String(), nil
}

// ULID is [ULID] from g's source.
func (g Generator) ULID() (string, error) {
	// Not ulid.New: it counts instead of drawing when the source has a method
	// MonotonicRead, and takes a nil source for zeros.
	var id ulid.ULID
	if err := g.fill(id[6:]); err != nil {
		return "", err
	}
	ms, err := milliseconds(time.Now())
	if err != nil {
		return "", err
	}
	if err := id.SetTime(ms); err != nil {
		return "", fmt.Errorf("keys: ulid: %w", err)
	}
	return id.String(), nil
}

// Token is [Token] from g's source.
func (g Generator) Token() (string, error) {
	var id [16]byte
	if err := g.fill(id[:]); err != nil {
		return "", err
	}
	return base64.RawURLEncoding.EncodeToString(id[:]), nil
}

// maxEmptyReads is how often a source may return nothing without an error.
const maxEmptyReads = 100

// fill reads all of b. Unlike io.ReadFull it does not wait forever for a source
// that returns nothing and no error.
func (g Generator) fill(b []byte) error {
	source := g.Rand
	if source == nil {
		source = rand.Reader
	}
	for empty := 0; len(b) > 0; {
		n, err := source.Read(b)
		if n < 0 || n > len(b) {
			return fmt.Errorf("keys: random source returned %d of at most %d bytes", n, len(b))
		}
		b = b[n:]
		if n > 0 {
			empty = 0
		} else {
			empty++
		}
		switch {
		case len(b) == 0:
			return nil
		case err == io.EOF:
			err = io.ErrUnexpectedEOF
		case err == nil && empty >= maxEmptyReads:
			err = io.ErrNoProgress
		}
		if err != nil {
			return fmt.Errorf("keys: random source: %w", err)
		}
	}
	return nil
}

// milliseconds refuses times that do not fit the 48 bits of a key. Wrapped
// around they would look like another time.
func milliseconds(now time.Time) (uint64, error) {
	ms := now.UnixMilli()
	if ms < 0 || ms >= 1<<48 {
		return 0, fmt.Errorf("keys: the clock is %d ms from 1970; set it, or use UUIDv4", ms)
	}
	return uint64(ms), nil
}

// stamp sets version and variant as RFC 9562, section 5 wants them.
func stamp(id uuid.UUID, version byte) uuid.UUID {
	id[6] = id[6]&0x0f | version<<4
	id[8] = id[8]&0x3f | 0x80
	return id
}
