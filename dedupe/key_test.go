package dedupe_test

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/claimonce/claimonce/dedupe"
)

func withID(id string) dedupe.Key { return dedupe.Key{Tenant: "acme", Operation: "refund", ID: id} }

// An empty key is missing, and so is one of blanks, visible or not: else all keyless messages would share a record.
func TestKEY01_BlankKeysAreMissing(t *testing.T) {
	t.Parallel()
	for _, id := range []string{"", " ", "\t", "\n", "\u00a0", "\u200b", "\ufeff", "\u3000", " \t\u200b", "\u2028"} {
		if err := withID(id).Validate(""); !errors.Is(err, dedupe.ErrMissingKey) {
			t.Errorf("key %q: got %v, want %v", id, err, dedupe.ErrMissingKey)
		}
	}
}

// Padding and quotes are refused, never trimmed: two producers could trim differently.
func TestKEY02_PaddedKeysAreMalformed(t *testing.T) {
	t.Parallel()
	for _, id := range []string{" abc", "abc ", "\tabc", "abc\n", `"abc"`, "'abc'", "abc\u200b", "\ufeffabc", "a\u00a0c"} {
		if err := withID(id).Validate(""); !errors.Is(err, dedupe.ErrMalformedKey) || errors.Is(err, dedupe.ErrMissingKey) {
			t.Errorf("key %q: got %v, want %v", id, err, dedupe.ErrMalformedKey)
		}
	}
	if err := withID("abc").Validate(""); err != nil {
		t.Errorf("key abc: %v", err)
	}
}

func TestKEY04_HostileKeys(t *testing.T) {
	t.Parallel()
	hostile := []string{
		"abc\nlevel=ERROR msg=forged", "a\x00b", "a\x1b[31mb", "a#b", "a:b", "a/b", "../b", "%00", "a\U0001F600b", "a\xffb", "a.b", "a\u009bb",
	}
	for _, id := range hostile {
		err := withID(id).Validate("")
		if !errors.Is(err, dedupe.ErrMalformedKey) {
			t.Errorf("key %q: got %v, want %v", id, err, dedupe.ErrMalformedKey)
		}
		if err != nil && (strings.Contains(err.Error(), id) || strings.ContainsAny(err.Error(), "\x00\x1b\n")) {
			t.Errorf("key %q: the error quotes it: %q", id, err)
		}
	}
	// Widened, such keys are stored safely; what would let a forged line or two spellings through cannot be allowed at all.
	for _, id := range []string{"a#b", "a:b", "a/b", "a.b", "a\U0001F600b"} {
		if err := withID(id).Validate("#:/.\U0001F600"); err != nil {
			t.Errorf("key %q with a wider alphabet: %v", id, err)
		}
	}
	for _, extra := range []string{"\n", "\x00", "\x1b", "\x7f", "\u0085", "\u009b", " ", "\u00a0", "\u200b", "\u202e", "\u2060", "\u00ad", `"`, "'", "\xff", "\ufffd"} {
		if _, err := dedupe.NewLedger(newRegister(), dedupe.Config{OnAbandoned: dedupe.Rerun, KeyCharacters: "." + extra}); err == nil {
			t.Errorf("KeyCharacters %q was accepted", extra)
		}
	}
}

func TestKeyBounds(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 255)
	for name, c := range map[string]struct {
		key   dedupe.Key
		extra string
		want  error
	}{
		"longest key":          {withID(long), "", nil},
		"too long a key":       {withID(long + "x"), "", dedupe.ErrMalformedKey},
		"255 wide characters":  {withID(strings.Repeat("é", 255)), "é", nil},
		"256 wide characters":  {withID(strings.Repeat("é", 256)), "é", dedupe.ErrMalformedKey},
		"no tenant":            {dedupe.Key{Operation: "refund", ID: "a"}, "", nil},
		"no operation":         {dedupe.Key{Tenant: "acme", ID: "a"}, "", dedupe.ErrMalformedKey},
		"longest scope":        {dedupe.Key{Tenant: long[:128], Operation: long[:128], ID: "a"}, "", nil},
		"too long a tenant":    {dedupe.Key{Tenant: long[:129], Operation: "refund", ID: "a"}, "", dedupe.ErrMalformedKey},
		"too long an op":       {dedupe.Key{Operation: long[:129], ID: "a"}, "", dedupe.ErrMalformedKey},
		"tenant not UTF-8":     {dedupe.Key{Tenant: "\xff", Operation: "refund", ID: "a"}, "", dedupe.ErrMalformedKey},
		"operation not UTF-8":  {dedupe.Key{Operation: "\xff", ID: "a"}, "", dedupe.ErrMalformedKey},
		"key not UTF-8, extra": {withID("a\xff"), "\ufffd", dedupe.ErrMalformedKey},
	} {
		if err := c.key.Validate(c.extra); c.want == nil && err != nil || !errors.Is(err, c.want) {
			t.Errorf("%s: got %v, want %v", name, err, c.want)
		}
	}
	err := dedupe.Key{Tenant: "\xff", ID: ""}.Validate("")
	for _, want := range []string{"tenant", "operation", "empty"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("not every problem is reported: %v", err)
		}
	}
}

