package fingerprint_test

import (
	"errors"
	"strconv"
	"strings"
	"testing"

	"github.com/claimonce/claimonce/dedupe/fingerprint"
)

func TestLimits_Depth(t *testing.T) {
	t.Parallel()
	nested := func(n int) string { return strings.Repeat(`[`, n) + strings.Repeat(`]`, n) }
	mixed := func(n int) string { return strings.Repeat(`{"a":[`, n) + strings.Repeat(`]}`, n) }
	d := newDigester(t, fingerprint.Config{})
	wantDistinct(t, d, nested(127), nested(128), mixed(64))
	wantRefused(t, d, nested(129), mixed(65), strings.Repeat("[", 10_000_000))

	small := newDigester(t, fingerprint.Config{MaxDepth: 1})
	wantDistinct(t, small, `[1,2]`, `{"a":1}`, `7`)
	wantRefused(t, small, `[[]]`, `{"a":{}}`)
	// Depth is what is open at a time, not what was ever opened.
	wantDistinct(t, newDigester(t, fingerprint.Config{MaxDepth: 2}), `[[],[],{},{"a":1}]`)
}

func TestLimits_Size(t *testing.T) {
	t.Parallel()
	for _, format := range []fingerprint.Format{fingerprint.JSON, fingerprint.Raw} {
		d := newDigester(t, fingerprint.Config{Format: format, MaxBody: 5})
		digest(t, d, "12345")
		wantRefused(t, d, "123456", "1     ")
	}
}

func TestError_Offset(t *testing.T) {
	t.Parallel()
	d := newDigester(t, fingerprint.Config{})
	for body, want := range map[string]fingerprint.Error{
		`{"a":1,"b":2,"a":3}`: {Offset: 13, Reason: "member name occurs twice in one object"},
		`{"a":1} x`:           {Offset: 8, Reason: "data after the JSON value"},
		`{"a":`:               {Offset: 5, Reason: "ends in the middle of a value"},
		`"ab`:                 {Offset: 3, Reason: "ends in the middle of a value"},
		`[1 2]`:               {Offset: 3, Reason: "expected a comma or the end of the array"},
		`[1,01]`:              {Offset: 3, Reason: "invalid number"},
		`{"a" 1}`:             {Offset: 5, Reason: "expected a colon after a member name"},
		`{a:1}`:               {Offset: 1, Reason: "expected a member name in double quotes"},
		"\"a\xff\"":           {Offset: 2, Reason: "invalid UTF-8"},
		`"a\ud800"`:           {Offset: 2, Reason: "escape is half of a surrogate pair"},
		"\"a\n\"":             {Offset: 2, Reason: "control character that is not escaped in a string"},
		`[1e1001]`:            {Offset: 1, Reason: "number beyond ten to the power of ±1,000"},
		"\ufeff1":             {Offset: 0, Reason: "byte order mark; send JSON without one"},
	} {
		_, err := d.Digest(request(body))
		got, ok := errors.AsType[*fingerprint.Error](err)
		if !ok || *got != want {
			t.Errorf("Digest(%q) = %v; want %v", body, err, &want)
		}
	}
}

// A parser that does work for each level, duplicate or member anew would not
// finish these in a test's time.
func TestLimits_HostileShapes(t *testing.T) {
	t.Parallel()
	d := newDigester(t, fingerprint.Config{MaxDepth: 1000, Volatile: []string{"/*/*/*/*/x", "/a/*/a/*/y"}})
	var descending strings.Builder
	descending.WriteString("{")
	for i := 200_000; i > 0; i-- {
		descending.WriteString(`"` + strings.Repeat("k", i%7) + strings.Repeat("0", 6-i%7) + string(rune('a'+i%26)) + strconv.Itoa(i) + `":0,`)
	}
	descending.WriteString(`"":1}`)
	digest(t, d, descending.String())
	digest(t, d, "["+strings.Repeat("0,", 1_000_000)+"0]")
	digest(t, d, strings.Repeat("1", 5_000_000))
	digest(t, d, "0."+strings.Repeat("0", 1_000_000)+"e5")
	digest(t, d, `"`+strings.Repeat(`\u0000`, 1_000_000)+`"`)
	// Members that are really named * match a * once, not twice for each level.
	deep := newDigester(t, fingerprint.Config{Volatile: []string{strings.Repeat("/*", 60) + "/x"}})
	digest(t, deep, strings.Repeat(`{"*":`, 60)+"1"+strings.Repeat("}", 60))
	// Every level has its members in the wrong order around a large inner one.
	digest(t, d, strings.Repeat(`{"b":1,"a":`, 999)+`"`+strings.Repeat("x", 100_000)+`"`+strings.Repeat("}", 999))
}
