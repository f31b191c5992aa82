package partiql

import (
	"github.com/claimonce/claimonce/awstest/internal/ddbd/attr"
	"github.com/claimonce/claimonce/awstest/internal/ddbd/expr"
)

// maxStatement is the longest Statement, from
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_BatchStatementRequest.html
const maxStatement = 8192

// Verb is what a statement does.
type Verb uint8

// The four statements.
const (
	Select Verb = iota
	Insert
	Update
	Delete
)

// Statement is a parsed statement whose parameters are filled in.
type Statement struct {
	Verb      Verb
	Table     string
	Item      attr.Item      // of an INSERT
	Update    *expr.Update   // of an UPDATE
	Where     expr.Condition // the whole of it, keys included; nil for an INSERT and for a SELECT without one
	Columns   []expr.Path    // of a SELECT; nil for *
	Returning string         // as ReturnValues has it: "", ALL_OLD, ALL_NEW, UPDATED_OLD, UPDATED_NEW
}

// Parse reads a statement; each ? is the next of params, and all of them must be used.
func Parse(text string, params []attr.Value) (*Statement, error) {
	if len(text) > maxStatement {
		return nil, errorf("1 validation error detected: Value at 'statement' failed to satisfy constraint: Member must have length less than or equal to %d", maxStatement)
	}
	p := &parser{tokens: tokenize(text), params: params}
	s := p.statement()
	p.accept(";")
	if p.peek().kind != tokEOF {
		p.fail()
	}
	switch {
	case p.err != nil:
		return nil, p.err
	case p.used != len(params):
		return nil, errCount()
	}
	if s.Update != nil {
		if err := s.Update.CheckPaths(); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// Key picks the named attributes out of the equalities that the WHERE clause demands; ok is false where one is missing. An equality
// below OR or NOT demands nothing.
func (s *Statement) Key(names []string) (key attr.Item, ok bool) {
	if s.Verb == Insert {
		key = s.Item
	} else {
		key = attr.Item{}
		demanded(s.Where, key)
	}
	out := attr.Item{}
	for _, name := range names {
		if v := key[name]; v.Exists() {
			out[name] = v
		}
	}
	return out, len(out) == len(names)
}

func demanded(c expr.Condition, into attr.Item) {
	switch c := c.(type) {
	case expr.And:
		demanded(c.X, into)
		demanded(c.Y, into)
	case expr.Compare:
		path, isPath := c.X.(expr.Path)
		value, isValue := c.Y.(expr.Literal)
		if c.Op == "=" && isPath && isValue && len(path) == 1 {
			into[path[0].Name] = value.Val
		}
	}
}