// No two different keys have one id, whatever they hold.
func FuzzStoreID(f *testing.F) {
	f.Add("a", "b", "c", "ab", "", "c")
	f.Add("1:a", "b", "c", "", "1:a1:b", "c")
	f.Add("", "1:x", "y", "1", ":x", "y")
	f.Add("t", "ab", "c", "t", "a", "bc")
	f.Add("t", "a:", "b", "t", "a", ":b")
	f.Add("é", "b", "c", "\xc3", "\xa9b", "c")
	f.Fuzz(func(t *testing.T, t1, o1, k1, t2, o2, k2 string) {
		a, b := dedupe.Key{Tenant: t1, Operation: o1, ID: k1}, dedupe.Key{Tenant: t2, Operation: o2, ID: k2}
		if (a == b) != (a.StoreID() == b.StoreID()) {
			t.Errorf("%q and %q: ids %q and %q", []string{t1, o1, k1}, []string{t2, o2, k2}, a.StoreID(), b.StoreID())
		}
		if (a == b) != (a.Hash() == b.Hash()) {
			t.Errorf("%q and %q have one hash", []string{t1, o1, k1}, []string{t2, o2, k2})
		}
	})
}

// One key for each step and generation, the same on every attempt and worker; in the form that every provider accepts.
func TestDownstreamKeys(t *testing.T) {
	t.Parallel()
	base := dedupe.Record{Key: key, Fingerprint: requestA}
	uuid := regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)
	seen := map[string]string{}
	for name, r := range map[string]dedupe.Record{
		"base":        base,
		"tenant":      with(base, func(r *dedupe.Record) { r.Key.Tenant = "globex" }),
		"operation":   with(base, func(r *dedupe.Record) { r.Key.Operation = "payout" }),
		"key":         with(base, func(r *dedupe.Record) { r.Key.ID = "other" }),
		"fingerprint": with(base, func(r *dedupe.Record) { r.Fingerprint = requestB }),
		"shifted":     with(base, func(r *dedupe.Record) { r.Key.Tenant, r.Key.Operation = "acmer", "efund" }),
	} {
		for _, step := range []string{"charge", "mail"} {
			for generation := range 3 {
				k := r.DownstreamKey(step, generation)
				what := fmt.Sprintf("%s, %s, %d", name, step, generation)
				if !uuid.MatchString(k) {
					t.Errorf("%s: %q is no UUID of version 8", what, k)
				}
				if other, twice := seen[k]; twice {
					t.Errorf("%s and %s have one key", what, other)
				}
				seen[k] = what
			}
		}
	}
	later := with(base, attempt(9), func(r *dedupe.Record) { r.Owner, r.Fence, r.Mode, r.ReplyEpoch = "other", 9, dedupe.Reconcile, 3 })
	if later.DownstreamKey("charge", 0) != base.DownstreamKey("charge", 0) {
		t.Error("the key differs between attempts")
	}
	// Stored at providers: it may never change.
	if got, want := base.DownstreamKey("charge", 0), goldenDownstreamKey; got != want {
		t.Errorf("got %s, want %s as in every release", got, want)
	}
	third := with(base, generation(2))
	if got := third.DownstreamKeys("charge"); len(got) != 3 || got[0] != third.DownstreamKey("charge", 2) || got[2] != third.DownstreamKey("charge", 0) {
		t.Errorf("got %v, want those of generations 2, 1, 0", got)
	}
}

// Made outside this program, from the description of DownstreamKey.
const goldenDownstreamKey = "c661b985-75a3-819c-bf7a-229942bd0d24"
