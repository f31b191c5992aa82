package expr

// Action is one action of an update expression. Value is the right side of SET, ADD and
// DELETE, nil for REMOVE.
type Action struct {
	Path  Path
	Value Operand
}

// Update is a parsed update expression.
type Update struct {
	Set, Remove, Add, Delete []Action
}

// Paths lists every path the update writes.
func (u *Update) Paths() []Path {
	var paths []Path
	for _, actions := range [][]Action{u.Set, u.Remove, u.Add, u.Delete} {
		for _, a := range actions {
			paths = append(paths, a.Path)
		}
	}
	return paths
}

// OnlyTakes reports whether the update can only take away: on an item that does not exist
// it then does nothing at all, and creates none.
func (u *Update) OnlyTakes() bool { return len(u.Set)+len(u.Add) == 0 }

// Update parses an UpdateExpression.
func (p *Params) Update(text string) (*Update, error) {
	const parameter = "UpdateExpression"
	ps, err := p.newParser(text)
	if err != nil {
		return nil, invalid(parameter, err)
	}
	u := &Update{}
	for first := true; first || ps.peek().kind != tokEOF; first = false {
		ps.section(u)
	}
	ps.note(rankPaths, checkPaths(u.Paths()))
	if err := ps.finish(); err != nil {
		return nil, invalid(parameter, err)
	}
	return u, nil
}

func (p *parser) section(u *Update) {
	t := p.next()
	switch {
	case t.keyword("SET"):
		p.actions("SET", &u.Set, p.set)
	case t.keyword("REMOVE"):
		p.actions("REMOVE", &u.Remove, func() Action { return Action{Path: p.path()} })
	case t.keyword("ADD"):
		p.actions("ADD", &u.Add, func() Action { return p.change("ADD") })
	case t.keyword("DELETE"):
		p.actions("DELETE", &u.Delete, func() Action { return p.change("DELETE") })
	default:
		if t.kind != tokEOF {
			p.pos--
		}
		p.fail()
	}
}

func (p *parser) actions(section string, list *[]Action, parse func() Action) {
	if len(*list) > 0 {
		p.note(rankSection, errorf("The %q section can only be used once in an update expression;", section))
	}
	*list = append(*list, parse())
	for p.accept(",") {
		*list = append(*list, parse())
	}
}

func (p *parser) set() Action {
	path := p.path()
	p.expect("=")
	p.operators++
	return Action{Path: path, Value: p.setValue()}
}

// setValue parses operand [+|- operand]; parentheses may surround the whole.
func (p *parser) setValue() Operand {
	x := p.setOperand()
	for _, op := range []string{"+", "-"} {
		if !p.peek().punct(op) {
			continue
		}
		p.noArithmetic(x)
		p.next()
		p.operators++
		y := p.noArithmetic(p.setOperand())
		for _, o := range []Operand{x, y} {
			if k := staticKind(o).String(); k != "" && k != "N" {
				p.note(rankTypes, wrongType(op, k))
			}
		}
		return Arithmetic{Minus: op == "-", X: x, Y: y}
	}
	return x
}

// noArithmetic refuses a sum where the grammar wants a single operand: sums do not nest.
func (p *parser) noArithmetic(o Operand) Operand {
	if _, ok := o.(Arithmetic); ok {
		p.fail()
	}
	return o
}

func (p *parser) setArgument() Operand {
	o := p.noArithmetic(p.setOperand())
	if _, ok := o.(ListAppend); ok {
		p.note(rankMisuse, misused(fnListAppend))
	}
	return o
}

func (p *parser) setOperand() Operand {
	t := p.peek()
	switch {
	case t.punct("("):
		p.next()
		o := p.setValue()
		p.expect(")")
		return o
	case t.kind == tokValue:
		return p.literal()
	case t.kind == tokWord && p.tokens[p.pos+1].punct("("):
		return p.setFunction()
	default:
		return p.path()
	}
}

func (p *parser) setFunction() Operand {
	name := p.next().text
	p.next()
	args := []Operand{p.setArgument()}
	for p.accept(",") {
		args = append(args, p.setArgument())
	}
	p.expect(")")
	p.operators++
	switch {
	case conditionFunction(name):
		p.note(rankMisuse, errorf("The function is not allowed in an update expression; function: %s", name))
	case !updateFunction(name):
		p.note(rankFunction, errorf("Invalid function name; function: %s", name))
	case len(args) != 2:
		p.note(rankTypes, operandCount(name, len(args)))
	case name == fnListAppend:
		for _, arg := range args {
			if k := staticKind(arg).String(); k != "" && k != "L" {
				p.note(rankTypes, wrongType(name, k))
			}
		}
		return ListAppend{args[0], args[1]}
	default:
		path, ok := args[0].(Path)
		if !ok {
			p.note(rankTypes, requiresPath(name))
		}
		return IfNotExists{path, args[1]}
	}
	return Literal{}
}

// change parses an action of ADD or DELETE, which take a literal only.
func (p *parser) change(section string) Action {
	path := p.path()
	if p.peek().kind != tokValue {
		p.fail()
		return Action{Path: path, Value: Literal{}}
	}
	p.operators++
	l := p.literal()
	if l.Val.Exists() && !l.Val.IsSet() && (section != "ADD" || l.Val.Kind.String() != "N") {
		p.note(rankOperands, errorf("Incorrect operand type for operator or function; operator: %s, operand type: %s, typeSet: ALLOWED_FOR_%s_OPERAND",
			section, typeWord(l.Val.Kind), section))
	}
	return Action{Path: path, Value: l}
}

// CheckPaths refuses paths that overlap; [Params.Update] has done so already.
func (u *Update) CheckPaths() error {
	return invalid("UpdateExpression", checkPaths(u.Paths()))
}
