package fingerprint

import (
	"fmt"
	"slices"
	"strings"
)

const wildcard = "*"

// node is one step of the pointers in Volatile, merged into a tree.
type node struct {
	drop     bool // a pointer ends here
	children map[string]*node
}

// insert adds a pointer to the tree n, which may be nil, and returns the tree.
func (n *node) insert(tokens []string) *node {
	if n == nil {
		n = &node{children: map[string]*node{}}
	}
	if len(tokens) == 0 {
		n.drop = true
	} else {
		n.children[tokens[0]] = n.children[tokens[0]].insert(tokens[1:])
	}
	return n
}

// place is where the parser stands, as far as the pointers are concerned.
type place struct {
	volatile []*node  // pointers that lead here; several, because * and a name can both match
	selected []string // what is left of Select
	onPath   bool     // Select leads here
}

func (p place) idle() bool { return len(p.volatile) == 0 && !p.onPath }

// enter returns the place of a member or element, and whether it is left out.
func (p place) enter(token []byte) (place, bool) {
	var inner place
	for _, n := range p.volatile {
		named := n.children[string(token)]
		every := n.children[wildcard]
		if named == every {
			every = nil // a member that is really named *
		}
		for _, next := range [...]*node{named, every} {
			switch {
			case next == nil:
			case next.drop:
				return place{}, true
			default:
				inner.volatile = append(inner.volatile, next)
			}
		}
	}
	if p.onPath && len(p.selected) > 0 && p.selected[0] == string(token) {
		inner.onPath, inner.selected = true, p.selected[1:]
	}
	return inner, false
}

func parseSelect(pointer string) ([]string, error) {
	tokens, err := parsePointer(pointer)
	if err == nil && slices.Contains(tokens, wildcard) {
		err = fmt.Errorf("is %q; * would match several parts, name one", pointer)
	}
	return tokens, err
}

// parseVolatile also refuses what can only be a mistake: what would leave out
// everything, and what lies outside the part that counts.
func parseVolatile(pointer string, selected []string) ([]string, error) {
	tokens, err := parsePointer(pointer)
	if err != nil {
		return nil, err
	}
	for i := range min(len(tokens), len(selected)) {
		if tokens[i] != wildcard && tokens[i] != selected[i] {
			return nil, fmt.Errorf("is %q, outside the part that Select picks; start at the root of the body", pointer)
		}
	}
	inner := tokens[min(len(tokens), len(selected)):]
	if len(inner) == 0 || len(inner) == 1 && inner[0] == wildcard {
		return nil, fmt.Errorf("is %q and would leave out everything", pointer)
	}
	return tokens, nil
}

// parsePointer reads RFC 6901, section 3. Every pointer has one spelling only,
// so pointers can be compared as text.
func parsePointer(pointer string) ([]string, error) {
	if pointer == "" {
		return nil, nil
	}
	if pointer[0] != '/' {
		return nil, fmt.Errorf("is %q; a JSON Pointer starts with a slash, as in /meta/sent_at", pointer)
	}
	tokens := strings.Split(pointer[1:], "/")
	for i, token := range tokens {
		tildes := strings.Count(token, "~0") + strings.Count(token, "~1")
		if strings.Count(token, "~") != tildes {
			return nil, fmt.Errorf("is %q; in a JSON Pointer a tilde is written ~0, and a slash in a name ~1", pointer)
		}
		tokens[i] = strings.NewReplacer("~1", "/", "~0", "~").Replace(token)
	}
	return tokens, nil
}
