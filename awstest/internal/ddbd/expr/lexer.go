package expr

import "strings"

type tokenKind uint8

const (
	tokEOF tokenKind = iota
	tokWord
	tokName  // #name
	tokValue // :value
	tokIndex
	tokPunct
	tokBad
)

// token knows where it stands in the text, since errors quote the text around it.
type token struct {
	kind       tokenKind
	text       string
	start, end int
}

func (t token) punct(s string) bool { return t.kind == tokPunct && t.text == s }

// keyword compares a bare word with an upper-case keyword.
func (t token) keyword(s string) bool { return t.kind == tokWord && strings.EqualFold(t.text, s) }

func tokenize(text string) []token {
	var tokens []token
	for pos := 0; ; {
		for pos < len(text) && strings.IndexByte(" \t\r\n", text[pos]) >= 0 {
			pos++
		}
		if pos == len(text) {
			return append(tokens, token{tokEOF, "<EOF>", pos, pos})
		}
		kind, n := scan(text[pos:])
		tokens = append(tokens, token{kind, text[pos : pos+n], pos, pos + n})
		pos += n
	}
}

// scan returns the kind and length of the token at the start of s. A bare word may not
// begin with an underscore or a digit; after # and : both may.
func scan(s string) (tokenKind, int) {
	switch c := s[0]; {
	case isLetter(c):
		return tokWord, 1 + span(s[1:], isWordPart)
	case isDigit(c):
		return tokIndex, span(s, isDigit)
	case c == '#' || c == ':':
		n := span(s[1:], isWordPart)
		if n == 0 {
			return tokBad, 1
		}
		if c == '#' {
			return tokName, n + 1
		}
		return tokValue, n + 1
	case strings.HasPrefix(s, "<>"), strings.HasPrefix(s, "<="), strings.HasPrefix(s, ">="):
		return tokPunct, 2
	case strings.IndexByte("()[],.=<>+-", c) >= 0:
		return tokPunct, 1
	default:
		return tokBad, 1
	}
}

func span(s string, ok func(byte) bool) int {
	n := 0
	for n < len(s) && ok(s[n]) {
		n++
	}
	return n
}

func isLetter(c byte) bool   { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }
func isDigit(c byte) bool    { return c >= '0' && c <= '9' }
func isWordPart(c byte) bool { return isLetter(c) || isDigit(c) || c == '_' }
