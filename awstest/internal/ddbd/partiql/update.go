package partiql

import (
	"slices"

	"github.com/claimonce/claimonce/awstest/internal/ddbd/expr"
)

// update parses SET and REMOVE in any order, as often as wanted: the documentation's examples have one SET for each attribute, the
// language itself has lists with commas.
func (p *parser) update() *Statement {
	s := &Statement{Verb: Update, Table: p.table(), Update: &expr.Update{}}
	for p.err == nil && !p.peek().keyword("WHERE") && p.peek().kind != tokEOF {
		switch {
		case p.word("SET"):
			p.assign(s.Update)
			for p.accept(",") {
				p.assign(s.Update)
			}
		case p.word("REMOVE"):
			s.Update.Remove = append(s.Update.Remove, expr.Action{Path: p.path()})
			for p.accept(",") {
				s.Update.Remove = append(s.Update.Remove, expr.Action{Path: p.path()})
			}
		default:
			p.fail()
		}
	}
	if len(s.Update.Paths()) == 0 {
		p.fail()
	}
	p.where(s)
	p.returning(s)
	return s
}

// assign parses path = value, where set_add and set_delete of the same path are what ADD and DELETE are to an update expression.
func (p *parser) assign(u *expr.Update) {
	path := p.path()
	p.expect("=")
	name := p.peek()
	add := name.keyword("set_add")
	function := (add || name.keyword("set_delete")) && p.tokens[p.pos+1].punct("(")
	if !function {
		u.Set = append(u.Set, expr.Action{Path: path, Value: p.assigned()})
		return
	}
	p.next()
	p.next()
	if !slices.Equal(p.path(), path) {
		p.stop(errorf("Statement wasn't well formed, can't be processed: %s has to change the attribute that it is assigned to", name.text))
	}
	p.expect(",")
	a := expr.Action{Path: path, Value: expr.Literal{Val: p.value()}}
	p.expect(")")
	if add {
		u.Add = append(u.Add, a)
	} else {
		u.Delete = append(u.Delete, a)
	}
}

func (p *parser) assigned() expr.Operand {
	x := p.assignedOperand()
	switch {
	case p.accept("+"):
		return expr.Arithmetic{X: x, Y: p.assignedOperand()}
	case p.accept("-"):
		return expr.Arithmetic{Minus: true, X: x, Y: p.assignedOperand()}
	}
	return x
}

func (p *parser) assignedOperand() expr.Operand {
	name := p.peek()
	if name.kind != tokWord || !p.tokens[p.pos+1].punct("(") {
		return p.operand()
	}
	if !name.keyword("list_append") {
		p.stop(errorf("Statement wasn't well formed, can't be processed: %s cannot be assigned; there are LIST_APPEND, SET_ADD and SET_DELETE", name.text))
		return expr.Literal{}
	}
	p.next()
	p.next()
	x := p.operand()
	p.expect(",")
	y := p.operand()
	p.expect(")")
	return expr.ListAppend{X: x, Y: y}
}
