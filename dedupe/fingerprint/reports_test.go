package fingerprint_test

import (
	"strings"
	"testing"

	"github.com/claimonce/claimonce/dedupe/fingerprint"
)

func TestFPR01_MemberOrder(t *testing.T) {
	t.Parallel()
	d := newDigester(t, fingerprint.Config{})
	wantEqual(t, d,
		`{"a":{"b":{"c":1,"d":[1,2]},"e":2},"f":3}`,
		`{"f":3,"a":{"e":2,"b":{"d":[1,2],"c":1}}}`,
		"\r\n{ \"f\" : 3,\t\"a\":{\"b\":{\"d\":[ 1 , 2 ],\"c\":1}, \"e\":2 }}\n",
	)
	wantDistinct(t, d, `{"a":[1,2]}`, `{"a":[2,1]}`, `{"a":{"b":1},"c":2}`, `{"a":{"b":1,"c":2}}`)
}

func TestFPR03_IntegersBeyondFloat64(t *testing.T) {
	t.Parallel()
	wantDistinct(t, newDigester(t, fingerprint.Config{}),
		"9007199254740992", "9007199254740993",
		"18446744073709551615", "18446744073709551614",
		"295147905179352825856", "295147905179352825857",
		"0.1", "0.1000000000000000055511151231257827",
		strings.Repeat("7", 4000)+"1", strings.Repeat("7", 4000)+"2",
	)
}

func TestFPR04_SpellingsOfOneNumber(t *testing.T) {
	t.Parallel()
	d := newDigester(t, fingerprint.Config{})
	rows := [][]string{
		{"100", "1e2", "100.0", "1E+2", "1.00e2", "1e002", "0.01e4", "10000e-2"},
		{"0", "-0", "0.0", "-0.0", "0e5", "0e999999999", "-0E-999999999999999999999"},
		{"1.10", "1.1"},
		{"1e-6", "0.000001"},
		{"4200", "4200.0", "4.2e3"},
		{"1e20", "100000000000000000000"},
		{"-12.5", "-125e-1"},
		{"12.5"},
		{"1e1000", "0.001e1003"},
		{"1e-1000"},
		{`"100"`},
	}
	var first []string
	for _, row := range rows {
		wantEqual(t, d, row...)
		first = append(first, row[0])
	}
	wantDistinct(t, d, first...)
}

func TestFPR04_HugeExponentsCostNothing(t *testing.T) {
	t.Parallel()
	d := newDigester(t, fingerprint.Config{})
	wantRefused(t, d, "1e1001", "1e-1001", "1e999999999", "-1e-999999999", "1e99999999999999999999999999",
		"1e18446744073709551616", "1e-18446744073709551617", // 0 and -1 where an exponent wraps around

		"0."+strings.Repeat("0", 1000)+"1", "1"+strings.Repeat("0", 1001))
	// Out of range as written, in range as a number.
	wantEqual(t, d, "1", "0."+strings.Repeat("0", 4999)+"1e5000", "1"+strings.Repeat("0", 5000)+"e-5000")
}

func TestFPR06_DuplicateMembers(t *testing.T) {
	t.Parallel()
	d := newDigester(t, fingerprint.Config{})
	wantRefused(t, d,
		`{"amount":1,"amount":900}`,
		`{"amount":900,"amount":900}`,
		`{"x":[{"a":1,"b":2,"a":3}]}`,
		`{"amount":1,"\u0061mount":900}`,
		`{"\u0061mount":1,"\u0061mount":900}`,
		`{"a/b":1,"a\/b":2}`,
		`{"😀":1,"\ud83d\ude00":2}`,
		`{"":1,"":2}`,
	)
	// The same name in two objects is no duplicate.
	wantDistinct(t, d, `{"a":{"a":1},"b":{"a":1}}`, `[{"a":1},{"a":1}]`)

	volatile := newDigester(t, fingerprint.Config{Volatile: []string{"/t"}})
	wantRefused(t, volatile, `{"t":1,"t":2,"a":3}`)
	selected := newDigester(t, fingerprint.Config{Select: "/a"})
	wantRefused(t, selected, `{"t":1,"a":3,"t":2}`, `{"a":1,"a":2}`)
}

