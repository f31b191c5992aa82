package partiql

import "strings"

type tokenKind uint8

const (
	tokEOF    tokenKind = iota
	tokWord             // bare: a keyword, function or name
	tokQuoted           // "name"
	tokString           // 'text'
	tokNumber
	tokPunct
	tokBad
)

// token holds a name or string without its quotes.
type token struct {
	kind tokenKind
	text string
}

func (t token) punct(s string) bool { return t.kind == tokPunct && t.text == s }

func (t token) keyword(s string) bool { return t.kind == tokWord && strings.EqualFold(t.text, s) }

func tokenize(text string) []token {
	var tokens []token
	for {
		text = strings.TrimLeft(text, " \t\r\n")
		if text == "" {
			return append(tokens, token{tokEOF, "end of statement"})
		}
		t, n := scan(text)
		tokens = append(tokens, t)
		text = text[n:]
	}
}

// scan returns the token at the start of s and how long it is there.
func scan(s string) (token, int) {
	switch c := s[0]; {
	case letter(c) || c == '_':
		n := span(s, func(c byte) bool { return letter(c) || digit(c) || c == '_' }) // a hyphen needs quotes
		return token{tokWord, s[:n]}, n
	case digit(c), c == '.' && len(s) > 1 && digit(s[1]):
		n := number(s)
		return token{tokNumber, s[:n]}, n
	case c == '"':
		return quoted(s, tokQuoted)
	case c == '\'':
		return quoted(s, tokString)
	}
	for _, two := range []string{"<=", ">=", "<>", "!=", "<<", ">>"} {
		if strings.HasPrefix(s, two) {
			return token{tokPunct, two}, 2
		}
	}
	if strings.IndexByte("()[]{},.=<>+-*:?;", s[0]) >= 0 {
		return token{tokPunct, s[:1]}, 1
	}
	return token{tokBad, s[:1]}, 1
}

// quoted reads up to the closing quote; a doubled one stands for itself.
func quoted(s string, kind tokenKind) (token, int) {
	quote := s[0]
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] != quote:
			b.WriteByte(s[i])
		case i+1 < len(s) && s[i+1] == quote:
			b.WriteByte(quote)
			i++
		default:
			return token{kind, b.String()}, i + 1
		}
	}
	return token{tokBad, s}, len(s)
}

// number measures digits with a fraction and an exponent; a sign before it is punctuation.
func number(s string) int {
	n := span(s, func(c byte) bool { return digit(c) || c == '.' })
	if n == len(s) || s[n] != 'e' && s[n] != 'E' {
		return n
	}
	exp := n + 1
	if exp < len(s) && (s[exp] == '+' || s[exp] == '-') {
		exp++
	}
	if d := span(s[exp:], digit); d > 0 {
		return exp + d
	}
	return n
}

func span(s string, ok func(byte) bool) int {
	n := 0
	for n < len(s) && ok(s[n]) {
		n++
	}
	return n
}

func letter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }
func digit(c byte) bool  { return c >= '0' && c <= '9' }
