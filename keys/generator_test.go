package keys_test

import (
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"io"
	"regexp"
	"sync"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/google/uuid"
	"github.com/oklog/ulid/v2"

	"github.com/claimonce/claimonce/keys"
)

var forms = map[string]*regexp.Regexp{
	"UUIDv4": regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`),
	"UUIDv7": regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`),
	"ULID":   regexp.MustCompile(`^[0-7][0-9A-HJKMNP-TV-Z]{25}$`),
	"Token":  regexp.MustCompile(`^[A-Za-z0-9_-]{21}[AQgw]$`),
}

func TestS10_KeysFitTheDefaultRule(t *testing.T) {
	t.Parallel()
	rule := regexp.MustCompile(`^[A-Za-z0-9_-]{1,255}$`)
	for _, maker := range append(makers(), namedMaker{"UUIDv4", keys.New}, namedMaker{"UUIDv4", keys.UUIDv4},
		namedMaker{"UUIDv7", keys.UUIDv7}, namedMaker{"ULID", keys.ULID}, namedMaker{"Token", keys.Token}) {
		for range 1000 {
			key, err := maker.make()
			if err != nil || !rule.MatchString(key) || !forms[maker.name].MatchString(key) {
				t.Fatalf("%s = %q, %v; want the form %v", maker.name, key, err, forms[maker.name])
			}
		}
	}
}

// Every bit that is not fixed by the form or by the clock must be seen as 0 and
// as 1 within one millisecond; a counter or a cut-off source would leave some
// the same.
func TestS7_RandomBits(t *testing.T) {
	t.Parallel()
	for _, maker := range makers() {
		t.Run(maker.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { // the clock stands still
				var ones, zeros [16]byte
				for range 200 {
					id := decode(t, maker.name, maker)
					for i, b := range id {
						ones[i] |= b
						zeros[i] |= ^b
					}
				}
				got := 0
				for i := range ones {
					for b := ones[i] & zeros[i]; b != 0; b &= b - 1 {
						got++
					}
				}
				want := map[string]int{"UUIDv4": 122, "UUIDv7": 74, "ULID": 80, "Token": 128}[maker.name]
				if got != want {
					t.Errorf("got %d random bits, want %d", got, want)
				}
			})
		})
	}
}

func decode(t *testing.T, form string, maker namedMaker) [16]byte {
	t.Helper()
	key, err := maker.make()
	if err != nil {
		t.Fatal(err)
	}
	var id [16]byte
	switch form {
	case "ULID":
		id, err = ulid.ParseStrict(key)
	case "Token":
		var b []byte
		b, err = base64.RawURLEncoding.Strict().DecodeString(key)
		copy(id[:], b)
	default:
		id, err = uuid.Parse(key)
	}
	if err != nil {
		t.Fatalf("%s made %q: %v", form, key, err)
	}
	return id
}

func TestS7_TimeIsInTheKey(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for range 3 {
			<-time.After(1234567 * time.Millisecond) // fake time
			want := time.Now().UnixMilli()
			for _, maker := range makersOf(keys.Generator{})[1:3] {
				id := decode(t, maker.name, maker)
				if got := int64(binary.BigEndian.Uint64(id[:8]) >> 16); got != want {
					t.Errorf("%s: got time %d, want %d", maker.name, got, want)
				}
			}
		}
	})
}

func TestKEY10_ManyGoroutines(t *testing.T) {
	t.Parallel()
	goroutines, each := 64, 10_000
	if testing.Short() {
		each = 500
	}
	for _, maker := range makers() { // one after the other, to hold one set at a time
		made := make([][]string, goroutines)
		var wg sync.WaitGroup
		for i := range made {
			wg.Go(func() {
				made[i] = make([]string, each)
				for j := range made[i] {
					key, err := maker.make()
					if err != nil {
						t.Errorf("%s: %v", maker.name, err)
						return
					}
					made[i][j] = key
				}
			})
		}
		wg.Wait()
		seen := make(map[string]struct{}, goroutines*each)
		for _, keys := range made {
			for _, key := range keys {
				if !forms[maker.name].MatchString(key) {
					t.Fatalf("%s made %q, which is not of its form", maker.name, key)
				}
				seen[key] = struct{}{}
			}
		}
		if len(seen) != goroutines*each {
			t.Errorf("%s: got %d different keys, want %d", maker.name, len(seen), goroutines*each)
		}
	}
}

