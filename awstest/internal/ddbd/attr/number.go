package attr

import (
	"math/big"
	"strconv"
	"strings"
)

// Limits of the Number type, from
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/HowItWorks.NamingRulesDataTypes.html
const (
	maxDigits   = 38
	maxExponent = 125
	minExponent = -130
)

// Number is an exact decimal of at most 38 significant digits. The zero value is 0.
// Equal numbers have equal representations, so Number is comparable with ==.
type Number struct {
	neg    bool
	digits string // significant digits without leading or trailing zeros; "" is zero
	exp    int    // the value is 0.digits times 10^exp
}

// ParseNumber reads a decimal such as "-1.50e3".
func ParseNumber(s string) (Number, error) {
	if s == "" {
		return Number{}, errorf("The parameter cannot be converted to a numeric value")
	}
	bad := func() (Number, error) {
		return Number{}, errorf("The parameter cannot be converted to a numeric value: %s", s)
	}
	rest := s
	neg := rest[0] == '-'
	if neg || rest[0] == '+' {
		rest = rest[1:]
	}
	mantissa, exponent, hasExp := cutExponent(rest)
	whole, frac, _ := strings.Cut(mantissa, ".")
	if whole+frac == "" || !allDigits(whole) || !allDigits(frac) {
		return bad()
	}
	exp := 0
	if hasExp {
		var ok bool
		if exp, ok = parseExponent(exponent); !ok {
			return bad()
		}
	}
	return newNumber(neg, whole+frac, len(whole)+exp)
}

func cutExponent(s string) (mantissa, exponent string, ok bool) {
	i := strings.IndexAny(s, "eE")
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+1:], true
}

// parseExponent clamps huge exponents: they are out of range either way, and the
// range check words the error.
func parseExponent(s string) (int, bool) {
	digits := strings.TrimLeft(s, "+-")
	if digits == "" || !allDigits(digits) || len(s)-len(digits) > 1 {
		return 0, false
	}
	n, err := strconv.Atoi(digits)
	if err != nil || n > 1_000_000 {
		n = 1_000_000
	}
	if s[0] == '-' {
		n = -n
	}
	return n, true
}

func allDigits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return true
}

// newNumber normalises 0.digits times 10^exp and checks the type's limits.
func newNumber(neg bool, digits string, exp int) (Number, error) {
	trimmed := strings.TrimLeft(digits, "0")
	exp -= len(digits) - len(trimmed)
	trimmed = strings.TrimRight(trimmed, "0")
	switch {
	case trimmed == "":
		return Number{}, nil
	case exp-1 > maxExponent:
		return Number{}, overflow()
	case exp-1 < minExponent:
		return Number{}, errorf("Number underflow. Attempting to store a number with magnitude smaller than supported range")
	case len(trimmed) > maxDigits:
		return Number{}, errorf("Attempting to store more than 38 significant digits in a Number")
	}
	return Number{neg: neg, digits: trimmed, exp: exp}, nil
}

func overflow() error {
	return errorf("Number overflow. Attempting to store a number with magnitude larger than supported range")
}

// String writes the number in plain notation without an exponent, as the service does.
func (n Number) String() string {
	if n.digits == "" {
		return "0"
	}
	var b strings.Builder
	if n.neg {
		b.WriteByte('-')
	}
	switch {
	case n.exp <= 0:
		b.WriteString("0." + strings.Repeat("0", -n.exp) + n.digits)
	case n.exp >= len(n.digits):
		b.WriteString(n.digits + strings.Repeat("0", n.exp-len(n.digits)))
	default:
		b.WriteString(n.digits[:n.exp] + "." + n.digits[n.exp:])
	}
	return b.String()
}

// Cmp compares numerically.
func (n Number) Cmp(o Number) int { return strings.Compare(n.sortKey(), o.sortKey()) }

// Add returns n + o, or an error when the sum does not fit the type. The service calls it
// an overflow too when the sum needs more digits than there are.
func (n Number) Add(o Number) (Number, error) {
	scale := min(n.exp-len(n.digits), o.exp-len(o.digits))
	sum := new(big.Int).Add(n.scaled(scale), o.scaled(scale))
	digits := new(big.Int).Abs(sum).String()
	if len(strings.TrimRight(digits, "0")) > maxDigits {
		return Number{}, overflow()
	}
	return newNumber(sum.Sign() < 0, digits, len(digits)+scale)
}

// Sub returns n - o, or an error when the difference does not fit the type.
func (n Number) Sub(o Number) (Number, error) {
	o.neg = !o.neg && o.digits != ""
	return n.Add(o)
}

func (n Number) scaled(scale int) *big.Int {
	if n.digits == "" {
		return new(big.Int)
	}
	v, _ := new(big.Int).SetString(n.digits+strings.Repeat("0", n.exp-len(n.digits)-scale), 10)
	if n.neg {
		v.Neg(v)
	}
	return v
}

// Int64 returns the value when it is a whole number that fits.
func (n Number) Int64() (int64, bool) {
	v, err := strconv.ParseInt(n.String(), 10, 64)
	return v, err == nil
}

// sortKey encodes the number so that byte order is numeric order.
func (n Number) sortKey() string {
	if n.digits == "" {
		return "\x01"
	}
	biased := n.exp + 1000
	if !n.neg {
		return "\x02" + string([]byte{byte(biased >> 8), byte(biased)}) + n.digits
	}
	key := make([]byte, 0, len(n.digits)+4)
	key = append(key, 0, ^byte(biased>>8), ^byte(biased))
	for i := range len(n.digits) {
		key = append(key, ^n.digits[i])
	}
	// The end mark puts -1.2 after -1.23: the shorter one is nearer to zero.
	return string(append(key, 0xff))
}

// size follows the sizing rules: a byte for every two digits, packed in pairs from the
// decimal point, one for the exponent, one for a minus.
func (n Number) size() int {
	if n.digits == "" {
		return 1
	}
	size := 1 + (len(n.digits)+1)/2
	if len(n.digits)%2 == 0 && n.exp%2 != 0 {
		size++
	}
	if n.neg {
		size++
	}
	return size
}
