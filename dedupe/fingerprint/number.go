package fingerprint

import (
	"bytes"
	"strconv"
)

const (
	maxExponent = 1_000
	// Where the reading of an exponent stops counting. Above limitMaxBody, so that
	// no fraction that fits a body brings such a number back into range.
	hugeExponent = 1 << 40
)

// number reads a number into out: digits without zeros at either end, and a
// power of ten. Nothing is expanded, so 1e999999999 costs its eleven bytes.
func (p *parser) number() error {
	start := p.at
	negative := p.peek() == '-'
	if negative {
		p.at++
	}
	whole := p.digits()
	if len(whole) == 0 || len(whole) > 1 && whole[0] == '0' {
		return p.fail(start, reasonNumber)
	}
	var fraction []byte
	if p.peek() == '.' {
		p.at++
		if fraction = p.digits(); len(fraction) == 0 {
			return p.fail(start, reasonNumber)
		}
	}
	exponent, ok := p.exponent()
	if !ok {
		return p.fail(start, reasonNumber)
	}
	exponent -= int64(len(fraction))
	if whole[0] == '0' {
		whole, fraction = nil, bytes.TrimLeft(fraction, "0")
	}
	return p.decimal(start, negative, whole, fraction, exponent)
}

// decimal writes the number whose digits are whole and fraction, without zeros
// in front, times ten to the power of exponent.
func (p *parser) decimal(start int, negative bool, whole, fraction []byte, exponent int64) error {
	mark := len(p.out)
	if negative {
		p.out = append(p.out, '-')
	}
	digits := len(p.out)
	p.out = append(append(p.out, whole...), fraction...)
	full := len(p.out)
	for len(p.out) > digits && p.out[len(p.out)-1] == '0' {
		p.out = p.out[:len(p.out)-1]
	}
	if len(p.out) == digits { // zero, whatever its sign and exponent
		p.out = append(p.out[:mark], '0')
		return nil
	}
	exponent += int64(full - len(p.out))
	if exponent > maxExponent || exponent < -maxExponent {
		return p.fail(start, reasonExponent)
	}
	if exponent != 0 {
		p.out = strconv.AppendInt(append(p.out, 'e'), exponent, 10)
	}
	return nil
}

func (p *parser) digits() []byte {
	start := p.at
	for p.at < len(p.body) && '0' <= p.body[p.at] && p.body[p.at] <= '9' {
		p.at++
	}
	return p.body[start:p.at]
}

func (p *parser) exponent() (int64, bool) {
	if c := p.peek(); c != 'e' && c != 'E' {
		return 0, true
	}
	p.at++
	sign := p.peek()
	if sign == '+' || sign == '-' {
		p.at++
	}
	digits := p.digits()
	var n int64
	for _, c := range digits {
		if n < hugeExponent {
			n = n*10 + int64(c-'0')
		}
	}
	if sign == '-' {
		n = -n
	}
	return n, len(digits) > 0
}
