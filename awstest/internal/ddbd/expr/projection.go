package expr

import (
	"maps"
	"slices"

	"github.com/claimonce/claimonce/awstest/internal/ddbd/attr"
)

// Projection picks parts of an item.
type Projection struct {
	paths []Path
	root  *pick
}

// pick is a tree of the paths wanted; a leaf takes all below it.
type pick struct {
	names   map[string]*pick
	indexes map[int]*pick
}

// Projection parses a ProjectionExpression.
func (p *Params) Projection(text string) (*Projection, error) {
	const parameter = "ProjectionExpression"
	ps, err := p.newParser(text)
	if err != nil {
		return nil, invalid(parameter, err)
	}
	paths := []Path{ps.path()}
	for ps.accept(",") {
		paths = append(paths, ps.path())
	}
	ps.note(rankPaths, checkPaths(paths))
	if err := ps.finish(); err != nil {
		return nil, invalid(parameter, err)
	}
	return Project(paths), nil
}

// Project makes a projection of paths that do not overlap.
func Project(paths []Path) *Projection {
	root := &pick{}
	for _, path := range paths {
		at := root
		for _, step := range path {
			at = at.child(step)
		}
	}
	return &Projection{paths: paths, root: root}
}

// Names lists the top-level attributes that the projection reads.
func (p *Projection) Names() []string {
	return slices.Sorted(maps.Keys(p.root.names))
}

func (p *pick) child(step Step) *pick {
	if step.Name != "" {
		if p.names == nil {
			p.names = map[string]*pick{}
		}
		if p.names[step.Name] == nil {
			p.names[step.Name] = &pick{}
		}
		return p.names[step.Name]
	}
	if p.indexes == nil {
		p.indexes = map[int]*pick{}
	}
	if p.indexes[step.Index] == nil {
		p.indexes[step.Index] = &pick{}
	}
	return p.indexes[step.Index]
}

// Apply returns the parts of item; nil projects everything.
func (p *Projection) Apply(item attr.Item) attr.Item {
	if p == nil || item == nil {
		return item
	}
	v := p.root.apply(attr.Value{Kind: attr.KindM, Map: item})
	if v.Map == nil {
		return attr.Item{}
	}
	return v.Map
}

// apply returns the zero value where nothing of v is wanted. List elements close ranks.
func (p *pick) apply(v attr.Value) attr.Value {
	switch {
	case p.names == nil && p.indexes == nil:
		return v
	case v.Kind == attr.KindM && p.names != nil:
		out := attr.Item{}
		for name, below := range p.names {
			if child := below.apply(v.Map[name]); child.Exists() {
				out[name] = child
			}
		}
		if len(out) > 0 {
			return attr.Value{Kind: attr.KindM, Map: out}
		}
	case v.Kind == attr.KindL && p.indexes != nil:
		var out []attr.Value
		for _, i := range slices.Sorted(maps.Keys(p.indexes)) {
			if i >= len(v.List) {
				break
			}
			if child := p.indexes[i].apply(v.List[i]); child.Exists() {
				out = append(out, child)
			}
		}
		if len(out) > 0 {
			return attr.Value{Kind: attr.KindL, List: out}
		}
	}
	return attr.Value{}
}
