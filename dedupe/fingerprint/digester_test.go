package fingerprint_test

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/claimonce/claimonce/dedupe/fingerprint"
)

var secret = []byte("0123456789abcdef")

func TestS18_EveryFieldCounts(t *testing.T) {
	t.Parallel()
	d := newDigester(t, fingerprint.Config{})
	// Moving a character from one field to the next must show.
	requests := []fingerprint.Request{
		{},
		{Tenant: "ab", Operation: "c"},
		{Tenant: "a", Operation: "bc"},
		{Tenant: "abc"},
		{Operation: "abc"},
		{Method: "abc"},
		{Path: "abc"},
		{Method: "ab", Path: "c"},
		{Method: "AB", Path: "c"},
		{Tenant: "ab", Operation: "c", Body: []byte("1")},
		{Path: "abc", Body: []byte("1")},
		{Path: "abc\x01", Body: nil},
		{Path: "abc", Body: []byte{}},
		{Tenant: "\xff"},
		{Tenant: "\xfe"},
		{Tenant: "\ufffd"},
	}
	seen := map[string]int{}
	for i, r := range requests {
		got, err := d.Digest(r)
		if err != nil {
			t.Fatal(err)
		}
		if other, ok := seen[got]; ok {
			t.Errorf("requests %d and %d: got one digest, want two", other, i)
		}
		seen[got] = i
	}
}

func TestS18_Scheme(t *testing.T) {
	t.Parallel()
	for want, cfg := range map[string]fingerprint.Config{
		`1j`:                 {},
		`1r`:                 {Format: fingerprint.Raw},
		`1j\.v2`:             {Version: "v2"},
		`1j-[\w-]{8}`:        {Volatile: []string{"/a"}},
		`1j-[\w-]{8}\.a-b_C`: {Select: "/a", Version: "a-b_C"},
		`1jh-[\w-]{8}`:       {Secret: secret},
		`1rh-[\w-]{8}\.1`:    {Format: fingerprint.Raw, Secret: secret, Version: "1"},
	} {
		d := newDigester(t, cfg)
		got := digest(t, d, `{"a":{"b":1},"c":2}`)
		if !regexp.MustCompile(`^` + want + `:[A-Za-z0-9_-]{43}$`).MatchString(got) {
			t.Errorf("got digest %q, want scheme %s and 43 characters", got, want)
		}
		if s := fingerprint.SchemeOf(got); s != d.Scheme() || strings.Contains(s, ":") {
			t.Errorf("SchemeOf(%q) = %q, want %q", got, s, d.Scheme())
		}
	}
}

// Forgetting to change Version must not turn old records into mismatches.
func TestS18_ChangedRulesChangeTheScheme(t *testing.T) {
	t.Parallel()
	configs := []fingerprint.Config{
		{Version: "1"},
		{Version: "1", Format: fingerprint.Raw},
		{Version: "1", Volatile: []string{"/a"}},
		{Version: "1", Volatile: []string{"/b"}},
		{Version: "1", Volatile: []string{"/a", "/b"}},
		{Version: "1", Volatile: []string{"/a/b"}},
		{Version: "1", Select: "/a"},
		{Version: "1", Select: "/a", Volatile: []string{"/a/b"}},
		{Version: "1", Secret: secret},
		{Version: "1", Secret: []byte("fedcba9876543210")},
		{Version: "1", Secret: secret, Volatile: []string{"/a"}},
		{Version: "2"},
	}
	seen := map[string]int{}
	for i, cfg := range configs {
		scheme := newDigester(t, cfg).Scheme()
		if other, ok := seen[scheme]; ok {
			t.Errorf("configs %d and %d: got one scheme %q, want two", other, i, scheme)
		}
		seen[scheme] = i
	}
	a := newDigester(t, fingerprint.Config{Volatile: []string{"/a", "/b"}, MaxDepth: 3, MaxBody: 100})
	b := newDigester(t, fingerprint.Config{Volatile: []string{"/b", "/a", "/b"}})
	if a.Scheme() != b.Scheme() {
		t.Errorf("the same rules in another order: got schemes %q and %q, want one", a.Scheme(), b.Scheme())
	}
}

func TestS18_PreviousRules(t *testing.T) {
	t.Parallel()
	oldest := fingerprint.Config{Version: "1"}
	older := fingerprint.Config{Version: "2", Volatile: []string{"/sent_at"}, Previous: []fingerprint.Config{oldest}}
	current := fingerprint.Config{Version: "3", Secret: secret, Previous: []fingerprint.Config{older}}
	d := newDigester(t, current)
	for _, cfg := range []fingerprint.Config{oldest, older, current} {
		stored := digest(t, newDigester(t, cfg), `{"amount":1,"sent_at":2}`)
		for body, want := range map[string]bool{`{"sent_at":2,"amount":1.0}`: true, `{"sent_at":2,"amount":3}`: false} {
			got, err := d.DigestAs(fingerprint.SchemeOf(stored), request(body))
			if err != nil || (got == stored) != want {
				t.Errorf("%v, %s: equal %v, %v; want %v", cfg, body, got == stored, err, want)
			}
		}
	}
	if got := digest(t, d, `{}`); fingerprint.SchemeOf(got) != d.Scheme() {
		t.Errorf("Digest = %q, want the current scheme %q", got, d.Scheme())
	}
}

