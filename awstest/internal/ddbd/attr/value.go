package attr

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Error is a ValidationException's message.
type Error struct{ Message string }

// Error returns the message alone: clients see it word for word.
func (e *Error) Error() string { return e.Message }

func errorf(format string, args ...any) error {
	return &Error{Message: fmt.Sprintf(format, args...)}
}

// Kind is an attribute's type.
type Kind uint8

// The ten types. KindNone is that of the zero Value.
const (
	KindNone Kind = iota
	KindS
	KindN
	KindB
	KindBOOL
	KindNULL
	KindSS
	KindNS
	KindBS
	KindL
	KindM
)

// String returns the name used on the wire, such as "S".
func (k Kind) String() string {
	names := [...]string{"", "S", "N", "B", "BOOL", "NULL", "SS", "NS", "BS", "L", "M"}
	if int(k) >= len(names) {
		return ""
	}
	return names[k]
}

// KindOf is the inverse of [Kind.String]; KindNone for an unknown name.
func KindOf(name string) Kind {
	for k := KindS; k <= KindM; k++ {
		if k.String() == name {
			return k
		}
	}
	return KindNone
}

// Value is one attribute value. Only the fields of its kind are set. The zero Value is
// no value at all (an absent attribute).
type Value struct {
	Kind Kind
	Str  string   // S, and the raw bytes of B
	Num  Number   // N
	Bool bool     // BOOL
	Strs []string // SS, and the raw bytes of BS; sorted
	Nums []Number // NS; sorted
	List []Value  // L
	Map  Item     // M
}

// Item is a record: attribute names to values.
type Item map[string]Value

// String makes a string value.
func String(s string) Value { return Value{Kind: KindS, Str: s} }

// Num makes a number value.
func Num(n Number) Value { return Value{Kind: KindN, Num: n} }

// Int makes a number value from a count; every int fits.
func Int(i int) Value {
	n, _ := ParseNumber(strconv.Itoa(i))
	return Num(n)
}

// Exists reports whether v is a value.
func (v Value) Exists() bool { return v.Kind != KindNone }

// IsSet reports whether v is of one of the three set types.
func (v Value) IsSet() bool { return v.Kind == KindSS || v.Kind == KindNS || v.Kind == KindBS }

// Equal compares type and content; sets compare without order.
func (v Value) Equal(o Value) bool {
	if v.Kind != o.Kind {
		return false
	}
	switch v.Kind {
	case KindL:
		return slices.EqualFunc(v.List, o.List, Value.Equal)
	case KindM:
		return v.Map.Equal(o.Map)
	case KindNS:
		return slices.Equal(v.Nums, o.Nums)
	default:
		return v.Str == o.Str && v.Num == o.Num && v.Bool == o.Bool && slices.Equal(v.Strs, o.Strs)
	}
}

// Equal compares two items attribute by attribute.
func (i Item) Equal(o Item) bool {
	if len(i) != len(o) {
		return false
	}
	for name, v := range i {
		w, ok := o[name]
		if !ok || !v.Equal(w) {
			return false
		}
	}
	return true
}

// Compare orders two values of one scalar type (S, N, B). ok is false for anything else,
// which comparisons answer with false rather than with an error.
func (v Value) Compare(o Value) (c int, ok bool) {
	if v.Kind != o.Kind {
		return 0, false
	}
	switch v.Kind {
	case KindS, KindB:
		return strings.Compare(v.Str, o.Str), true
	case KindN:
		return v.Num.Cmp(o.Num), true
	default:
		return 0, false
	}
}

// Contains is the contains function: a substring, or an element of a set or list.
func (v Value) Contains(o Value) bool {
	switch {
	case v.Kind == KindL:
		return slices.ContainsFunc(v.List, o.Equal)
	case v.Kind == KindNS && o.Kind == KindN:
		return slices.Contains(v.Nums, o.Num)
	case v.Kind == KindSS && o.Kind == KindS, v.Kind == KindBS && o.Kind == KindB:
		return slices.Contains(v.Strs, o.Str)
	case v.Kind == o.Kind && (v.Kind == KindS || v.Kind == KindB):
		return strings.Contains(v.Str, o.Str)
	default:
		return false
	}
}

// Clone copies v so deeply that changing the copy leaves v alone.
func (v Value) Clone() Value {
	if v.List != nil {
		list := make([]Value, len(v.List))
		for i, e := range v.List {
			list[i] = e.Clone()
		}
		v.List = list
	}
	v.Map = v.Map.Clone()
	v.Strs, v.Nums = slices.Clone(v.Strs), slices.Clone(v.Nums)
	return v
}

// Clone copies i deeply; nil stays nil.
func (i Item) Clone() Item {
	if i == nil {
		return nil
	}
	c := make(Item, len(i))
	for name, v := range i {
		c[name] = v.Clone()
	}
	return c
}

// SortKey encodes a key value (S, N, B) so that byte order is key order.
func (v Value) SortKey() string {
	if v.Kind == KindN {
		return v.Num.sortKey()
	}
	return v.Str
}
