package expr

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/claimonce/claimonce/awstest/internal/ddbd/attr"
)

// Step is one element of a document path: a map's key, or a list's index where Name is
// empty.
type Step struct {
	Name  string
	Index int
}

// Path is a document path such as a.b[0].
type Path []Step

// Value looks the path up; the zero value when nothing is there.
func (p Path) Value(item attr.Item) (attr.Value, error) {
	v := attr.Value{Kind: attr.KindM, Map: item}
	for _, step := range p {
		switch {
		case step.Name != "" && v.Kind == attr.KindM:
			v = v.Map[step.Name]
		case step.Name == "" && v.Kind == attr.KindL && step.Index < len(v.List):
			v = v.List[step.Index]
		default:
			return attr.Value{}, nil
		}
	}
	return v, nil
}

// String writes the path as the service's messages do: [a, [0], b].
func (p Path) String() string {
	parts := make([]string, len(p))
	for i, step := range p {
		if parts[i] = step.Name; step.Name == "" {
			parts[i] = "[" + strconv.Itoa(step.Index) + "]"
		}
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

func (p Path) compare(o Path) int {
	return slices.CompareFunc(p, o, func(a, b Step) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), cmp.Compare(a.Index, b.Index))
	})
}

// checkPaths refuses paths of one expression of which one contains the other, or which
// disagree on whether an attribute is a map or a list.
func checkPaths(paths []Path) error {
	for i, a := range paths {
		for _, b := range paths[:i] {
			if word := a.clash(b); word != "" {
				return errorf("Two document paths %s with each other; must remove or rewrite one of these paths; "+
					"path one: %s, path two: %s", word, b, a)
			}
		}
	}
	return nil
}

func (p Path) clash(o Path) string {
	for i := range min(len(p), len(o)) {
		switch {
		case (p[i].Name == "") != (o[i].Name == ""):
			return "conflict"
		case p[i] != o[i]:
			return ""
		}
	}
	return "overlap"
}
