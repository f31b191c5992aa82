package fingerprint_test

import (
	"errors"
	"testing"

	"github.com/claimonce/claimonce/dedupe/fingerprint"
)

func newDigester(tb testing.TB, cfg fingerprint.Config) *fingerprint.Digester {
	tb.Helper()
	d, err := fingerprint.New(cfg)
	if err != nil {
		tb.Fatalf("New(%v) = %v", cfg, err)
	}
	return d
}

func request(body string) fingerprint.Request {
	return fingerprint.Request{Tenant: "acme", Operation: "refund", Body: []byte(body)}
}

func digest(tb testing.TB, d *fingerprint.Digester, body string) string {
	tb.Helper()
	got, err := d.Digest(request(body))
	if err != nil {
		tb.Fatalf("Digest(%q) = %v", body, err)
	}
	return got
}

// wantEqual and wantDistinct compare every body with every other one.
func wantEqual(t *testing.T, d *fingerprint.Digester, bodies ...string) {
	t.Helper()
	for _, body := range bodies[1:] {
		if got, want := digest(t, d, body), digest(t, d, bodies[0]); got != want {
			t.Errorf("%q and %q: got different digests, want one", bodies[0], body)
		}
	}
}

func wantDistinct(t *testing.T, d *fingerprint.Digester, bodies ...string) {
	t.Helper()
	seen := map[string]string{}
	for _, body := range bodies {
		sum := digest(t, d, body)
		if other, ok := seen[sum]; ok {
			t.Errorf("%q and %q: got one digest, want two", other, body)
		}
		seen[sum] = body
	}
}

func wantRefused(t *testing.T, d *fingerprint.Digester, bodies ...string) {
	t.Helper()
	for _, body := range bodies {
		for range 2 { // a duplicate is refused as the first delivery was
			got, err := d.Digest(request(body))
			var typed *fingerprint.Error
			if got != "" || !errors.As(err, &typed) || !errors.Is(err, fingerprint.ErrMalformed) {
				t.Errorf("Digest(%q) = %q, %v; want an *Error", body, got, err)
			}
		}
	}
}
