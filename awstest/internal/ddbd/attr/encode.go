package attr

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"maps"
	"slices"
)

// MarshalJSON writes the wire form.
func (v Value) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	v.write(&b)
	return b.Bytes(), nil
}

// MarshalJSON writes the item with its attributes in order of name.
func (i Item) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	i.write(&b)
	return b.Bytes(), nil
}

func (i Item) write(b *bytes.Buffer) {
	b.WriteByte('{')
	for n, name := range slices.Sorted(maps.Keys(i)) {
		if n > 0 {
			b.WriteByte(',')
		}
		writeString(b, name)
		b.WriteByte(':')
		i[name].write(b)
	}
	b.WriteByte('}')
}

func (v Value) write(b *bytes.Buffer) {
	b.WriteString(`{"` + v.Kind.String() + `":`)
	switch v.Kind {
	case KindN:
		writeString(b, v.Num.String())
	case KindB:
		writeString(b, base64.StdEncoding.EncodeToString([]byte(v.Str)))
	case KindBOOL:
		b.WriteString(map[bool]string{true: "true", false: "false"}[v.Bool])
	case KindNULL:
		b.WriteString("true")
	case KindSS, KindBS, KindNS, KindL:
		v.writeMembers(b)
	case KindM:
		v.Map.write(b)
	default:
		writeString(b, v.Str)
	}
	b.WriteByte('}')
}

func (v Value) writeMembers(b *bytes.Buffer) {
	b.WriteByte('[')
	sep := func(i int) {
		if i > 0 {
			b.WriteByte(',')
		}
	}
	for i, s := range v.Strs {
		sep(i)
		if v.Kind == KindBS {
			s = base64.StdEncoding.EncodeToString([]byte(s))
		}
		writeString(b, s)
	}
	for i, n := range v.Nums {
		sep(i)
		writeString(b, n.String())
	}
	for i, e := range v.List {
		sep(i)
		e.write(b)
	}
	b.WriteByte(']')
}

func writeString(b *bytes.Buffer, s string) {
	plain := true
	for i := range len(s) {
		c := s[i]
		plain = plain && c >= ' ' && c < 0x7f && c != '"' && c != '\\'
	}
	if plain {
		b.WriteByte('"')
		b.WriteString(s)
		b.WriteByte('"')
		return
	}
	quoted, _ := json.Marshal(s) // a string always marshals
	b.Write(quoted)
}
