package attr_test

import (
	"cmp"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/claimonce/claimonce/awstest/internal/ddbd/attr"
)

func number(t testing.TB, s string) attr.Number {
	t.Helper()
	n, err := attr.ParseNumber(s)
	if err != nil {
		t.Fatalf("%s: %v", s, err)
	}
	return n
}

// Order must be numeric both in Cmp and in the key encoding, over every sign and size.
func TestNumbersSortNumerically(t *testing.T) {
	t.Parallel()
	ordered := []string{
		"-9.99e125", "-1e125", "-123", "-12.3", "-12", "-2", "-1.23", "-1.2", "-1", "-0.5", "-0.05", "-1e-130", "0",
		"1e-130", "0.05", "0.5", "1", "1.2", "1.23", "2", "9", "10", "12", "12.3", "123", "1e125", "9.99e125",
	}
	for i, a := range ordered {
		for j, b := range ordered {
			x, y := number(t, a), number(t, b)
			sign := cmp.Compare(i, j)
			if got := x.Cmp(y); got != sign {
				t.Errorf("Cmp(%s, %s): got %d, want %d", a, b, got, sign)
			}
			keys := strings.Compare(attr.Num(x).SortKey(), attr.Num(y).SortKey())
			if keys != sign {
				t.Errorf("keys of %s and %s: got %d, want %d", a, b, keys, sign)
			}
		}
	}
}

func TestArithmeticIsExact(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ x, y, sum string }{
		{"0.1", "0.2", "0.3"},
		{"1", "-1", "0"},
		{"-1", "0.5", "-0.5"},
		{"9007199254740993", "2", "9007199254740995"},
		{"99999999999999999999999999999999999999", "1", "100000000000000000000000000000000000000"},
		{"1e100", "-1e100", "0"},
		{"5e-130", "5e-130", "0." + strings.Repeat("0", 128) + "1"},
	} {
		got, err := number(t, tt.x).Add(number(t, tt.y))
		if err != nil || got.String() != tt.sum {
			t.Errorf("%s + %s: got %s, %v, want %s", tt.x, tt.y, got, err, tt.sum)
		}
		back, err := got.Sub(number(t, tt.y))
		if err != nil || back != number(t, tt.x) {
			t.Errorf("%s - %s: got %s, %v, want %s", got, tt.y, back, err, tt.x)
		}
	}
	for _, tt := range [][2]string{{"1e38", "0.1"}, {"9.9e125", "9.9e125"}} {
		if got, err := number(t, tt[0]).Add(number(t, tt[1])); err == nil {
			t.Errorf("%s + %s: got %s, want an error", tt[0], tt[1], got)
		}
	}
}

// FuzzNumber compares parsing, printing, order and sums with math/big.
func FuzzNumber(f *testing.F) {
	for _, s := range []string{"0", "-0", "1e3", "1.50", ".5", "5.", "+7", "1e-130", "9e125", "--1", "e", "1e", "1e+", "0x1", "1_0", "Inf"} {
		f.Add(s, rand.Int64())
	}
	f.Fuzz(func(t *testing.T, s string, other int64) {
		n, err := attr.ParseNumber(s)
		if err != nil {
			return
		}
		want, ok := new(big.Rat).SetString(s)
		if !ok {
			if n.String() != "0" { // math/big gives up on a zero with a huge exponent
				t.Fatalf("%q is no number, got %s", s, n)
			}
			return
		}
		got, _ := new(big.Rat).SetString(n.String())
		if got.Cmp(want) != 0 {
			t.Fatalf("%q: got %s", s, n)
		}
		again, err := attr.ParseNumber(n.String())
		if err != nil || again != n {
			t.Fatalf("%q: printed as %s, read back as %v, %v", s, n, again, err)
		}
		o := number(t, big.NewInt(other).String())
		if n.Cmp(o) != want.Cmp(new(big.Rat).SetInt64(other)) {
			t.Fatalf("%s against %d: got %d", n, other, n.Cmp(o))
		}
		if sum, err := n.Add(o); err == nil {
			r, _ := new(big.Rat).SetString(sum.String())
			if r.Cmp(want.Add(want, new(big.Rat).SetInt64(other))) != 0 {
				t.Fatalf("%s + %d: got %s", n, other, sum)
			}
		}
	})
}
