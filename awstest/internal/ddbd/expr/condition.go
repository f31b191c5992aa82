package expr

// Condition parses a ConditionExpression or FilterExpression; parameter is that name.
func (p *Params) Condition(parameter, text string) (Condition, error) {
	ps, err := p.newParser(text)
	if err != nil {
		return nil, invalid(parameter, err)
	}
	cond := ps.condition(ps.or())
	if err := ps.finish(); err != nil {
		return nil, invalid(parameter, err)
	}
	return cond, nil
}

// node is a parsed part that is still either a condition or an operand: only what follows
// tells what "(a)" is. parens remembers the last pair around it.
type node struct {
	cond    Condition
	operand Operand
	parens  bool
}

// condition takes a node where only a condition may stand.
func (p *parser) condition(n node) Condition {
	if n.cond == nil {
		if _, ok := n.operand.(Size); ok {
			p.note(rankMisuse, misused("size"))
		} else {
			p.fail()
		}
		return Not{}
	}
	return n.cond
}

// operand takes a node where only an operand may stand.
func (p *parser) operand(n node) Operand {
	if n.operand == nil {
		if f, ok := n.cond.(Function); ok {
			p.note(rankMisuse, misused(f.Name))
		} else {
			p.fail()
		}
		return Literal{}
	}
	return n.operand
}

func misused(function string) error {
	return errorf("The function is not allowed to be used this way in an expression; function: %s", function)
}

func (p *parser) or() node {
	n := p.and()
	for p.acceptKeyword("OR") {
		p.operators++
		x := p.condition(n)
		n = node{cond: Or{x, p.condition(p.and())}}
	}
	return n
}

func (p *parser) and() node {
	n := p.not()
	for p.acceptKeyword("AND") {
		p.operators++
		x := p.condition(n)
		n = node{cond: And{x, p.condition(p.not())}}
	}
	return n
}

func (p *parser) not() node {
	if p.acceptKeyword("NOT") {
		p.operators++
		return node{cond: Not{p.condition(p.not())}}
	}
	return p.comparison()
}

func (p *parser) comparison() node {
	n := p.primary()
	t := p.peek()
	switch {
	case t.kind == tokPunct && comparator(t.text):
		return p.compare(n)
	case t.keyword("BETWEEN"):
		return p.between(n)
	case t.keyword("IN"):
		return p.in(n)
	default:
		return n
	}
}

func comparator(s string) bool {
	switch s {
	case "=", "<>", "<", "<=", ">", ">=":
		return true
	default:
		return false
	}
}

func (p *parser) compare(n node) node {
	x := p.operand(n)
	op := p.next().text
	y := p.operand(p.primary())
	p.operators++
	p.checkDistinct(op, x, y)
	if op != "=" && op != "<>" {
		p.checkOrdered(op, x, y)
	}
	return node{cond: Compare{op, x, y}}
}

func (p *parser) between(n node) node {
	x := p.operand(n)
	p.next()
	lo := p.operand(p.primary())
	if !p.acceptKeyword("AND") {
		p.fail()
	}
	hi := p.operand(p.primary())
	p.operators++
	p.checkOrdered("BETWEEN", x, lo, hi)
	p.checkBounds(lo, hi)
	return node{cond: Between{x, lo, hi}}
}

func (p *parser) in(n node) node {
	x := p.operand(n)
	p.next()
	p.expect("(")
	list := p.arguments()
	p.operators++
	if len(list) > maxIn {
		p.note(rankLimits, errorf("The IN operator is provided with too many operands; number of operands: %d", len(list)))
	}
	return node{cond: In{x, list}}
}

// arguments parses operands up to and with the closing parenthesis.
func (p *parser) arguments() []Operand {
	args := []Operand{p.operand(p.primary())}
	for p.accept(",") {
		args = append(args, p.operand(p.primary()))
	}
	p.expect(")")
	return args
}

func (p *parser) primary() node {
	t := p.peek()
	switch {
	case t.punct("("):
		p.next()
		n := p.or()
		p.expect(")")
		if n.parens {
			p.note(rankParens, errorf("The expression has redundant parentheses;"))
		}
		n.parens = true
		return n
	case t.kind == tokValue:
		return node{operand: p.literal()}
	case t.kind == tokWord && !grammarWord(t) && p.tokens[p.pos+1].punct("("):
		return p.function()
	default:
		return node{operand: p.path()}
	}
}

func (p *parser) function() node {
	name := p.next().text
	p.next()
	args := p.arguments()
	p.operators++
	if p.err != nil || !p.checkFunction(name, args) {
		// Any node will do: the fault found is what the caller reports.
		return node{cond: Function{Name: name}, operand: Literal{}}
	}
	if name == fnSize {
		return node{operand: Size{args[0]}}
	}
	return node{cond: Function{Name: name, Args: args}}
}
