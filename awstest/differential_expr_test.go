//go:build integration

package awstest_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

func str(s string) datum { return &types.AttributeValueMemberS{Value: s} }

func num(n any) datum { return &types.AttributeValueMemberN{Value: fmt.Sprint(n)} }

func (w *tableWalk) key() fields {
	return fields{"pk": str(choose(w.pair, []string{"a", "b", "c"})), "sk": num(w.IntN(4))}
}

// item has some of the attributes that conditions and updates are about.
func (w *tableWalk) item() fields {
	it := w.key()
	numbers := []string{"0", "1", "5", "-3", "0.25", "9007199254740993", "12345678901234567890123456789012345678"}
	if w.known.leavesOut("38-digits") {
		numbers = numbers[:6]
	}
	for _, a := range []struct {
		name string
		v    datum
	}{
		{"n", num(choose(w.pair, numbers))},
		{"s", str(choose(w.pair, []string{"", "x", "xy", "z", "ü"}))},
		{"l", &types.AttributeValueMemberL{Value: []datum{num(1), str("e")}}},
		{"m", &types.AttributeValueMemberM{Value: fields{"a": num(w.IntN(3))}}},
		{"t", &types.AttributeValueMemberSS{Value: []string{"p", "q"}}},
		{"y", &types.AttributeValueMemberBOOL{Value: true}},
	} {
		if w.IntN(3) > 0 {
			it[a.name] = a.v
		}
	}
	return it
}

// condition is none in one of four cases, else one or two terms.
func (w *tableWalk) condition() (*string, map[string]string, fields) {
	if w.IntN(4) == 0 {
		return nil, nil, nil
	}
	terms := []string{w.term()}
	for w.IntN(3) == 0 {
		terms = append(terms, choose(w.pair, []string{"AND", "OR", "AND NOT"}), w.term())
	}
	expression := strings.Join(terms, " ")
	all := fields{
		":zero": num(0), ":one": num(1), ":big": num("9007199254740993"), ":x": str("x"), ":p": str("p"), ":type": str("S"),
		":list": &types.AttributeValueMemberL{Value: []datum{num(1), str("e")}}, ":yes": &types.AttributeValueMemberBOOL{Value: true},
	}
	given := fields{}
	for name, v := range all {
		if slices.Contains(strings.FieldsFunc(expression, func(r rune) bool { return strings.ContainsRune(" (),", r) }), name) {
			given[name] = v
		}
	}
	if len(given) == 0 {
		given = nil
	}
	return &expression, nil, given
}

func (w *tableWalk) term() string {
	terms := []string{
		"attribute_exists(pk)", "attribute_not_exists(pk)", "attribute_not_exists(n)", "attribute_exists(m.a)", "attribute_type(s, :type)",
		"n = :one", "n <> :one", "n < :one", "n <= :zero", "n > :big", "n >= :big", "n BETWEEN :zero AND :big", "n IN (:zero, :one)",
		"s = :x", "s > :x", "begins_with(s, :x)", "contains(s, :x)", "contains(t, :p)", "contains(l, :one)", "size(s) > :one", "size(l) > :one",
		"l = :list", "l[0] = :one", "m.a = :one", "y = :yes", "s = n", "(n = :one OR s = :x)",
	}
	for {
		if term := choose(w.pair, terms); !w.known.leavesOut(term) {
			return term
		}
	}
}

// change is an update expression with up to three actions on different attributes.
func (w *tableWalk) change() (string, map[string]string, fields) {
	given := fields{}
	sections := map[string][]string{}
	attributes := []string{"n", "s", "l", "m", "t", "o"}
	w.Shuffle(len(attributes), func(i, j int) { attributes[i], attributes[j] = attributes[j], attributes[i] })
	for _, a := range attributes[:1+w.IntN(3)] {
		section, action := w.action(a, given)
		sections[section] = append(sections[section], action)
	}
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(sections)) {
		parts = append(parts, name+" "+strings.Join(sections[name], ", "))
	}
	return strings.Join(parts, " "), map[string]string{}, given
}

func (w *tableWalk) action(attribute string, given fields) (section, action string) {
	use := func(name string, v datum) string {
		given[name] = v
		return name
	}
	switch attribute {
	case "n":
		switch w.IntN(4) {
		case 0:
			return "ADD", "n " + use(":add", num(w.IntN(5)-2))
		case 1:
			return "SET", "n = n + " + use(":plus", num("0.5"))
		case 2:
			return "SET", "n = if_not_exists(n, " + use(":default", num(7)) + ") - " + use(":minus", num(2))
		}
		return "REMOVE", "n"
	case "s":
		return "SET", "s = " + use(":text", str(choose(w.pair, []string{"", "x", "new"})))
	case "l":
		switch w.IntN(3) {
		case 0:
			return "SET", "l = list_append(if_not_exists(l, " + use(":empty", &types.AttributeValueMemberL{Value: []datum{}}) + "), " + use(":more", &types.AttributeValueMemberL{Value: []datum{str("f")}}) + ")"
		case 1:
			return "SET", "l[1] = " + use(":element", num(3))
		}
		return "REMOVE", "l[0]"
	case "m":
		if w.IntN(2) == 0 {
			return "SET", "m.b = " + use(":in", num(4))
		}
		return "REMOVE", "m.a"
	case "t":
		member := &types.AttributeValueMemberSS{Value: []string{choose(w.pair, []string{"p", "q", "r"})}}
		return choose(w.pair, []string{"ADD", "DELETE"}), "t " + use(":member", member)
	default:
		return "SET", "o = s"
	}
}

// written is an item on one line, names and members of sets in order. No item is as good as an empty one.
func written(it fields) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(it)) {
		parts = append(parts, name+":"+writtenDatum(it[name]))
	}
	return "{" + strings.Join(parts, " ") + "}"
}

func writtenDatum(v datum) string {
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		return fmt.Sprintf("%q", v.Value)
	case *types.AttributeValueMemberN:
		return v.Value
	case *types.AttributeValueMemberBOOL:
		return fmt.Sprint(v.Value)
	case *types.AttributeValueMemberSS:
		return "set" + sorted(slices.Clone(v.Value))
	case *types.AttributeValueMemberM:
		return written(v.Value)
	case *types.AttributeValueMemberL:
		var parts []string
		for _, e := range v.Value {
			parts = append(parts, writtenDatum(e))
		}
		return "[" + strings.Join(parts, " ") + "]"
	default:
		return fmt.Sprintf("%T", v)
	}
}
