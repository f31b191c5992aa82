package partiql

import "github.com/claimonce/claimonce/awstest/internal/ddbd/attr"

// startsValue tells what can only be a literal or a parameter, and no path.
func startsValue(t token) bool {
	switch t.kind {
	case tokString, tokNumber:
		return true
	case tokPunct:
		return t.text == "?" || t.text == "{" || t.text == "[" || t.text == "<<" || t.text == "-" || t.text == "+"
	default:
		return t.keyword("TRUE") || t.keyword("FALSE") || t.keyword("NULL")
	}
}

// value is a literal as https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/ql-reference.data-types.html writes it, or
// the next parameter; parameters may stand inside lists and tuples too.
func (p *parser) value() attr.Value {
	t := p.next()
	switch {
	case t.punct("?"):
		return p.parameter()
	case t.kind == tokString:
		return attr.String(t.text)
	case t.kind == tokNumber:
		return p.number(t.text)
	case t.punct("-"), t.punct("+"):
		n := p.next()
		if n.kind != tokNumber {
			p.unexpected(n)
		}
		return p.number(t.text + n.text)
	case t.keyword("TRUE"), t.keyword("FALSE"):
		return attr.Value{Kind: attr.KindBOOL, Bool: t.keyword("TRUE")}
	case t.keyword("NULL"):
		return attr.Value{Kind: attr.KindNULL}
	case t.punct("["):
		return attr.Value{Kind: attr.KindL, List: p.values("]")}
	case t.punct("<<"):
		return p.set(p.values(">>"))
	case t.punct("{"):
		return p.tuple()
	default:
		p.unexpected(t)
		return attr.Value{}
	}
}

func (p *parser) parameter() attr.Value {
	if p.used == len(p.params) {
		p.stop(errCount())
		return attr.Value{}
	}
	p.used++
	return p.params[p.used-1]
}

func (p *parser) number(text string) attr.Value {
	n, err := attr.ParseNumber(text)
	if err != nil {
		p.stop(err)
	}
	return attr.Num(n)
}

func (p *parser) values(end string) []attr.Value {
	list := []attr.Value{}
	if p.accept(end) {
		return list
	}
	for p.err == nil {
		list = append(list, p.value())
		if p.accept(end) {
			break
		}
		p.expect(",")
	}
	return list
}

// set makes a string or number set; the language has no other.
func (p *parser) set(members []attr.Value) attr.Value {
	if len(members) == 0 {
		p.fail()
		return attr.Value{}
	}
	out := attr.Value{Kind: attr.KindSS}
	if members[0].Kind == attr.KindN {
		out.Kind = attr.KindNS
	}
	for _, m := range members {
		switch {
		case m.Kind == attr.KindS && out.Kind == attr.KindSS:
			out.Strs = append(out.Strs, m.Str)
		case m.Kind == attr.KindN && out.Kind == attr.KindNS:
			out.Nums = append(out.Nums, m.Num)
		default:
			p.fail()
		}
	}
	return out.Union(attr.Value{})
}

// tuple reads 'name' : value pairs; the opening brace is behind it.
func (p *parser) tuple() attr.Value {
	out := attr.Value{Kind: attr.KindM, Map: attr.Item{}}
	if p.accept("}") {
		return out
	}
	for p.err == nil {
		name := p.next()
		if name.kind != tokString {
			p.unexpected(name)
		}
		p.expect(":")
		if _, twice := out.Map[name.text]; twice {
			p.stop(errorf("Statement wasn't well formed, can't be processed: attribute %s is given twice", name.text))
		}
		out.Map[name.text] = p.value()
		if p.accept("}") {
			break
		}
		p.expect(",")
	}
	return out
}
