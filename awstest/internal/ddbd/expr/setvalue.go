package expr

import (
	"slices"

	"github.com/claimonce/claimonce/awstest/internal/ddbd/attr"
)

// Arithmetic is X + Y or X - Y in SET.
type Arithmetic struct {
	Minus bool
	X, Y  Operand
}

// Value computes exactly, within 38 digits.
func (a Arithmetic) Value(item attr.Item) (attr.Value, error) {
	x, err := typed(a.X, item, attr.KindN)
	if err != nil {
		return x, err
	}
	y, err := typed(a.Y, item, attr.KindN)
	if err != nil {
		return y, err
	}
	op := attr.Number.Add
	if a.Minus {
		op = attr.Number.Sub
	}
	n, err := op(x.Num, y.Num)
	return attr.Num(n), err
}

// IfNotExists is if_not_exists(Path, Else).
type IfNotExists struct {
	Path Path
	Else Operand
}

// Value is the attribute's, or that of Else where it is absent.
func (f IfNotExists) Value(item attr.Item) (attr.Value, error) {
	if v, _ := f.Path.Value(item); v.Exists() {
		return v, nil
	}
	return f.Else.Value(item)
}

// ListAppend is list_append(X, Y).
type ListAppend struct{ X, Y Operand }

// Value is a list of both lists' elements.
func (f ListAppend) Value(item attr.Item) (attr.Value, error) {
	x, err := typed(f.X, item, attr.KindL)
	if err != nil {
		return x, err
	}
	y, err := typed(f.Y, item, attr.KindL)
	return attr.Value{Kind: attr.KindL, List: slices.Concat(x.List, y.List)}, err
}

// present evaluates an operand that must have a value.
func present(o Operand, item attr.Item) (attr.Value, error) {
	v, err := o.Value(item)
	if err == nil && !v.Exists() {
		err = errorf(noSuchAttr)
	}
	return v, err
}

func typed(o Operand, item attr.Item, kind attr.Kind) (attr.Value, error) {
	v, err := present(o, item)
	if err == nil && v.Kind != kind {
		err = errorf(badOperand)
	}
	return v, err
}