func TestFPR08_InvalidUTF8(t *testing.T) {
	t.Parallel()
	d := newDigester(t, fingerprint.Config{})
	wantRefused(t, d,
		"{\"n\":\"\xff\"}", "{\"n\":\"\xfe\"}", "{\"\xff\":1}",
		"\"\xe2\x82", "\"\xe2\x82\"", "\"\xc0\xaf\"", "\"\xed\xa0\x80\"", "\"\xf4\x90\x80\x80\"",
		`"\ud800"`, `"\udc00"`, `"\ud800\ud800"`, `"\ud800x"`, `"\ud800\u0041"`, `"\ud800\n"`, `{"\ud800":1}`,
	)
	wantEqual(t, d, `{"n":"�"}`, `{"n":"\ufffd"}`)
	raw := newDigester(t, fingerprint.Config{Format: fingerprint.Raw})
	wantDistinct(t, raw, "{\"n\":\"\xff\"}", "{\"n\":\"\xfe\"}", `{"n":"�"}`)
}

func TestFPR10_NoUnicodeNormalisation(t *testing.T) {
	t.Parallel()
	d := newDigester(t, fingerprint.Config{})
	const composed, decomposed = "\u00e9", "e\u0301"
	wantDistinct(t, d, `"`+composed+`"`, `"`+decomposed+`"`)
	wantDistinct(t, d,
		`{"`+composed+`":1,"`+decomposed+`":2}`,
		`{"`+composed+`":2,"`+decomposed+`":1}`,
		`{"`+composed+`":1}`, `{"`+decomposed+`":2}`)
	wantRefused(t, d, "\ufeff{}", "\ufeff", " \ufeff{}")
	wantDistinct(t, d, `"a"`, "\"\ufeffa\"", "\"\u2028a\"", "\"\u2029a\"")
}

func TestFPR11_EscapedAndLiteralSpellings(t *testing.T) {
	t.Parallel()
	d := newDigester(t, fingerprint.Config{})
	wantEqual(t, d, `{"a<b>":"<&>"}`, `{"a\u003cb\u003E":"\u003c\u0026\u003e"}`)
	wantEqual(t, d, `"/"`, `"\/"`, `"\u002f"`, `"\u002F"`)
	wantEqual(t, d, "\"\u2028\"", `"\u2028"`)
	wantEqual(t, d, `"\b\f\n\r\t\"\\"`, `"\u0008\u000c\u000a\u000d\u0009\u0022\u005c"`)
	got, err := d.Canonical([]byte("{\"k\":\"<\\/\u2028&\x7f\"} \n"))
	if want := "{\"k\":\"</\u2028&\x7f\"}"; err != nil || string(got) != want {
		t.Errorf("Canonical = %q, %v; want %q", got, err, want)
	}
	// Reference digests made outside of Go are in TestVectors.
}

func TestFPR13_OtherPayloadInAnyProcess(t *testing.T) {
	t.Parallel()
	first := newDigester(t, fingerprint.Config{Version: "1"})
	stored := digest(t, first, `{"amount":100}`)
	fresh := newDigester(t, fingerprint.Config{Version: "1"})
	for body, want := range map[string]bool{`{"amount":1e2}`: true, `{"amount":101}`: false} {
		got, err := fresh.DigestAs(fingerprint.SchemeOf(stored), request(body))
		if err != nil || (got == stored) != want {
			t.Errorf("%s equals the stored digest: %v, %v; want %v", body, got == stored, err, want)
		}
	}
}

func TestFPR16_VolatileMembers(t *testing.T) {
	t.Parallel()
	const (
		first = `{"id":1,"sent_at":"10:00","trace":{"id":"a","flags":1},"items":[{"sku":"x","updated":1},{"sku":"y","updated":2}]}`
		retry = `{"sent_at":"10:05","items":[{"sku":"x","updated":8},{"updated":9,"sku":"y"}],"id":1,"trace":{"id":"b","flags":1}}`
	)
	wantDistinct(t, newDigester(t, fingerprint.Config{}), first, retry)

	d := newDigester(t, fingerprint.Config{Volatile: []string{
		"/sent_at", "/trace/id", "/items/*/updated", "/absent", "/id/below/a/number", "/items/x", "/items/-",
	}})
	wantEqual(t, d, first, retry)
	wantDistinct(t, d, first,
		strings.Replace(retry, `"id":1`, `"id":2`, 1),
		strings.Replace(retry, `"flags":1`, `"flags":2`, 1),
		strings.Replace(retry, `"sku":"y"`, `"sku":"z"`, 1),
		strings.Replace(retry, `,{"updated":9,"sku":"y"}`, ``, 1),
		strings.Replace(retry, `"sent_at"`, `"sent_by"`, 1),
	)
}

