package expr

import (
	"strings"

	"github.com/claimonce/claimonce/awstest/internal/ddbd/attr"
)

// KeyAttr is one attribute of the key that a query may use. An empty name means that
// there is no sort key.
type KeyAttr struct {
	Name string
	Kind attr.Kind
}

// KeyCondition is a parsed KeyConditionExpression.
type KeyCondition struct {
	Hash attr.Value
	Sort *SortCondition // nil takes the whole partition
}

// SortCondition restricts the sort key: Op is = < <= > >= BETWEEN or begins_with, with two
// values for BETWEEN and one for the others.
type SortCondition struct {
	Op     string
	Values []attr.Value
}

// Match tests an encoded sort key. The keys that match are neighbours in key order.
func (c *SortCondition) Match(key string) bool {
	if c == nil {
		return true
	}
	v := c.Values[0].SortKey()
	switch c.Op {
	case "=":
		return key == v
	case "<":
		return key < v
	case "<=":
		return key <= v
	case ">":
		return key > v
	case ">=":
		return key >= v
	case "BETWEEN":
		return key >= v && key <= c.Values[1].SortKey()
	default:
		return strings.HasPrefix(key, v)
	}
}

// Low is the lowest encoded sort key that can match.
func (c *SortCondition) Low() string {
	if c == nil || c.Op[0] == '<' {
		return ""
	}
	return c.Values[0].SortKey()
}

// High is the highest encoded sort key that can match; ok is false where there is no
// upper bound.
func (c *SortCondition) High() (high string, ok bool) {
	switch {
	case c == nil || c.Op[0] == '>' || c.Op == fnBeginsWith:
		return "", false
	case c.Op == "BETWEEN":
		return c.Values[1].SortKey(), true
	default:
		return c.Values[0].SortKey(), true
	}
}

// keyTerm is one comparison of a key condition, attribute first.
type keyTerm struct {
	name string
	SortCondition
}

// KeyCondition parses a KeyConditionExpression for a key.
func (p *Params) KeyCondition(text string, hash, sort KeyAttr) (KeyCondition, error) {
	var k KeyCondition
	cond, err := p.Condition("KeyConditionExpression", text)
	if err != nil {
		return k, err
	}
	terms, err := keyTerms(cond, nil)
	if err != nil {
		return k, err
	}
	if len(terms) > 2 {
		return k, errorf("Conditions can be of length 1 or 2 only")
	}
	byName := map[string]keyTerm{}
	for _, t := range terms {
		if _, twice := byName[t.name]; twice {
			return k, errorf("KeyConditionExpressions must only contain one condition per key")
		}
		byName[t.name] = t
	}
	h, ok := byName[hash.Name]
	switch {
	case !ok:
		return k, errorf("Query condition missed key schema element: %s", hash.Name)
	case h.Op != "=":
		return k, errorf("Query key condition not supported")
	}
	if err := h.checkKind(hash.Kind); err != nil {
		return k, err
	}
	k.Hash = h.Values[0]
	if len(terms) == 1 {
		return k, nil
	}
	t, ok := byName[sort.Name]
	if !ok || sort.Name == "" {
		if sort.Name == "" {
			return k, errorf("Query key condition not supported")
		}
		return k, errorf("Query condition missed key schema element: %s", sort.Name)
	}
	k.Sort = &t.SortCondition
	return k, t.checkKind(sort.Kind)
}

func (t keyTerm) checkKind(kind attr.Kind) error {
	for _, v := range t.Values {
		if v.Kind != kind {
			return errorf("One or more parameter values were invalid: Condition parameter type does not match schema type")
		}
		if v.Kind != attr.KindN && v.Str == "" && t.Op != fnBeginsWith {
			return errorf("One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an empty %s value. Key: %s",
				strings.ToLower(typeWord(v.Kind)), t.name)
		}
	}
	if t.Op == fnBeginsWith && kind == attr.KindN {
		return errorf("Invalid KeyConditionExpression: %s", wrongType(fnBeginsWith, "N"))
	}
	return nil
}

func keyTerms(cond Condition, terms []keyTerm) ([]keyTerm, error) {
	switch c := cond.(type) {
	case And:
		terms, err := keyTerms(c.X, terms)
		if err != nil {
			return nil, err
		}
		return keyTerms(c.Y, terms)
	case Compare:
		if c.Op == "<>" {
			return nil, badKeyOperator(c.Op)
		}
		if _, ok := c.X.(Literal); ok {
			return appendTerm(terms, flipped(c.Op), c.Y, c.X)
		}
		return appendTerm(terms, c.Op, c.X, c.Y)
	case Between:
		return appendTerm(terms, "BETWEEN", c.X, c.Lo, c.Hi)
	case Function:
		if c.Name != fnBeginsWith {
			return nil, badKeyOperator(c.Name)
		}
		return appendTerm(terms, c.Name, c.Args[0], c.Args[1])
	case Or:
		return nil, badKeyOperator("OR")
	case Not:
		return nil, badKeyOperator("NOT")
	default:
		return nil, badKeyOperator("IN")
	}
}

func badKeyOperator(op string) error {
	return errorf("Invalid operator used in KeyConditionExpression: %s", op)
}

func flipped(op string) string {
	return strings.NewReplacer("<", ">", ">", "<").Replace(op)
}

func appendTerm(terms []keyTerm, op string, key Operand, values ...Operand) ([]keyTerm, error) {
	path, ok := key.(Path)
	if !ok {
		if _, size := key.(Size); size {
			return nil, errorf("KeyConditionExpressions cannot contain nested operations")
		}
		return nil, errorf("Invalid condition in KeyConditionExpression: No key attribute specified")
	}
	if len(path) > 1 {
		return nil, errorf("KeyConditionExpressions cannot have conditions on nested attributes")
	}
	t := keyTerm{name: path[0].Name, SortCondition: SortCondition{Op: op}}
	for _, v := range values {
		l, ok := v.(Literal)
		if !ok {
			if _, isPath := v.(Path); isPath {
				return nil, errorf("Invalid condition in KeyConditionExpression: Multiple attribute names used in one condition")
			}
			return nil, errorf("KeyConditionExpressions cannot contain nested operations")
		}
		t.Values = append(t.Values, l.Val)
	}
	return append(terms, t), nil
}
