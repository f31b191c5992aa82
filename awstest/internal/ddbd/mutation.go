package ddbd

import (
	"github.com/claimonce/claimonce/awstest/internal/ddbd/attr"
	"github.com/claimonce/claimonce/awstest/internal/ddbd/expr"
)

// writeInput is what PutItem, UpdateItem, DeleteItem and the parts of TransactWriteItems
// have in common.
type writeInput struct {
	TableName           string
	Item                attr.Item // Put
	Key                 attr.Item // all others
	UpdateExpression    *string
	ConditionExpression *string
	placeholders
	legacy

	ReturnValues                        string
	ReturnValuesOnConditionCheckFailure string
	ReturnConsumedCapacity              string
	ReturnItemCollectionMetrics         string
}

type mutationKind uint8

const (
	kindPut mutationKind = iota
	kindUpdate
	kindDelete
	kindCheck
)

// mutation is a validated write that has not looked at the stored item yet.
type mutation struct {
	table     *table
	kind      mutationKind
	key       rowKey
	item      attr.Item // the item to put; else the key
	update    *expr.Update
	cond      expr.Condition
	returnOld bool // in a failed condition's error
}

// prepare validates everything that does not depend on the key or the stored item.
func (s *Server) prepare(kind mutationKind, in *writeInput) (*mutation, error) {
	if err := in.check(kind); err != nil {
		return nil, err
	}
	m := &mutation{kind: kind, item: in.Key, returnOld: in.ReturnValuesOnConditionCheckFailure == "ALL_OLD"}
	if kind == kindPut {
		m.item = in.Item
	}
	expressions := []expression{{"ConditionExpression", in.ConditionExpression}}
	if kind == kindUpdate {
		expressions = append([]expression{{"UpdateExpression", in.UpdateExpression}}, expressions...)
	}
	params, err := in.params(expressions...)
	if err != nil {
		return nil, err
	}
	if in.UpdateExpression != nil && kind == kindUpdate {
		if m.update, err = params.Update(*in.UpdateExpression); err != nil {
			return nil, err
		}
	}
	if in.ConditionExpression != nil {
		if m.cond, err = params.Condition("ConditionExpression", *in.ConditionExpression); err != nil {
			return nil, err
		}
	}
	if err := params.Unused(); err != nil {
		return nil, err
	}
	m.table, err = s.table(in.TableName)
	return m, err
}

func (in *writeInput) check(kind mutationKind) error {
	if err := in.legacy.check(); err != nil {
		return err
	}
	if err := checkCapacityMode(in.ReturnConsumedCapacity); err != nil {
		return err
	}
	if err := oneOf(in.ReturnItemCollectionMetrics, "returnItemCollectionMetrics", "SIZE", "NONE"); err != nil {
		return err
	}
	if err := oneOf(in.ReturnValuesOnConditionCheckFailure, "returnValuesOnConditionCheckFailure", "ALL_OLD", "NONE"); err != nil {
		return err
	}
	switch {
	case in.TableName == "":
		return missingMember("tableName")
	case kind == kindPut && in.Item == nil:
		return missingMember("item")
	case kind != kindPut && in.Key == nil:
		return missingMember("key")
	}
	return nil
}

// locate validates the item or key against the table and finds where it belongs.
func (m *mutation) locate() error {
	var err error
	switch {
	case m.kind != kindPut:
		err = m.table.checkKey(m.item)
	case m.item.Size() > attr.MaxItemSize:
		err = invalid("Item size has exceeded the maximum allowed size")
	default:
		if err = m.item.CheckDepth(); err == nil {
			err = m.table.checkItem(m.item)
		}
	}
	if err != nil {
		return err
	}
	m.key = m.table.keys.rowKey(m.item, "")
	return m.checkUpdatePaths()
}

func (m *mutation) checkUpdatePaths() error {
	if m.update == nil {
		return nil
	}
	for _, path := range m.update.Paths() {
		if m.table.keys.has(path[0].Name) {
			return invalid("One or more parameter values were invalid: Cannot update attribute %s. This attribute is part of the key", path[0].Name)
		}
	}
	return nil
}

// met evaluates the condition on the stored item, nil for none.
func (m *mutation) met(old attr.Item) bool { return m.cond == nil || m.cond.Eval(old) }

// result is the item after the write, nil if there is none then.
func (m *mutation) result(old attr.Item) (attr.Item, error) {
	switch m.kind {
	case kindPut:
		return m.item, nil
	case kindDelete:
		return nil, nil
	case kindCheck:
		return old, nil
	default:
		return m.updated(old)
	}
}

func (m *mutation) updated(old attr.Item) (attr.Item, error) {
	base := old
	if base == nil {
		base = m.item
	}
	if m.update == nil {
		return base, nil
	}
	if old == nil && m.update.OnlyTakes() {
		return nil, nil
	}
	item, err := m.update.Apply(base)
	if err != nil {
		return nil, err
	}
	if err := m.table.checkIndexKeys(base, item); err != nil {
		return nil, err
	}
	if item.Size() > attr.MaxItemSize {
		return nil, invalid("Item size to update has exceeded the maximum allowed size")
	}
	return item, item.CheckDepth()
}