func TestKEY12_ManyProcesses(t *testing.T) {
	t.Parallel()
	processes := 50
	if testing.Short() {
		processes = 5
	}
	seen := map[string]struct{}{}
	for _, lines := range children(t, processes, childMode+"=make") {
		for _, key := range lines {
			seen[key] = struct{}{}
		}
	}
	if want := processes * 1000 * len(makers()); len(seen) != want {
		t.Errorf("got %d different keys, want %d", len(seen), want)
	}
}

func TestKEY12_FailingSource(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	sources := map[string]struct {
		source func() io.Reader
		want   error
	}{
		"error":             {func() io.Reader { return iotest.ErrReader(broken) }, broken},
		"empty":             {func() io.Reader { return bytes.NewReader(nil) }, io.ErrUnexpectedEOF},
		"ends early":        {func() io.Reader { return bytes.NewReader(make([]byte, 9)) }, io.ErrUnexpectedEOF},
		"error in between":  {func() io.Reader { return io.MultiReader(bytes.NewReader(make([]byte, 9)), iotest.ErrReader(broken)) }, broken},
		"nothing, no error": {func() io.Reader { return reader(func([]byte) (int, error) { return 0, nil }) }, io.ErrNoProgress},
		"impossible count":  {func() io.Reader { return reader(func(b []byte) (int, error) { return len(b) + 1, nil }) }, nil},
	}
	for name, c := range sources {
		for _, i := range []int{0, 1, 2, 3} {
			maker := makersOf(keys.Generator{Rand: c.source()})[i]
			key, err := maker.make()
			if key != "" || err == nil || c.want != nil && !errors.Is(err, c.want) {
				t.Errorf("%s, %s: got %q, %v; want no key and %v", name, maker.name, key, err, c.want)
			}
		}
	}
}

func TestKEY12_ShortReadsAreCompleted(t *testing.T) {
	t.Parallel()
	// One byte at a time, with an empty read before each, and the end reported
	// together with the last byte.
	for i := range 4 {
		sent := 0
		g := keys.Generator{Rand: reader(func(b []byte) (int, error) {
			if sent++; sent%2 == 1 {
				return 0, nil
			}
			b[0] = byte(sent)
			if len(b) == 1 {
				return 1, io.EOF
			}
			return 1, nil
		})}
		maker := makersOf(g)[i]
		id := decode(t, maker.name, maker)
		if got := id[15]; got != byte(sent) || sent < 20 {
			t.Errorf("%s: got last byte %d of a source that sent %d", maker.name, got, sent)
		}
	}
}

func TestS7_TimesThatDoNotFitAreRefused(t *testing.T) {
	t.Parallel()
	for ms, ok := range map[int64]bool{-1: false, 0: true, 1<<48 - 1: true, 1 << 48: false} {
		got, err := keys.Milliseconds(time.UnixMilli(ms))
		if (err == nil) != ok || ok && got != uint64(ms) {
			t.Errorf("%d ms: got %d, %v; want accepted %v", ms, got, err, ok)
		}
	}
}

// oklog/ulid switches to counting for such a source.
func TestS7_NoMonotonicMode(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := keys.Generator{Rand: ulid.Monotonic(rand.Reader, 1)}
		descents, last := 0, ""
		for range 100 {
			key, err := g.ULID()
			if err != nil {
				t.Fatal(err)
			}
			if key < last {
				descents++
			}
			last = key
		}
		if descents == 0 {
			t.Error("got 100 ascending keys in one millisecond, want random ones")
		}
	})
}

type reader func([]byte) (int, error)

func (r reader) Read(b []byte) (int, error) { return r(b) }
