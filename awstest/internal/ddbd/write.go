package ddbd

import (
	"github.com/claimonce/claimonce/awstest/internal/ddbd/attr"
	"github.com/claimonce/claimonce/awstest/internal/ddbd/expr"
	"github.com/claimonce/claimonce/awstest/internal/wire"
)

type writeOutput struct {
	Attributes       attr.Item         `json:",omitempty"`
	ConsumedCapacity *consumedCapacity `json:",omitempty"`
}

func (s *Server) putItem(in *writeInput) (any, error) {
	if err := checkReturnOld(in.ReturnValues); err != nil {
		return nil, err
	}
	return s.write(kindPut, in)
}

func (s *Server) deleteItem(in *writeInput) (any, error) {
	if err := checkReturnOld(in.ReturnValues); err != nil {
		return nil, err
	}
	return s.write(kindDelete, in)
}

func (s *Server) updateItem(in *writeInput) (any, error) {
	if err := checkReturnValues(in.ReturnValues); err != nil {
		return nil, err
	}
	return s.write(kindUpdate, in)
}

func checkReturnValues(mode string) error {
	return oneOf(mode, "returnValues", "ALL_NEW", "UPDATED_OLD", "ALL_OLD", "NONE", "UPDATED_NEW")
}

func checkReturnOld(mode string) error {
	if err := checkReturnValues(mode); err != nil {
		return err
	}
	if mode != "" && mode != "NONE" && mode != "ALL_OLD" {
		return invalid("ReturnValues can only be ALL_OLD or NONE")
	}
	return nil
}

func (s *Server) write(kind mutationKind, in *writeInput) (any, error) {
	m, err := s.prepare(kind, in)
	if err != nil {
		return nil, err
	}
	if err := m.locate(); err != nil {
		return nil, err
	}
	old := m.table.rows.get(m.key)
	b := newBill(m.table)
	defer b.charge()
	if !m.met(old) {
		b.addRefused(m, old)
		return nil, conditionFailed(m, old)
	}
	item, err := m.result(old)
	if err != nil {
		return nil, err
	}
	b.addWrite(old, item)
	s.commit(m, old, item)
	return &writeOutput{
		Attributes:       returned(in.ReturnValues, m.update, old, item),
		ConsumedCapacity: b.report(in.ReturnConsumedCapacity, false),
	}, nil
}

func (s *Server) commit(m *mutation, old, item attr.Item) {
	m.table.record(m.key, old, s.lag)
	m.table.store(m.key, old, item)
}

// addRefused bills a write whose condition failed: the larger of the stored and the
// wanted item, nothing for the indexes.
func (b *bill) addRefused(m *mutation, old attr.Item) {
	wanted, err := m.result(old)
	if err != nil {
		wanted = nil
	}
	b.addTableWrite(old, wanted)
}

func conditionFailed(m *mutation, old attr.Item) *wire.Error {
	e := refuse(codeConditional, conditionMessage)
	if m.returnOld && old != nil {
		e.Fields = map[string]any{"Item": old}
	}
	return e
}

// returned picks what ReturnValues asks for.
func returned(mode string, update *expr.Update, old, item attr.Item) attr.Item {
	switch mode {
	case "ALL_OLD":
		return old
	case "ALL_NEW":
		return item
	case "UPDATED_OLD":
		return updatedPart(update, old)
	case "UPDATED_NEW":
		return updatedPart(update, item)
	default:
		return nil
	}
}

func updatedPart(update *expr.Update, item attr.Item) attr.Item {
	if update == nil {
		return nil
	}
	return expr.Project(update.Paths()).Apply(item)
}
