package fingerprint

import (
	"unicode/utf16"
	"unicode/utf8"
)

// text reads a string value into out.
func (p *parser) text() error {
	mark := len(p.names)
	if err := p.decode(); err != nil {
		return err
	}
	p.out = quote(p.out, p.names[mark:])
	p.names = p.names[:mark]
	return nil
}

// decode reads a string and appends its characters to names.
func (p *parser) decode() error {
	p.at++ // the opening quote
	for {
		run := p.at
		for p.at < len(p.body) && plain(p.body[p.at]) {
			p.at++
		}
		p.names = append(p.names, p.body[run:p.at]...)
		if p.at == len(p.body) {
			return p.fail(p.at, reasonEnd)
		}
		switch c := p.body[p.at]; {
		case c == '"':
			p.at++
			return nil
		case c == '\\':
			if err := p.escape(); err != nil {
				return err
			}
		case c < ' ':
			return p.fail(p.at, reasonControl)
		default:
			r, size := utf8.DecodeRune(p.body[p.at:])
			if r == utf8.RuneError && size == 1 { // a real U+FFFD has size 3
				return p.fail(p.at, reasonUTF8)
			}
			p.names = append(p.names, p.body[p.at:p.at+size]...)
			p.at += size
		}
	}
}

func plain(c byte) bool { return ' ' <= c && c < utf8.RuneSelf && c != '"' && c != '\\' }

func (p *parser) escape() error {
	if p.at+1 == len(p.body) {
		return p.fail(p.at+1, reasonEnd)
	}
	c := p.body[p.at+1]
	switch c {
	case '"', '\\', '/':
	case 'b':
		c = '\b'
	case 'f':
		c = '\f'
	case 'n':
		c = '\n'
	case 'r':
		c = '\r'
	case 't':
		c = '\t'
	case 'u':
		return p.unicodeEscape()
	default:
		return p.fail(p.at, reasonEscape)
	}
	p.names = append(p.names, c)
	p.at += 2
	return nil
}

func (p *parser) unicodeEscape() error {
	start := p.at
	r, ok := hex4(p.body[p.at:])
	if !ok {
		return p.fail(start, reasonEscape)
	}
	p.at += 6
	if utf16.IsSurrogate(r) {
		// Decoders replace half a pair by U+FFFD, and then different strings are one.
		second, ok := hex4(p.body[p.at:])
		r = utf16.DecodeRune(r, second)
		if !ok || r == utf8.RuneError {
			return p.fail(start, reasonSurrogate)
		}
		p.at += 6
	}
	p.names = utf8.AppendRune(p.names, r)
	return nil
}

// hex4 reads a \u escape at the start of s.
func hex4(s []byte) (rune, bool) {
	if len(s) < 6 || s[0] != '\\' || s[1] != 'u' {
		return 0, false
	}
	var r rune
	for _, c := range s[2:6] {
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c && c <= 'f':
			c -= 'a' - 10
		case 'A' <= c && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}

// quote appends text, which is valid UTF-8, as RFC 8785, section 3.2.2.2 writes
// strings.
func quote(dst, text []byte) []byte {
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	run := 0
	for i, c := range text {
		if c >= ' ' && c != '"' && c != '\\' {
			continue
		}
		dst = append(dst, text[run:i]...)
		run = i + 1
		switch c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\b':
			dst = append(dst, `\b`...)
		case '\t':
			dst = append(dst, `\t`...)
		case '\n':
			dst = append(dst, `\n`...)
		case '\f':
			dst = append(dst, `\f`...)
		case '\r':
			dst = append(dst, `\r`...)
		default:
			dst = append(dst, `\u00`...)
			dst = append(dst, hex[c>>4], hex[c&15])
		}
	}
	return append(append(dst, text[run:]...), '"')
}
