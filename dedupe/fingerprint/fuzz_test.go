package fingerprint_test

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/claimonce/claimonce/dedupe/fingerprint"
)

const fuzzDepth = 20

// FuzzCanonical compares the parser with the oracle: what one refuses the other
// refuses, and what both accept has one canonical form.
func FuzzCanonical(f *testing.F) {
	accepted, refused := readVectors(f)
	for _, v := range append(accepted, refused...) {
		f.Add(v.request(f).Body)
	}
	d := newDigester(f, fingerprint.Config{MaxDepth: fuzzDepth})
	f.Fuzz(func(t *testing.T, body []byte) {
		if len(body) == 0 || len(body) > 4096 {
			t.Skip() // no JSON at all; and the oracle is slow
		}
		agree(t, d, body)
	})
}

func agree(t *testing.T, d *fingerprint.Digester, body []byte) {
	t.Helper()
	before := string(body)
	got, err := d.Canonical(body)
	want, wantErr := oracle([]byte(before), fuzzDepth)
	if (err == nil) != (wantErr == nil) || string(got) != want {
		t.Fatalf("Canonical(%q) = %q, %v; the oracle says %q, %v", body, got, err, want, wantErr)
	}
	if string(body) != before {
		t.Fatalf("Canonical changed its input %q to %q", before, body)
	}
	var typed *fingerprint.Error
	if err != nil {
		if !errors.As(err, &typed) || typed.Offset < -1 || typed.Offset > len(body) {
			t.Fatalf("Canonical(%q): got error %#v, want an *Error with an offset inside", body, err)
		}
		return
	}
	again, err := d.Canonical(got)
	if err != nil || string(again) != string(got) {
		t.Fatalf("Canonical(%q) = %q, %v; want it unchanged", got, again, err)
	}
}

// FuzzPointers does the same with pointers.
func FuzzPointers(f *testing.F) {
	f.Add([]byte(`{"a":{"b":[1,{"c":2}]},"*":3}`), "/a/b/*/c", "/*/b/0", "/a")
	f.Add([]byte(`[[1,2],[3]]`), "/0/1", "/*/*", "")
	f.Add([]byte(`{"a~/b":1,"":{"":2}}`), "/a~0~1b", "//", "/")
	f.Add([]byte(`{"a":[{"b":1},{"b":2,"c":[]}]}`), "/a/*/b", "/a/0", "/a")
	f.Fuzz(func(t *testing.T, body []byte, first, second, selected string) {
		if len(body) > 0 && len(body) <= 4096 {
			agreePointers(t, body, selected, first, second)
		}
	})
}

func agreePointers(t *testing.T, body []byte, selected string, volatile ...string) {
	t.Helper()
	d, err := fingerprint.New(fingerprint.Config{Volatile: volatile, Select: selected, MaxDepth: fuzzDepth})
	if err != nil {
		return
	}
	got, err := d.Canonical(body)
	want, wantErr := oracleCut(body, selected, volatile...)
	if (err == nil) != (wantErr == nil) || string(got) != want {
		t.Fatalf("Canonical(%q) without %q in %q = %q, %v; the oracle says %q, %v", body, volatile, selected, got, err, want, wantErr)
	}
}

// TestOracle_RandomDocuments runs the comparison of FuzzCanonical on bodies made
// to be nearly valid, in every ordinary test run.
func TestOracle_RandomDocuments(t *testing.T) {
	t.Parallel()
	d := newDigester(t, fingerprint.Config{MaxDepth: fuzzDepth})
	rng := rand.New(rand.NewPCG(1, 2))
	for range 6_000 {
		body := randomValue(rng, 4)
		for range rng.IntN(3) { // most bodies have a defect or two
			body = mutate(rng, body)
		}
		if len(body) > 0 {
			agree(t, d, body)
			agreePointers(t, body, randomPointer(rng, 2), randomPointer(rng, 3), randomPointer(rng, 3))
		}
	}
}

func randomPointer(rng *rand.Rand, most int) string {
	tokens := []string{"a", "b", "*", "0", "1", "", "c", "é"}
	var pointer strings.Builder
	for range rng.IntN(most + 1) {
		pointer.WriteString("/" + tokens[rng.IntN(len(tokens))])
	}
	return pointer.String()
}

func randomValue(rng *rand.Rand, depth int) []byte {
	scalars := []string{
		"0", "-0.0", "1", "10", "-120", "1.50", "3e2", "3E-02", "0.00e9", "99e998", "1e1000", "1e-1001", "12345678901234567890123",
		`""`, `"a"`, `"\u0061"`, `"\ud83d\ude00"`, `"😀"`, `"\\\""`, `"é\n\u001f"`, "true", "false", "null",
	}
	names := []string{`"a"`, `"b"`, `"\u0061"`, `"c"`, `""`, `"é"`, `"e\u0301"`, `"😀"`, `"｡"`, `"\""`, `"z"`, `"aa"`}
	pick := func(from []string) string { return from[rng.IntN(len(from))] }
	if depth == 0 || rng.IntN(3) == 0 {
		return []byte(pick(scalars))
	}
	isObject := rng.IntN(2) == 0
	out := []byte("[")
	if isObject {
		out = []byte("{")
	}
	for i := range rng.IntN(4) {
		if i > 0 {
			out = append(out, pick([]string{",", ", ", "\n,"})...)
		}
		if isObject {
			out = append(append(out, pick(names)...), pick([]string{":", " : "})...)
		}
		out = append(out, randomValue(rng, depth-1)...)
	}
	if isObject {
		return append(out, '}')
	}
	return append(out, ']')
}

func mutate(rng *rand.Rand, body []byte) []byte {
	if len(body) == 0 {
		return body
	}
	at := rng.IntN(len(body))
	const alphabet = "{}[]\",:\\ud8-+.eE019 \n\x00\xff\xc3"
	switch c := alphabet[rng.IntN(len(alphabet))]; rng.IntN(3) {
	case 0:
		body[at] = c
	case 1:
		body = append(body[:at], body[at+1:]...)
	default:
		body = append(body[:at], append([]byte{c}, body[at:]...)...)
	}
	return body
}
