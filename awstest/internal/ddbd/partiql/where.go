package partiql

import (
	"strings"

	"github.com/claimonce/claimonce/awstest/internal/ddbd/attr"
	"github.com/claimonce/claimonce/awstest/internal/ddbd/expr"
)

func (p *parser) or() expr.Condition {
	c := p.and()
	for p.word("OR") {
		c = expr.Or{X: c, Y: p.and()}
	}
	return c
}

func (p *parser) and() expr.Condition {
	c := p.not()
	for p.word("AND") {
		c = expr.And{X: c, Y: p.not()}
	}
	return c
}

func (p *parser) not() expr.Condition {
	if p.word("NOT") {
		return expr.Not{X: p.not()}
	}
	if p.accept("(") {
		c := p.or()
		p.expect(")")
		return c
	}
	if c := p.function(); c != nil {
		return c
	}
	return p.comparison(p.operand())
}

func (p *parser) comparison(x expr.Operand) expr.Condition {
	switch {
	case p.word("BETWEEN"):
		lo := p.operand()
		p.need("AND")
		return expr.Between{X: x, Lo: lo, Hi: p.operand()}
	case p.word("IN"):
		return expr.In{X: x, List: p.list()}
	case p.word("IS"):
		return p.is(x)
	}
	op := p.next()
	switch op.text {
	case "!=":
		return expr.Compare{Op: "<>", X: x, Y: p.operand()}
	case "=", "<>", "<", "<=", ">", ">=":
		if op.kind == tokPunct {
			return expr.Compare{Op: op.text, X: x, Y: p.operand()}
		}
	}
	p.unexpected(op)
	return expr.Not{}
}

// list is what may follow IN: ql-operators.html has brackets and parentheses.
func (p *parser) list() []expr.Operand {
	end := "]"
	if !p.accept("[") {
		p.expect("(")
		end = ")"
	}
	var out []expr.Operand
	for p.err == nil {
		out = append(out, p.operand())
		if p.accept(end) {
			break
		}
		p.expect(",")
	}
	return out
}

// is parses [NOT] MISSING and [NOT] NULL. An absent attribute is missing; one that holds null is not.
func (p *parser) is(x expr.Operand) expr.Condition {
	not := p.word("NOT")
	path, ok := x.(expr.Path)
	if !ok {
		p.fail()
	}
	var c expr.Condition
	switch {
	case p.word("MISSING"):
		c = expr.Function{Name: "attribute_not_exists", Args: []expr.Operand{path}}
	case p.word("NULL"):
		c = expr.Function{Name: "attribute_type", Args: []expr.Operand{path, expr.Literal{Val: attr.String("NULL")}}}
	default:
		p.fail()
	}
	if not {
		return expr.Not{X: c}
	}
	return c
}

// function parses a function that is a condition by itself; nil where none is next.
func (p *parser) function() expr.Condition {
	name := p.peek()
	if name.kind != tokWord || !p.tokens[p.pos+1].punct("(") || name.keyword("size") {
		return nil
	}
	switch lower := strings.ToLower(name.text); lower {
	case "begins_with", "contains", "attribute_type":
		p.next()
		p.next()
		x := p.operand()
		p.expect(",")
		y := p.operand()
		p.expect(")")
		return expr.Function{Name: lower, Args: []expr.Operand{x, y}}
	default:
		p.stop(errorf("Statement wasn't well formed, can't be processed: there is no function %s in PartiQL for DynamoDB; for presence use IS MISSING", name.text))
		return expr.Not{}
	}
}

func (p *parser) operand() expr.Operand {
	switch t := p.peek(); {
	case startsValue(t):
		return expr.Literal{Val: p.value()}
	case t.keyword("size") && p.tokens[p.pos+1].punct("("):
		p.next()
		p.next()
		of := p.path()
		p.expect(")")
		return expr.Size{Of: of}
	default:
		return p.path()
	}
}
