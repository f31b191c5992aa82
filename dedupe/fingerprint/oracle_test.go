package fingerprint_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// oracle computes the canonical form slowly and by other means: the standard
// library's decoder, a tree of values, and rational numbers.
func oracle(body []byte, maxDepth int) (string, error) {
	switch {
	case bytes.HasPrefix(body, []byte("\ufeff")), !utf8.Valid(body), !json.Valid(body):
		return "", errors.New("not JSON")
	case hasLoneSurrogate(string(body)):
		return "", errors.New("lone surrogate")
	}
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.UseNumber()
	return oracleValue(dec, maxDepth)
}

func oracleValue(dec *json.Decoder, depth int) (string, error) {
	token, err := dec.Token()
	if err != nil {
		return "", err
	}
	switch token := token.(type) {
	case json.Delim:
		if depth == 0 {
			return "", errors.New("too deep")
		}
		if token == '[' {
			return oracleArray(dec, depth-1)
		}
		return oracleObject(dec, depth-1)
	case json.Number:
		return oracleNumber(token.String())
	case string:
		return oracleQuote(token), nil
	case nil:
		return "null", nil
	}
	return fmt.Sprint(token), nil
}

func oracleArray(dec *json.Decoder, depth int) (string, error) {
	var parts []string
	for dec.More() {
		part, err := oracleValue(dec, depth)
		if err != nil {
			return "", err
		}
		parts = append(parts, part)
	}
	_, err := dec.Token()
	return "[" + strings.Join(parts, ",") + "]", err
}

func oracleObject(dec *json.Decoder, depth int) (string, error) {
	members := map[string]string{}
	for dec.More() {
		token, err := dec.Token()
		if err != nil {
			return "", err
		}
		name := token.(string)
		if _, ok := members[name]; ok {
			return "", errors.New("duplicate")
		}
		if members[name], err = oracleValue(dec, depth); err != nil {
			return "", err
		}
	}
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(members)) {
		parts = append(parts, oracleQuote(name)+":"+members[name])
	}
	_, err := dec.Token()
	return "{" + strings.Join(parts, ",") + "}", err
}

func oracleQuote(s string) string {
	pairs := []string{`"`, `\"`, `\`, `\\`, "\b", `\b`, "\t", `\t`, "\n", `\n`, "\f", `\f`, "\r", `\r`}
	for c := range 0x20 {
		if !strings.ContainsRune("\b\t\n\f\r", rune(c)) {
			pairs = append(pairs, string(rune(c)), fmt.Sprintf(`\u%04x`, c))
		}
	}
	return `"` + strings.NewReplacer(pairs...).Replace(s) + `"`
}

func oracleNumber(text string) (string, error) {
	mantissa, exponent, _ := strings.Cut(strings.ToLower(text), "e")
	if strings.Trim(mantissa, "-0.") == "" {
		return "0", nil
	}
	// Rational numbers expand exponents, so absurd ones are kept away from them.
	// The digits of a test body cannot make up for that many.
	if n, err := strconv.ParseInt(exponent, 10, 64); exponent != "" && (err != nil || n > 6_000 || n < -6_000) {
		return "", errors.New("exponent")
	}
	r, ok := new(big.Rat).SetString(text)
	if !ok {
		return "", errors.New("not a number")
	}
	power, ten := 0, big.NewInt(10)
	for !r.IsInt() && power >= -1000 {
		r.Mul(r, new(big.Rat).SetInt(ten))
		power--
	}
	n := r.Num()
	for r.IsInt() && power <= 1000 {
		quotient, rest := new(big.Int).QuoRem(n, ten, new(big.Int))
		if rest.Sign() != 0 {
			break
		}
		n = quotient
		power++
	}
	switch {
	case power > 1000 || power < -1000:
		return "", errors.New("exponent")
	case power == 0:
		return n.String(), nil
	}
	return fmt.Sprintf("%de%d", n, power), nil
}

// hasLoneSurrogate looks at escapes only. In valid JSON a backslash occurs in
// strings only and always takes the next character with it.
func hasLoneSurrogate(body string) bool {
	escapes := regexp.MustCompile(`(?s)\\(u[0-9a-fA-F]{4}|.)`).FindAllStringIndex(body, -1)
	for i := 0; i < len(escapes); i++ {
		unit := surrogate(body, escapes[i])
		if unit == 0 {
			continue
		}
		if i+1 == len(escapes) || escapes[i+1][0] != escapes[i][1] ||
			utf16.DecodeRune(unit, surrogate(body, escapes[i+1])) == utf8.RuneError {
			return true
		}
		i++
	}
	return false
}

func surrogate(body string, at []int) rune {
	if at[1]-at[0] != 6 {
		return 0
	}
	unit, _ := strconv.ParseUint(body[at[0]+2:at[1]], 16, 16)
	if !utf16.IsSurrogate(rune(unit)) {
		return 0
	}
	return rune(unit)
}
