package attr

import (
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"
)

// UnmarshalJSON reads the wire form, such as {"S":"text"}. What the service would refuse
// comes back as an [*Error] with the service's words; other errors mean bad JSON types.
func (v *Value) UnmarshalJSON(b []byte) error { return v.read(b, 0) }

// read decodes a value inside depth lists and maps. Depth is bounded while reading, since
// every level is scanned anew and a hostile nesting would cost the square of its size.
func (v *Value) read(b []byte, depth int) error {
	var raw map[string]json.RawMessage
	if err := json.Unmarshal(b, &raw); err != nil {
		return err
	}
	kind := KindNone
	for name := range raw {
		k := KindOf(name)
		if k == KindNone {
			continue
		}
		if kind != KindNone {
			return errorf("Supplied AttributeValue has more than one datatypes set, must contain exactly one of the supported datatypes")
		}
		kind = k
	}
	if kind == KindNone {
		return errorf("Supplied AttributeValue is empty, must contain exactly one of the supported datatypes")
	}
	*v = Value{Kind: kind}
	switch {
	case kind != KindL && kind != KindM:
		return v.decode(raw[kind.String()])
	case depth == MaxDepth:
		return tooDeep()
	case kind == KindL:
		return v.readList(raw["L"], depth+1)
	default:
		return v.readMap(raw["M"], depth+1)
	}
}

func (v *Value) readList(b []byte, depth int) error {
	var raw []json.RawMessage
	if err := json.Unmarshal(b, &raw); err != nil {
		return err
	}
	v.List = make([]Value, len(raw))
	for i := range raw {
		if err := v.List[i].read(raw[i], depth); err != nil {
			return err
		}
	}
	return nil
}

func (v *Value) readMap(b []byte, depth int) error {
	var raw map[string]json.RawMessage
	if err := json.Unmarshal(b, &raw); err != nil {
		return err
	}
	v.Map = make(Item, len(raw))
	for name, one := range raw {
		var e Value
		if err := e.read(one, depth); err != nil {
			return err
		}
		v.Map[name] = e
	}
	return nil
}

func (v *Value) decode(raw []byte) error {
	switch v.Kind {
	case KindS:
		return json.Unmarshal(raw, &v.Str)
	case KindN:
		return v.decodeNumber(raw)
	case KindB:
		b, err := decodeBytes(raw)
		v.Str = b
		return err
	case KindBOOL:
		return json.Unmarshal(raw, &v.Bool)
	case KindNULL:
		return decodeNull(raw)
	default:
		return v.decodeSet(raw)
	}
}

func (v *Value) decodeNumber(raw []byte) (err error) {
	var s string
	if err = json.Unmarshal(raw, &s); err == nil {
		v.Num, err = ParseNumber(s)
	}
	return err
}

func decodeBytes(raw []byte) (string, error) {
	var s string
	if err := json.Unmarshal(raw, &s); err != nil {
		return "", err
	}
	b, err := base64.StdEncoding.DecodeString(s)
	return string(b), err
}

func decodeNull(raw []byte) error {
	var yes bool
	if err := json.Unmarshal(raw, &yes); err != nil {
		return err
	}
	if !yes {
		return errorf("One or more parameter values were invalid: Null attribute value types must have the value of true")
	}
	return nil
}

func (v *Value) decodeSet(raw []byte) error {
	var members []json.RawMessage
	if err := json.Unmarshal(raw, &members); err != nil {
		return err
	}
	if len(members) == 0 {
		return emptySet(v.Kind)
	}
	for _, m := range members {
		e := Value{Kind: KindS}
		switch v.Kind {
		case KindNS:
			e.Kind = KindN
		case KindBS:
			e.Kind = KindB
		}
		if err := e.decode(m); err != nil {
			return err
		}
		if v.Kind == KindNS {
			v.Nums = append(v.Nums, e.Num)
		} else {
			v.Strs = append(v.Strs, e.Str)
		}
	}
	if !v.normaliseSet() {
		return v.duplicates(members)
	}
	return nil
}

// normaliseSet sorts the members and reports whether they are all different.
func (v *Value) normaliseSet() bool {
	slices.Sort(v.Strs)
	slices.SortFunc(v.Nums, Number.Cmp)
	n := len(v.Strs) + len(v.Nums)
	v.Strs, v.Nums = slices.Compact(v.Strs), slices.Compact(v.Nums)
	return len(v.Strs)+len(v.Nums) == n
}

func emptySet(k Kind) error {
	switch k {
	case KindSS:
		return errorf("One or more parameter values were invalid: An string set  may not be empty")
	case KindNS:
		return errorf("One or more parameter values were invalid: An number set  may not be empty")
	default:
		return errorf("One or more parameter values were invalid: Binary sets should not be empty")
	}
}

func (v *Value) duplicates(members []json.RawMessage) error {
	if v.Kind == KindNS {
		return errorf("Input collection contains duplicates")
	}
	shown := make([]string, len(members))
	for i, m := range members {
		shown[i] = strings.Trim(string(m), `"`)
	}
	list := "[" + strings.Join(shown, ", ") + "]"
	if v.Kind == KindBS {
		return errorf("One or more parameter values were invalid: Input collection %sof type BS contains duplicates.", list)
	}
	return errorf("One or more parameter values were invalid: Input collection %s contains duplicates.", list)
}
