package expr

import (
	"encoding/json"
	"slices"

	"github.com/claimonce/claimonce/awstest/internal/ddbd/attr"
)

// Names of the condition functions.
const (
	fnExists     = "attribute_exists"
	fnNotExists  = "attribute_not_exists"
	fnType       = "attribute_type"
	fnBeginsWith = "begins_with"
	fnContains   = "contains"
	fnSize       = "size"
)

// Names of the update functions.
const (
	fnIfNotExists = "if_not_exists"
	fnListAppend  = "list_append"
)

func conditionFunction(name string) bool {
	return slices.Contains([]string{fnExists, fnNotExists, fnType, fnBeginsWith, fnContains, fnSize}, name)
}

func updateFunction(name string) bool { return name == fnIfNotExists || name == fnListAppend }

// checkFunction notes what is wrong with a call; false means it cannot be built.
func (p *parser) checkFunction(name string, args []Operand) bool {
	want := 2
	switch {
	case name == fnExists || name == fnNotExists || name == fnSize:
		want = 1
	case updateFunction(name):
		p.note(rankMisuse, errorf("The function is not allowed in a condition expression; function: %s", name))
		return false
	case !conditionFunction(name):
		p.note(rankFunction, errorf("Invalid function name; function: %s", name))
		return false
	}
	if len(args) != want {
		p.note(rankOperands, operandCount(name, len(args)))
		return false
	}
	if want == 2 {
		p.checkDistinct(name, args[0], args[1])
	}
	p.checkArguments(name, args)
	return true
}

func operandCount(name string, n int) error {
	return errorf("Incorrect number of operands for operator or function; operator or function: %s, number of operands: %d", name, n)
}

func (p *parser) checkArguments(name string, args []Operand) {
	switch name {
	case fnExists, fnNotExists:
		if _, ok := args[0].(Path); !ok {
			p.note(rankTypes, requiresPath(name))
		}
	case fnBeginsWith:
		for _, arg := range args {
			if k := staticKind(arg); k != attr.KindNone && k != attr.KindS && k != attr.KindB {
				p.note(rankTypes, wrongType(name, k.String()))
			}
		}
	case fnSize:
		switch k := staticKind(args[0]); k {
		case attr.KindN, attr.KindBOOL, attr.KindNULL:
			p.note(rankTypes, wrongType(name, k.String()))
		}
	case fnType:
		p.checkTypeName(args[1])
	}
}

func (p *parser) checkTypeName(arg Operand) {
	l, ok := arg.(Literal)
	switch {
	case !ok:
		p.note(rankTypes, wrongType(fnType, "{NS,SS,L,BS,N,M,B,BOOL,NULL,S}"))
	case l.Val.Exists() && l.Val.Kind != attr.KindS:
		p.note(rankTypes, wrongType(fnType, l.Val.Kind.String()))
	case l.Val.Exists() && attr.KindOf(l.Val.Str) == attr.KindNone:
		p.note(rankTypes, errorf("Invalid attribute type name found; type: %s, valid types: {B,NULL,SS,BOOL,L,BS,N,NS,S,M}", l.Val.Str))
	}
}

func requiresPath(name string) error {
	return errorf("Operator or function requires a document path; operator or function: %s", name)
}

func wrongType(name, kind string) error {
	return errorf("Incorrect operand type for operator or function; operator or function: %s, operand type: %s", name, kind)
}

// staticKind is an operand's type where it is known without an item.
func staticKind(o Operand) attr.Kind {
	switch o := o.(type) {
	case Literal:
		return o.Val.Kind
	case Size, Arithmetic:
		return attr.KindN
	case ListAppend:
		return attr.KindL
	default:
		return attr.KindNone
	}
}

// checkOrdered refuses literals of types that have no order.
func (p *parser) checkOrdered(op string, operands ...Operand) {
	for _, o := range operands {
		switch k := staticKind(o); k {
		case attr.KindNone, attr.KindS, attr.KindN, attr.KindB:
		default:
			p.note(rankTypes, errorf("Incorrect operand type for operator or function; operator: %s, operand type: %s", op, k))
		}
	}
}

func (p *parser) checkDistinct(op string, x, y Operand) {
	a, okA := x.(Path)
	b, okB := y.(Path)
	if okA && okB && p.err == nil && slices.Equal(a, b) {
		p.note(rankDistinct, errorf("The first operand must be distinct from the remaining operands for this operator or function; "+
			"operator: %s, first operand: %s", op, a))
	}
}

func (p *parser) checkBounds(lo, hi Operand) {
	a, okA := lo.(Literal)
	b, okB := hi.(Literal)
	if !okA || !okB || !a.Val.Exists() || !b.Val.Exists() {
		return
	}
	problem := ""
	if a.Val.Kind != b.Val.Kind {
		problem = "same data type for lower and upper bounds"
	} else if order, ok := a.Val.Compare(b.Val); ok && order > 0 {
		problem = "upper bound to be greater than or equal to lower bound"
	}
	if problem != "" {
		p.note(rankTypes, errorf("The BETWEEN operator requires %s; lower bound operand: AttributeValue: %s, upper bound operand: AttributeValue: %s",
			problem, shown(a.Val), shown(b.Val)))
	}
}

// shown writes a value as messages do: {S:text}.
func shown(v attr.Value) string {
	b, _ := json.Marshal(v) // a value always marshals
	out := make([]byte, 0, len(b))
	for _, c := range b {
		if c != '"' {
			out = append(out, c)
		}
	}
	return string(out)
}
