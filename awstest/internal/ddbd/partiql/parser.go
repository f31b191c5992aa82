package partiql

import (
	"fmt"
	"strconv"

	"github.com/claimonce/claimonce/awstest/internal/ddbd/attr"
	"github.com/claimonce/claimonce/awstest/internal/ddbd/expr"
)

func errorf(format string, args ...any) error {
	return &expr.Error{Message: fmt.Sprintf(format, args...)}
}

func errCount() error {
	return errorf("Number of parameters in request and statement don't match.")
}

// parser is a recursive-descent parser. The first error ends it: it moves to the end of the text, where every rule stops.
type parser struct {
	tokens []token
	pos    int
	params []attr.Value
	used   int
	err    error
}

func (p *parser) stop(err error) {
	if p.err == nil {
		p.err = err
	}
	p.pos = len(p.tokens) - 1
}

// fail refuses the next token.
func (p *parser) fail() { p.unexpected(p.peek()) }

func (p *parser) unexpected(t token) {
	p.stop(errorf("Statement wasn't well formed, can't be processed: Unexpected token: %q", t.text))
}

func (p *parser) peek() token { return p.tokens[p.pos] }

func (p *parser) next() token {
	t := p.tokens[p.pos]
	if t.kind != tokEOF {
		p.pos++
	}
	return t
}

func (p *parser) accept(punct string) bool {
	if p.peek().punct(punct) {
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

func (p *parser) word(keyword string) bool {
	if p.peek().keyword(keyword) {
		p.next()
		return true
	}
	return false
}

func (p *parser) need(keyword string) {
	if !p.word(keyword) {
		p.fail()
	}
}

func (p *parser) statement() *Statement {
	switch {
	case p.word("INSERT"):
		return p.insert()
	case p.word("UPDATE"):
		return p.update()
	case p.word("DELETE"):
		p.need("FROM")
		s := &Statement{Verb: Delete, Table: p.table()}
		p.where(s)
		p.returning(s)
		return s
	case p.word("SELECT"):
		return p.query()
	default:
		p.fail()
		return &Statement{}
	}
}

func (p *parser) insert() *Statement {
	p.need("INTO")
	s := &Statement{Verb: Insert, Table: p.table()}
	p.need("VALUE")
	if !p.peek().punct("{") {
		p.fail()
		return s
	}
	s.Item = p.value().Map
	p.returning(s)
	return s
}

func (p *parser) query() *Statement {
	s := &Statement{Verb: Select}
	if !p.accept("*") {
		s.Columns = []expr.Path{p.path()}
		for p.accept(",") {
			s.Columns = append(s.Columns, p.path())
		}
	}
	p.need("FROM")
	s.Table = p.table()
	if p.peek().keyword("WHERE") {
		p.where(s)
	}
	return s
}

// where is required of an UPDATE and a DELETE: without one they would be about every item.
func (p *parser) where(s *Statement) {
	if p.peek().kind == tokEOF {
		p.stop(errorf("Where clause does not contain a mandatory equality on all key attributes"))
	}
	p.need("WHERE")
	s.Where = p.or()
}

func (p *parser) table() string {
	t := p.name().Name
	if p.peek().punct(".") {
		p.stop(errorf("statements on an index are not supported by awstest; use Query"))
	}
	return t
}

func (p *parser) returning(s *Statement) {
	if !p.word("RETURNING") {
		return
	}
	if s.Verb == Insert {
		p.stop(errorf("RETURNING is not supported in INSERT"))
	}
	part, age := p.next(), p.next()
	p.expect("*")
	for _, known := range []struct{ part, age, mode string }{
		{"ALL", "OLD", "ALL_OLD"},
		{"ALL", "NEW", "ALL_NEW"},
		{"MODIFIED", "OLD", "UPDATED_OLD"},
		{"MODIFIED", "NEW", "UPDATED_NEW"},
	} {
		if part.keyword(known.part) && age.keyword(known.age) {
			s.Returning = known.mode
		}
	}
	switch {
	case s.Returning == "":
		p.unexpected(part)
	case s.Verb == Delete && s.Returning != "ALL_OLD": // ql-reference.delete.html has no other
		p.stop(errorf("Invalid returning clause: RETURNING %s %s *. Only RETURNING ALL OLD * is allowed in DELETE statements.", part.text, age.text))
	}
}

// path is name(.name|[index])*, each name bare or in double quotes.
func (p *parser) path() expr.Path {
	path := expr.Path{p.name()}
	for p.err == nil {
		switch {
		case p.accept("."):
			path = append(path, p.name())
		case p.accept("["):
			t := p.next()
			n, err := strconv.Atoi(t.text)
			if t.kind != tokNumber || err != nil {
				p.unexpected(t)
			}
			path = append(path, expr.Step{Index: n})
			p.expect("]")
		default:
			return path
		}
	}
	return path
}

func (p *parser) name() expr.Step {
	t := p.peek()
	if t.kind != tokWord && t.kind != tokQuoted || t.text == "" {
		p.fail()
	}
	p.next()
	return expr.Step{Name: t.text}
}
