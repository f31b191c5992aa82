package expr

import (
	"slices"
	"strconv"
	"strings"

	"github.com/claimonce/claimonce/awstest/internal/ddbd/attr"
)

// Limits of expressions, from
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Constraints.html
const (
	maxSize      = 4096
	maxOperators = 300
	maxIn        = 100
	maxPathDepth = attr.MaxDepth
)

// rank orders findings: of several faults in one expression the service reports that of
// the lowest rank.
type rank uint8

const (
	rankParens rank = iota
	rankFunction
	rankMisuse
	rankReserved
	rankSection
	rankUndefined
	rankPaths
	rankOperands
	rankDistinct
	rankTypes
	rankLimits
	ranks
)

// parser is a recursive-descent parser. A syntax error ends it: fail moves to the end of
// the text, where every rule stops.
type parser struct {
	params    *Params
	text      string
	tokens    []token
	pos       int
	operators int
	err       error
	findings  [ranks]string
}

// newParser refuses what is not worth tokenizing.
func (p *Params) newParser(text string) (*parser, error) {
	switch {
	case strings.TrimSpace(text) == "":
		return nil, errorf("The expression can not be empty;")
	case len(text) > maxSize:
		return nil, errorf("Expression size has exceeded the maximum allowed size; expression size: %d", len(text))
	}
	return &parser{params: p, text: text, tokens: tokenize(text)}, nil
}

// finish reports the first fault found, or tokens left over.
func (p *parser) finish() error {
	if p.peek().kind != tokEOF {
		p.fail()
	}
	if p.err != nil {
		return p.err
	}
	if p.operators > maxOperators {
		return errorf("The expression contains too many operators and functions; number: %d", p.operators)
	}
	for _, message := range p.findings {
		if message != "" {
			return &Error{Message: message}
		}
	}
	return nil
}

// invalid puts the parameter's name in front of a fault.
func invalid(parameter string, err error) error {
	if err == nil {
		return nil
	}
	return errorf("Invalid %s: %s", parameter, err.Error())
}

func (p *parser) note(r rank, err error) {
	if err != nil && p.findings[r] == "" {
		p.findings[r] = err.Error()
	}
}

func (p *parser) peek() token { return p.tokens[p.pos] }

func (p *parser) next() token {
	t := p.tokens[p.pos]
	if t.kind != tokEOF {
		p.pos++
	}
	return t
}

// accept consumes the punctuation if it is next.
func (p *parser) accept(punct string) bool {
	if p.peek().punct(punct) {
		p.next()
		return true
	}
	return false
}

func (p *parser) acceptKeyword(word string) bool {
	if p.peek().keyword(word) {
		p.next()
		return true
	}
	return false
}

func (p *parser) expect(punct string) {
	if !p.accept(punct) {
		p.fail()
	}
}

// fail records a syntax error at the next token, quoting its neighbours.
func (p *parser) fail() {
	if p.err == nil {
		t := p.peek()
		near := p.text[p.tokens[max(p.pos-1, 0)].start:p.tokens[min(p.pos+1, len(p.tokens)-1)].end]
		p.err = errorf("Syntax error; token: \"%s\", near: \"%s\"", t.text, strings.TrimSpace(near))
	}
	p.pos = len(p.tokens) - 1
}

// path parses name(.name|[index])*.
func (p *parser) path() Path {
	path := Path{p.name()}
	for p.err == nil {
		switch {
		case p.accept("."):
			path = append(path, p.name())
		case p.accept("["):
			path = append(path, p.index())
			p.expect("]")
		default:
			if len(path) > maxPathDepth {
				p.note(rankLimits, errorf("The document path has too many nesting elements; nesting levels: %d", len(path)))
			}
			return path
		}
	}
	return path
}

func (p *parser) name() Step {
	switch t := p.peek(); {
	case t.kind == tokName:
		p.next()
		name, ok := p.params.names[t.text]
		if !ok {
			p.note(rankUndefined, errorf("An expression attribute name used in the document path is not defined; attribute name: %s", t.text))
		}
		p.params.usedNames[t.text] = true
		return Step{Name: name}
	case t.kind == tokWord && !grammarWord(t):
		p.next()
		if reserved(t.text) {
			p.note(rankReserved, errorf("Attribute name is a reserved keyword; reserved keyword: %s", t.text))
		}
		return Step{Name: t.text}
	default:
		p.fail()
		return Step{}
	}
}

func (p *parser) index() Step {
	t := p.peek()
	if t.kind != tokIndex {
		p.fail()
		return Step{}
	}
	p.next()
	n, err := strconv.ParseUint(t.text, 10, 31)
	if err != nil {
		p.note(rankLimits, errorf("List index is not within the allowable range; index: [%s]", t.text))
	}
	return Step{Index: int(n)}
}

// literal parses a :value that is known to be next.
func (p *parser) literal() Literal {
	t := p.next()
	v, ok := p.params.values[t.text]
	if !ok {
		p.note(rankUndefined, errorf("An expression attribute value used in expression is not defined; attribute value: %s", t.text))
	}
	p.params.usedValues[t.text] = true
	return Literal{Val: v}
}

// grammarWord tells the words that can never be attribute names, since the grammar itself
// uses them; other reserved words are refused by name.
func grammarWord(t token) bool {
	return slices.ContainsFunc([]string{"AND", "OR", "NOT", "IN", "BETWEEN"}, t.keyword)
}