func TestFPR16_EverythingLeftOut(t *testing.T) {
	t.Parallel()
	for _, pointer := range []string{"", "/*"} {
		if _, err := fingerprint.New(fingerprint.Config{Volatile: []string{pointer}}); err == nil {
			t.Errorf("New with Volatile %q: got no error, want one", pointer)
		}
	}
	d := newDigester(t, fingerprint.Config{Volatile: []string{"/a", "/items/*/t", "/list/*"}})
	wantRefused(t, d, `{"a":1}`, `{"a":{"b":2}}`, `{"items":[{"t":1},{"t":2}]}`, `{"a":1,"list":[1,2]}`)
	// Nothing was left out of these, or what is left is what the sender sent.
	wantDistinct(t, d, `{}`, `[]`, `0`, `{"a":1,"list":[]}`, `{"a":1,"b":null}`, `{"items":[{}]}`)
}

func TestFPR17_SelectedPartOfAnEnvelope(t *testing.T) {
	t.Parallel()
	d := newDigester(t, fingerprint.Config{Select: "/data/refund"})
	wantEqual(t, d,
		`{"id":"e-1","time":5,"data":{"sig":"x","refund":{"amount":1,"to":"a"}}}`,
		`{"data":{"refund":{"to":"a","amount":1.0},"sig":"y"},"time":6,"id":"e-2"}`)
	wantDistinct(t, d,
		`{"data":{"refund":{"amount":1}}}`, `{"data":{"refund":{"amount":2}}}`,
		`{"data":{"refund":{}}}`, `{"data":{"refund":null}}`, `{"data":{"refund":""}}`)
	wantRefused(t, d, `{}`, `{"data":{}}`, `{"data":{"Refund":1}}`, `{"refund":{"amount":1}}`, `{"data":"refund"}`, `null`, ``,
		`[{"data":{"refund":1}}]`)
	if _, err := d.Digest(fingerprint.Request{Operation: "refund"}); err == nil {
		t.Error("Digest without a body: got no error, want one")
	}

	both := newDigester(t, fingerprint.Config{Select: "/data", Volatile: []string{"/data/sent", "/data/*/n"}})
	wantEqual(t, both, `{"id":1,"data":{"sent":1,"x":{"n":1,"m":2}}}`, `{"id":2,"data":{"sent":2,"x":{"n":7,"m":2}}}`)
	wantDistinct(t, both, `{"data":{"x":{"m":2}}}`, `{"data":{"x":{"m":3}}}`)
	// What counts is what is left of the part, not of the envelope.
	wantRefused(t, both, `{"id":1,"data":{"sent":1}}`)

	element := newDigester(t, fingerprint.Config{Select: "/records/0/body"})
	wantEqual(t, element, `{"records":[{"body":1}]}`, `{"records":[{"body":1.0},2]}`)
	wantRefused(t, element, `{"records":[]}`, `{"records":[2,{"body":1}]}`)
}

func TestFPR19_CorrectedPayloadIsAnotherRequest(t *testing.T) {
	t.Parallel()
	wantDistinct(t, newDigester(t, fingerprint.Config{}),
		`{"iban":"DE00","amount":5}`, `{"iban":"DE01","amount":5}`, `{"iban":"DE00","amount":5,"note":null}`, `{"iban":"DE00","amount":"5"}`)
}

func TestFPR20_TrailingDataAndOtherFormats(t *testing.T) {
	t.Parallel()
	d := newDigester(t, fingerprint.Config{})
	notJSON := []string{
		`{"a":1}{"a":2}`, `{"a":1} garbage`, `{"a":1},`, `{"a":1}` + "\x00", "hello", "\x0a\x03\x08\x96\x01", "\x1f\x8b\x08\x00", " \n",
	}
	wantRefused(t, d, notJSON...)
	wantEqual(t, d, `{"a":1}`, "{\"a\":1}\n", "{\"a\":1} \t\r\n")

	raw := newDigester(t, fingerprint.Config{Format: fingerprint.Raw})
	wantDistinct(t, raw, append(notJSON, `{"a":1}`, "{\"a\":1}\n", "")...)
	if a, b := digest(t, d, `{"a":1}`), digest(t, raw, `{"a":1}`); a[3:] == b[3:] {
		t.Error("JSON and Raw: got one hash for one text, want two")
	}
}

func TestKAF10_NilEmptyAndNull(t *testing.T) {
	t.Parallel()
	for _, format := range []fingerprint.Format{fingerprint.JSON, fingerprint.Raw} {
		d := newDigester(t, fingerprint.Config{Format: format})
		seen := map[string]bool{}
		for _, body := range [][]byte{nil, {}, []byte("null"), []byte(`""`)} {
			got, err := d.Digest(fingerprint.Request{Body: body})
			if err != nil {
				t.Fatalf("format %d, Digest(%q) = %v", format, body, err)
			}
			seen[got] = true
		}
		if len(seen) != 4 {
			t.Errorf("format %d: got %d digests, want 4", format, len(seen))
		}
	}
}
