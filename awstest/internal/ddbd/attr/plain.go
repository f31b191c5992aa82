package attr

import "encoding/json"

// Plain is the value in Go's own types: string, [json.Number], []byte, bool, nil, []string, []json.Number, [][]byte, []any and
// map[string]any.
func (v Value) Plain() any {
	switch v.Kind {
	case KindS:
		return v.Str
	case KindN:
		return json.Number(v.Num.String())
	case KindB:
		return []byte(v.Str)
	case KindBOOL:
		return v.Bool
	case KindSS:
		return append([]string{}, v.Strs...)
	case KindNS:
		return each(v.Nums, func(n Number) json.Number { return json.Number(n.String()) })
	case KindBS:
		return each(v.Strs, func(s string) []byte { return []byte(s) })
	case KindL:
		return each(v.List, Value.Plain)
	case KindM:
		return v.Map.Plain()
	default:
		return nil
	}
}

// Plain is the item in Go's own types; what is done to it does not reach the item.
func (i Item) Plain() map[string]any {
	out := make(map[string]any, len(i))
	for name, v := range i {
		out[name] = v.Plain()
	}
	return out
}

func each[X, Y any](list []X, f func(X) Y) []Y {
	out := make([]Y, len(list))
	for i, x := range list {
		out[i] = f(x)
	}
	return out
}
