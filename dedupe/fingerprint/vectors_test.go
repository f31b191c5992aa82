package fingerprint_test

import (
	"encoding/hex"
	"encoding/json"
	"os"
	"testing"

	"github.com/claimonce/claimonce/dedupe/fingerprint"
)

// vectors.json is published for other implementations. Its canonical forms and
// digests were made once by hand with testdata/reference.py (Python's json and
// decimal modules), never by this package, so these tests compare two programs
// that share no code.
type vector struct {
	Name   string
	Config struct {
		Format, Select, Version string
		Volatile                []string
		SecretHex               *string `json:"secret_hex"`
	}
	Request struct {
		Tenant, Operation, Method, Path string
		Body                            *string
		BodyHex                         *string `json:"body_hex"`
	}
	Canonical    *string
	CanonicalHex *string `json:"canonical_hex"`
	Digest       string
}

func (v vector) digester(tb testing.TB) *fingerprint.Digester {
	tb.Helper()
	cfg := fingerprint.Config{Select: v.Config.Select, Version: v.Config.Version, Volatile: v.Config.Volatile}
	if v.Config.Format == "raw" {
		cfg.Format = fingerprint.Raw
	}
	if v.Config.SecretHex != nil {
		cfg.Secret = unhex(tb, *v.Config.SecretHex)
	}
	return newDigester(tb, cfg)
}

func (v vector) request(tb testing.TB) fingerprint.Request {
	tb.Helper()
	r := fingerprint.Request{Tenant: v.Request.Tenant, Operation: v.Request.Operation, Method: v.Request.Method, Path: v.Request.Path}
	switch {
	case v.Request.Body != nil:
		r.Body = []byte(*v.Request.Body)
	case v.Request.BodyHex != nil:
		r.Body = unhex(tb, *v.Request.BodyHex)
	}
	return r
}

func unhex(tb testing.TB, s string) []byte {
	tb.Helper()
	b, err := hex.DecodeString(s)
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

func readVectors(tb testing.TB) (accepted, refused []vector) {
	tb.Helper()
	data, err := os.ReadFile("testdata/vectors.json")
	if err != nil {
		tb.Fatal(err)
	}
	var file struct{ Vectors, Refused []vector }
	if err := json.Unmarshal(data, &file); err != nil {
		tb.Fatal(err)
	}
	if len(file.Vectors) < 50 || len(file.Refused) < 50 {
		tb.Fatalf("got %d vectors and %d refused ones, want 50 of each", len(file.Vectors), len(file.Refused))
	}
	return file.Vectors, file.Refused
}

func TestVectors(t *testing.T) {
	t.Parallel()
	accepted, refused := readVectors(t)
	for _, v := range accepted {
		t.Run(v.Name, func(t *testing.T) {
			t.Parallel()
			d, r := v.digester(t), v.request(t)
			if got, err := d.Digest(r); err != nil || got != v.Digest {
				t.Errorf("Digest = %q, %v; want %q", got, err, v.Digest)
			}
			text, err := d.Canonical(r.Body)
			want := ""
			switch {
			case v.Canonical != nil:
				want = *v.Canonical
			case v.CanonicalHex != nil:
				want = string(unhex(t, *v.CanonicalHex))
			}
			if err != nil || string(text) != want {
				t.Errorf("Canonical = %q, %v; want %q", text, err, want)
			}
		})
	}
	for _, v := range refused {
		t.Run(v.Name, func(t *testing.T) {
			t.Parallel()
			if got, err := v.digester(t).Digest(v.request(t)); err == nil {
				t.Errorf("Digest = %q, want an error", got)
			}
		})
	}
}

// The canonical form means what it was made from: it is its own canonical form.
func TestVectors_CanonicalFormIsStable(t *testing.T) {
	t.Parallel()
	accepted, _ := readVectors(t)
	plain := newDigester(t, fingerprint.Config{})
	for _, v := range accepted {
		if v.Canonical == nil {
			continue
		}
		if got, err := plain.Canonical([]byte(*v.Canonical)); err != nil || string(got) != *v.Canonical {
			t.Errorf("%s: Canonical(%q) = %q, %v", v.Name, *v.Canonical, got, err)
		}
	}
}
