package expr

import "github.com/claimonce/claimonce/awstest/internal/ddbd/attr"

// Operand is what a comparison or an assignment works on: a [Path], [Literal], [Size] or,
// in updates, an [Arithmetic], [IfNotExists] or [ListAppend]. The zero value means that
// the attribute is absent.
type Operand interface {
	Value(item attr.Item) (attr.Value, error)
}

// Condition is a parsed condition or filter.
type Condition interface {
	Eval(item attr.Item) bool
}

// Literal is a :value.
type Literal struct{ Val attr.Value }

// Value returns the literal whatever the item.
func (l Literal) Value(attr.Item) (attr.Value, error) { return l.Val, nil }

// Size is the size function.
type Size struct{ Of Operand }

// Value is absent where size does not apply, which makes the comparison false.
func (s Size) Value(item attr.Item) (attr.Value, error) {
	v, err := s.Of.Value(item)
	if n, ok := v.Length(); ok {
		return attr.Int(n), err
	}
	return attr.Value{}, err
}

type (
	// And is X AND Y.
	And struct{ X, Y Condition }
	// Or is X OR Y.
	Or struct{ X, Y Condition }
	// Not is NOT X.
	Not struct{ X Condition }
	// Compare is X Op Y with one of = <> < <= > >=.
	Compare struct {
		Op   string
		X, Y Operand
	}
	// Between is X BETWEEN Lo AND Hi, bounds included.
	Between struct{ X, Lo, Hi Operand }
	// In is X IN (List...).
	In struct {
		X    Operand
		List []Operand
	}
	// Function is a condition function, named as in the expression.
	Function struct {
		Name string
		Args []Operand
	}
)

// Eval implements [Condition].
func (c And) Eval(item attr.Item) bool { return c.X.Eval(item) && c.Y.Eval(item) }

// Eval implements [Condition].
func (c Or) Eval(item attr.Item) bool { return c.X.Eval(item) || c.Y.Eval(item) }

// Eval implements [Condition].
func (c Not) Eval(item attr.Item) bool { return !c.X.Eval(item) }

// Eval compares two operands. An absent operand makes every comparison false except <>,
// which is true; so do operands of different types.
func (c Compare) Eval(item attr.Item) bool {
	x, y := get(c.X, item), get(c.Y, item)
	equal := x.Exists() && y.Exists() && x.Equal(y)
	order, ok := x.Compare(y)
	switch c.Op {
	case "=":
		return equal
	case "<>":
		return !equal
	case "<":
		return ok && order < 0
	case "<=":
		return ok && order <= 0
	case ">":
		return ok && order > 0
	default:
		return ok && order >= 0
	}
}

// Eval implements [Condition].
func (c Between) Eval(item attr.Item) bool {
	x := get(c.X, item)
	lo, okLo := x.Compare(get(c.Lo, item))
	hi, okHi := x.Compare(get(c.Hi, item))
	return okLo && okHi && lo >= 0 && hi <= 0
}

// Eval implements [Condition].
func (c In) Eval(item attr.Item) bool {
	x := get(c.X, item)
	for _, o := range c.List {
		if x.Exists() && x.Equal(get(o, item)) {
			return true
		}
	}
	return false
}

// Eval implements [Condition].
func (c Function) Eval(item attr.Item) bool {
	x := get(c.Args[0], item)
	switch c.Name {
	case fnExists:
		return x.Exists()
	case fnNotExists:
		return !x.Exists()
	}
	y := get(c.Args[1], item)
	switch c.Name {
	case fnType:
		return x.Exists() && x.Kind.String() == y.Str
	case fnContains:
		return x.Contains(y)
	default:
		return beginsWith(x, y)
	}
}

func beginsWith(x, y attr.Value) bool {
	text := x.Kind == attr.KindS || x.Kind == attr.KindB
	return text && x.Kind == y.Kind && len(x.Str) >= len(y.Str) && x.Str[:len(y.Str)] == y.Str
}

// get evaluates an operand of a condition; those cannot fail.
func get(o Operand, item attr.Item) attr.Value {
	v, _ := o.Value(item)
	return v
}
