package ddbd

import (
	"github.com/claimonce/claimonce/awstest/internal/ddbd/attr"
	"github.com/claimonce/claimonce/awstest/internal/ddbd/expr"
	"github.com/claimonce/claimonce/awstest/internal/ddbd/partiql"
)

const (
	codeDuplicate    = codePrefix + "DuplicateItemException"
	duplicateMessage = "Duplicate primary key exists in table"
)

// statementInput is one PartiQL statement, alone or in a batch.
type statementInput struct {
	Statement                           string
	Parameters                          []attr.Value
	ConsistentRead                      bool
	ReturnValuesOnConditionCheckFailure string
}

type executeInput struct {
	statementInput
	ReturnConsumedCapacity string
	Limit                  *int
	NextToken              string
}

// executeOutput has Items even where there are none, as the service answers writes.
type executeOutput struct {
	Items            []attr.Item
	ConsumedCapacity *consumedCapacity `json:",omitempty"`
}

// statement is a parsed statement on its way. What is wrong with it alone is in err: in a batch that fails only this one.
type statement struct {
	*partiql.Statement
	in    *statementInput
	table *table
	key   rowKey
	write *mutation // nil for a SELECT
	err   error
}

func (s *Server) executeStatement(in *executeInput) (any, error) {
	if err := checkCapacityMode(in.ReturnConsumedCapacity); err != nil {
		return nil, err
	}
	if in.Limit != nil || in.NextToken != "" {
		return nil, unsupported("paging of ExecuteStatement, which here reads single items,")
	}
	st := s.prepareStatement(&in.statementInput)
	if st.err != nil {
		return nil, st.err
	}
	b := newBill(st.table)
	defer b.charge()
	item, err := s.execute(st, b)
	if err != nil {
		return nil, err
	}
	out := &executeOutput{Items: []attr.Item{}, ConsumedCapacity: b.report(in.ReturnConsumedCapacity, false)}
	if item != nil {
		out.Items = append(out.Items, item)
	}
	return out, nil
}

// prepareStatement validates everything that does not depend on the stored item.
func (s *Server) prepareStatement(in *statementInput) *statement {
	st := &statement{in: in}
	st.err = st.prepare(s)
	return st
}

func (st *statement) prepare(s *Server) (err error) {
	if st.in.Statement == "" {
		return badValue("''", "statement", "Member must have length greater than or equal to 1")
	}
	if st.in.Parameters != nil && len(st.in.Parameters) == 0 {
		return badValue("'[]'", "parameters", "Member must have length greater than or equal to 1")
	}
	if err := oneOf(st.in.ReturnValuesOnConditionCheckFailure, "returnValuesOnConditionCheckFailure", "ALL_OLD", "NONE"); err != nil {
		return err
	}
	if st.Statement, err = partiql.Parse(st.in.Statement, st.in.Parameters); err != nil {
		return err
	}
	if st.table, err = s.table(st.Table); err != nil {
		return err
	}
	return st.locate()
}

// locate finds the one item that the statement is about: every statement but an INSERT has to name the whole key.
func (st *statement) locate() error {
	var names []string
	for _, a := range st.table.keys.attrs() {
		names = append(names, a.name)
	}
	key, ok := st.Key(names)
	if !ok && st.Verb == partiql.Select {
		return unsupported("a SELECT that does not name the whole key in its WHERE clause (use Query or Scan), which")
	}
	if !ok && st.Verb != partiql.Insert {
		return invalid("Where clause does not contain a mandatory equality on all key attributes")
	}
	if st.Verb == partiql.Select {
		if err := st.table.checkKey(key); err != nil {
			return err
		}
		st.key = st.table.keys.rowKey(key, "")
		return nil
	}
	st.write = &mutation{
		table: st.table, item: key, update: st.Update, cond: st.Where,
		returnOld: st.in.ReturnValuesOnConditionCheckFailure == "ALL_OLD",
	}
	switch st.Verb {
	case partiql.Insert:
		st.write.kind, st.write.item, st.write.cond = kindPut, st.Item, absent{}
	case partiql.Update:
		st.write.kind = kindUpdate
	default:
		st.write.kind, st.write.cond = kindDelete, ifThere{st.Where}
	}
	err := st.write.locate()
	st.key = st.write.key
	return err
}

// absent is an INSERT's condition: an item of that key, whatever it holds, makes it a duplicate.
type absent struct{}

func (absent) Eval(item attr.Item) bool { return item == nil }

// ifThere is a DELETE's: the page ql-reference.delete.html has success for an item that does not exist, whatever the condition, while
// an UPDATE of one fails its condition (ql-reference.update.html).
type ifThere struct{ expr.Condition }

func (c ifThere) Eval(item attr.Item) bool { return item == nil || c.Condition.Eval(item) }

// execute runs a prepared statement and returns the item that it answers with, if any.
func (s *Server) execute(st *statement, b *bill) (attr.Item, error) {
	if st.write == nil {
		item := st.table.read(st.key, s.lagOf(st.in.ConsistentRead))
		b.addRead(item.Size(), st.in.ConsistentRead, nil)
		if item == nil || !st.Where.Eval(item) {
			return nil, nil
		}
		return st.selected(item), nil
	}
	old := st.table.rows.get(st.key)
	if !st.write.met(old) {
		b.addRefused(st.write, old)
		if st.Verb == partiql.Insert {
			return nil, refuse(codeDuplicate, duplicateMessage)
		}
		return nil, conditionFailed(st.write, old)
	}
	item, err := st.write.result(old)
	if err != nil {
		return nil, err
	}
	b.addWrite(old, item)
	s.commit(st.write, old, item)
	shown := returned(st.Returning, st.Update, old, item)
	if len(shown) == 0 {
		return nil, nil // MODIFIED shows nothing of an attribute that was not there
	}
	return shown, nil
}

// selected names every path's value by the path's last name; what is not there is left out.
func (st *statement) selected(item attr.Item) attr.Item {
	if st.Columns == nil {
		return item
	}
	out := attr.Item{}
	for _, path := range st.Columns {
		if v, _ := path.Value(item); v.Exists() {
			out[lastName(path)] = v
		}
	}
	return out
}

func lastName(path expr.Path) string {
	name := ""
	for _, step := range path {
		if step.Name != "" {
			name = step.Name
		}
	}
	return name
}
