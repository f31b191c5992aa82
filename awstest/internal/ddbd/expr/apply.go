package expr

import (
	"slices"

	"github.com/claimonce/claimonce/awstest/internal/ddbd/attr"
)

const (
	badPath    = "The document path provided in the update expression is invalid for update"
	badOperand = "An operand in the update expression has an incorrect data type"
	noSuchAttr = "The provided expression refers to an attribute that does not exist in the item"
)

func typeWord(k attr.Kind) string {
	switch k {
	case attr.KindS:
		return "STRING"
	case attr.KindN:
		return "NUMBER"
	case attr.KindB:
		return "BINARY"
	case attr.KindBOOL:
		return "BOOLEAN"
	case attr.KindL:
		return "LIST"
	case attr.KindM:
		return "MAP"
	default:
		return k.String()
	}
}

// Apply returns the item after the update; the given one stays as it is. Every right side
// sees the item as it was before.
func (u *Update) Apply(item attr.Item) (attr.Item, error) {
	type change struct {
		path Path
		edit editor
	}
	var grow, shrink []change
	for _, a := range u.Set {
		v, err := present(a.Value, item)
		if err != nil {
			return nil, err
		}
		grow = append(grow, change{a.Path, set(v.Clone())})
	}
	for _, a := range u.Add {
		grow = append(grow, change{a.Path, add(get(a.Value, item))})
	}
	for _, a := range u.Remove {
		shrink = append(shrink, change{a.Path, remove})
	}
	for _, a := range u.Delete {
		shrink = append(shrink, change{a.Path, subtract(get(a.Value, item))})
	}
	// Elements set beyond a list's end are appended in order of their index, and removals
	// go from the back, so that every index means the list as it was.
	slices.SortStableFunc(grow, func(a, b change) int { return a.path.compare(b.path) })
	slices.SortStableFunc(shrink, func(a, b change) int { return b.path.compare(a.path) })

	root := attr.Value{Kind: attr.KindM, Map: item.Clone()}
	if root.Map == nil {
		root.Map = attr.Item{}
	}
	for _, c := range slices.Concat(grow, shrink) {
		if err := edit(&root, c.path, c.edit); err != nil {
			return nil, err
		}
	}
	return root.Map, nil
}

// editor turns what stands at a path (the zero value for nothing) into what shall stand
// there (the zero value to remove it).
type editor func(attr.Value) (attr.Value, error)

func set(v attr.Value) editor {
	return func(attr.Value) (attr.Value, error) { return v, nil }
}

func remove(attr.Value) (attr.Value, error) { return attr.Value{}, nil }

func add(v attr.Value) editor {
	return func(old attr.Value) (attr.Value, error) {
		switch {
		case !old.Exists():
			return v.Clone(), nil
		case old.Kind != v.Kind:
			return old, errorf(badOperand)
		case v.Kind == attr.KindN:
			n, err := old.Num.Add(v.Num)
			return attr.Num(n), err
		default:
			return old.Union(v), nil
		}
	}
}

func subtract(v attr.Value) editor {
	return func(old attr.Value) (attr.Value, error) {
		if !old.Exists() {
			return old, nil
		}
		if old.Kind != v.Kind {
			return old, errorf(badOperand)
		}
		rest, ok := old.Minus(v)
		if !ok {
			return attr.Value{}, nil
		}
		return rest, nil
	}
}

// edit applies e at path below v, which the caller owns.
func edit(v *attr.Value, path Path, e editor) error {
	step, last := path[0], len(path) == 1
	if (step.Name != "") != (v.Kind == attr.KindM) || (step.Name == "" && v.Kind != attr.KindL) {
		return errorf(badPath)
	}
	var child attr.Value
	inList := step.Name == "" && step.Index < len(v.List)
	if inList {
		child = v.List[step.Index]
	} else if step.Name != "" {
		child = v.Map[step.Name]
	}
	var err error
	if last {
		child, err = e(child)
	} else if child.Exists() {
		err = edit(&child, path[1:], e)
	} else {
		err = errorf(badPath)
	}
	if err != nil {
		return err
	}
	put(v, step, inList, child)
	return nil
}

func put(v *attr.Value, step Step, inList bool, child attr.Value) {
	switch {
	case step.Name != "" && child.Exists():
		v.Map[step.Name] = child
	case step.Name != "":
		delete(v.Map, step.Name)
	case inList && child.Exists():
		v.List[step.Index] = child
	case inList:
		v.List = slices.Delete(v.List, step.Index, step.Index+1)
	case child.Exists():
		v.List = append(v.List, child)
	}
}