// Current rules that are listed as previous ones too keep their own limits.
func TestS18_CurrentRulesComeFirst(t *testing.T) {
	t.Parallel()
	d := newDigester(t, fingerprint.Config{Previous: []fingerprint.Config{{MaxBody: 3}}})
	want := digest(t, d, `{"a":1}`)
	if got, err := d.DigestAs(d.Scheme(), request(`{"a":1}`)); err != nil || got != want {
		t.Errorf("DigestAs = %q, %v; want %q", got, err, want)
	}
}

func TestDigestAs_UnknownScheme(t *testing.T) {
	t.Parallel()
	d := newDigester(t, fingerprint.Config{Version: "2"})
	for _, stored := range []string{
		"", "1j", "1j.2", "2j.2:" + strings.Repeat("A", 43), "1j.1:" + strings.Repeat("A", 43), "1j.2:short", ":" + strings.Repeat("A", 43),
		strings.Repeat("x", 1000),
	} {
		got, err := d.DigestAs(fingerprint.SchemeOf(stored), request(`{}`))
		if got != "" || !errors.Is(err, fingerprint.ErrUnknownScheme) || errors.Is(err, fingerprint.ErrMalformed) {
			t.Errorf("stored %q: got %q, %v; want ErrUnknownScheme", stored, got, err)
		}
		if err != nil && len(err.Error()) > 300 {
			t.Errorf("got an error of %d bytes, want a short one", len(err.Error()))
		}
	}
}

func TestNew_JoinsProblems(t *testing.T) {
	t.Parallel()
	_, err := fingerprint.New(fingerprint.Config{
		Format:   7,
		Volatile: []string{"/ok", "no slash", "/a~2", "/a~", ""},
		Select:   "/a/*",
		Secret:   []byte{},
		Version:  "a:b",
		MaxDepth: -1,
		MaxBody:  1<<30 + 1,
		Previous: []fingerprint.Config{
			{Secret: []byte("short")},
			{Format: fingerprint.Raw, Select: "/a"},
			{Version: strings.Repeat("v", 33), Previous: []fingerprint.Config{{MaxDepth: 1001}}},
			{Select: "/data", Volatile: []string{"/other/x", "/data", "/data/*", "/*"}},
		},
	})
	if err == nil {
		t.Fatal("got no error")
	}
	for _, want := range []string{
		"config.Format:", "config.Volatile[1]:", "config.Volatile[2]:", "config.Volatile[3]:", "config.Volatile[4]:", "config.Select:",
		"config.Secret:", "config.Version:", "config.MaxDepth:", "config.MaxBody:",
		"config.Previous[0].Secret:", "config.Previous[1].Format:", "config.Previous[2].Version:", "config.Previous[2].Previous[0].MaxDepth:",
		"config.Previous[3].Volatile[0]:", "config.Previous[3].Volatile[1]:", "config.Previous[3].Volatile[2]:", "config.Previous[3].Volatile[3]:",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("the error lacks %q:\n%v", want, err)
		}
	}
	if strings.Contains(err.Error(), "short") {
		t.Errorf("the error shows a secret: %v", err)
	}
}

func TestDigester_KeepsNoSlice(t *testing.T) {
	t.Parallel()
	key, volatile := []byte("0123456789abcdef"), []string{"/t"}
	d := newDigester(t, fingerprint.Config{Secret: key, Volatile: volatile})
	want := digest(t, d, `{"t":1,"a":2}`)
	key[0], volatile[0] = 'X', "/a"
	if got := digest(t, d, `{"t":9,"a":2}`); got != want {
		t.Errorf("got %q, want %q as before the slices changed", got, want)
	}
}

func TestDigester_ConcurrentUse(t *testing.T) {
	t.Parallel()
	d := newDigester(t, fingerprint.Config{Volatile: []string{"/b/*/t"}, Secret: secret})
	const body = `{"b":[{"t":1,"s":"x"}],"a":1}`
	want := digest(t, d, body)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 200 {
				if got, err := d.Digest(request(body)); err != nil || got != want {
					t.Errorf("Digest = %q, %v; want %q", got, err, want)
					return
				}
			}
		})
	}
	wg.Wait()
}

func TestS31_NothingSecretIsShown(t *testing.T) {
	t.Parallel()
	d := newDigester(t, fingerprint.Config{Secret: []byte("TOPSECRETTOPSECRET"), Volatile: []string{"/a"}})
	cfg := fingerprint.Config{Secret: []byte("TOPSECRETTOPSECRET"), Version: "v"}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s"} {
		for _, v := range []any{d, *d, cfg, &cfg, []fingerprint.Config{cfg}} {
			shown := fmt.Sprintf(verb, v)
			if strings.Contains(shown, "TOPSECRET") || strings.Contains(shown, "84, 79, 80") || strings.Contains(shown, "84 79 80") ||
				strings.Contains(shown, "0x54, 0x4f") {
				t.Errorf("%s of %T shows the secret: %s", verb, v, shown)
			}
		}
	}
	// A body cut off or broken anywhere must not appear in the error.
	const body = `{"PAYLOAD":"PAYLOAD","x":[12345678,{"PAYLOAD":true}],"b":"\u0041PAYLOAD"}`
	for i := range len(body) {
		for _, broken := range []string{body[:i], body[:i] + "\x00" + body[i:], body[:i] + "PAYLOAD" + body[i:]} {
			_, err := d.Digest(request(broken))
			if err != nil && (strings.Contains(err.Error(), "PAYLOAD") || strings.Contains(err.Error(), "12345678")) {
				t.Errorf("the error shows the body: %v", err)
			}
		}
	}
}
