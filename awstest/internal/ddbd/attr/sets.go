package attr

import "slices"

// Union returns the set v with the members of o added; both are sets of one type.
func (v Value) Union(o Value) Value {
	u := Value{
		Kind: v.Kind,
		Strs: slices.Concat(v.Strs, o.Strs),
		Nums: slices.Concat(v.Nums, o.Nums),
	}
	u.normaliseSet()
	return u
}

// Minus returns the set v without the members of o; ok is false when nothing is left,
// since an empty set cannot be stored.
func (v Value) Minus(o Value) (rest Value, ok bool) {
	rest = v.Clone()
	rest.Strs = slices.DeleteFunc(rest.Strs, func(s string) bool { return slices.Contains(o.Strs, s) })
	rest.Nums = slices.DeleteFunc(rest.Nums, func(n Number) bool { return slices.Contains(o.Nums, n) })
	return rest, len(rest.Strs)+len(rest.Nums) > 0
}
