package ddbd

import (
	"fmt"
	"strings"

	"github.com/claimonce/claimonce/awstest/internal/ddbd/attr"
)

// Limits of transactions, from
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/transaction-apis.html
const (
	maxTransactItems = 100
	maxTransactBytes = 4 << 20
	transactFactor   = 2 // every read and write is billed twice
)

type transactItem struct {
	Put, Update, Delete, ConditionCheck *writeInput
}

// one returns the item's only operation.
func (i transactItem) one() (kind mutationKind, in *writeInput, err error) {
	n := 0
	for k, w := range []*writeInput{i.Put, i.Update, i.Delete, i.ConditionCheck} {
		if w != nil {
			kind, in = mutationKind(k), w
			n++
		}
	}
	if n != 1 {
		return 0, nil, invalid("TransactItems can only contain one of Check, Put, Update or Delete")
	}
	return kind, in, nil
}

type cancellation struct {
	Code    string
	Message string    `json:",omitempty"`
	Item    attr.Item `json:",omitempty"`
}

type transactOutput struct {
	ConsumedCapacity []*consumedCapacity `json:",omitempty"`
}

func (s *Server) transactWriteItems(in *transactWriteInput) (any, error) {
	if err := in.check(); err != nil {
		return nil, err
	}
	if out, err := s.replay(in); out != nil || err != nil {
		return out, err
	}
	tx, err := s.prepareTransaction(in)
	if err != nil {
		return nil, err
	}
	reasons := tx.evaluate()
	bills := tx.bill()
	bills.charge()
	if err := cancelled(reasons); err != nil {
		return nil, err
	}
	for _, step := range tx.steps {
		if step.kind != kindCheck {
			s.commit(step.mutation, step.old, step.item)
		}
	}
	s.keepReceipt(in, tx)
	return &transactOutput{ConsumedCapacity: bills.report(in.ReturnConsumedCapacity, true)}, nil
}

func checkTransactCount(n int) error {
	switch {
	case n == 0:
		return badValue("'[]'", "transactItems", "Member must have length greater than or equal to 1")
	case n > maxTransactItems:
		return badValue(fmt.Sprintf("'[%d items]'", n), "transactItems", fmt.Sprintf("Member must have length less than or equal to %d", maxTransactItems))
	}
	return nil
}

// transaction is a TransactWriteItems on its way.
type transaction struct{ steps []*step }

// step is one operation with what it found and what it would store.
type step struct {
	*mutation
	located error // why the key does not fit the table, nil if it does
	refused bool
	old     attr.Item
	item    attr.Item
}

func (s *Server) prepareTransaction(in *transactWriteInput) (*transaction, error) {
	tx := &transaction{}
	payload := 0
	taken := map[place]bool{}
	for i, item := range in.TransactItems {
		kind, w, err := item.one()
		if err != nil {
			return nil, err
		}
		if kind == kindCheck && w.ConditionExpression == nil {
			return nil, missingMember(fmt.Sprintf("transactItems.%d.member.conditionCheck.conditionExpression", i+1))
		}
		if kind == kindUpdate && w.UpdateExpression == nil {
			return nil, missingMember(fmt.Sprintf("transactItems.%d.member.update.updateExpression", i+1))
		}
		// What counts is what is sent, not what is stored: large items may be deleted.
		if payload += w.size(); payload > maxTransactBytes {
			return nil, invalid("Transaction payload size cannot exceed %d bytes", maxTransactBytes)
		}
		m, err := s.prepare(kind, w)
		if err != nil {
			return nil, err
		}
		st := &step{mutation: m, located: m.locate()}
		tx.steps = append(tx.steps, st)
		if st.located != nil {
			continue
		}
		at := place{m.table, m.key}
		if taken[at] {
			return nil, invalid("Transaction request cannot include multiple operations on one item")
		}
		taken[at] = true
	}
	return tx, nil
}

// evaluate tries every operation on the state before the transaction. All are on
// different items, so none sees another. An item or key that does not fit its table
// cancels alone: nothing is tried then, and only the first such fault is named.
func (tx *transaction) evaluate() []cancellation {
	reasons := make([]cancellation, len(tx.steps))
	for i := range reasons {
		reasons[i].Code = "None"
	}
	for i, st := range tx.steps {
		if st.located != nil {
			reasons[i] = cancellation{Code: "ValidationError", Message: wireError(st.located).Message}
			return reasons
		}
	}
	for i, st := range tx.steps {
		reasons[i] = st.evaluate()
	}
	return reasons
}

func (st *step) evaluate() cancellation {
	st.old = st.table.rows.get(st.key)
	if !st.met(st.old) {
		st.refused = true
		c := cancellation{Code: "ConditionalCheckFailed", Message: conditionMessage}
		if st.returnOld {
			c.Item = st.old
		}
		return c
	}
	item, err := st.result(st.old)
	if err != nil {
		st.refused = true
		return cancellation{Code: "ValidationError", Message: wireError(err).Message}
	}
	st.item = item
	return cancellation{Code: "None"}
}

// cancelled is the error for reasons of which one is not "None".
func cancelled(reasons []cancellation) error {
	codes := make([]string, len(reasons))
	failed := false
	for i, r := range reasons {
		codes[i] = r.Code
		failed = failed || r.Code != "None"
	}
	if !failed {
		return nil
	}
	e := refuse(codeCancelled, "Transaction cancelled, please refer cancellation reasons for specific reasons [%s]", strings.Join(codes, ", "))
	e.Fields = map[string]any{"CancellationReasons": reasons}
	return e
}

// bill bills a cancelled transaction like one that went through: both have been prepared.
// One that was not even tried is free.
func (tx *transaction) bill() bills {
	var all bills
	for _, st := range tx.steps {
		if st.located != nil {
			return nil
		}
		b := all.of(st.table)
		if st.refused {
			b.addRefused(st.mutation, st.old)
		} else {
			b.addWrite(st.old, st.item)
		}
	}
	all.scale(transactFactor)
	return all
}

// size is the item's or key's and the values' share of the payload.
func (in *writeInput) size() int {
	return in.Item.Size() + in.Key.Size() + attr.Item(in.ExpressionAttributeValues).Size()
}
