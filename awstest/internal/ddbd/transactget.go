package ddbd

import (
	"fmt"
)

type transactGetInput struct {
	TransactItems          []struct{ Get *getInput }
	ReturnConsumedCapacity string
}

type transactGetOutput struct {
	Responses        []getOutput
	ConsumedCapacity []*consumedCapacity `json:",omitempty"`
}

func (s *Server) transactGetItems(in *transactGetInput) (any, error) {
	if err := checkTransactCount(len(in.TransactItems)); err != nil {
		return nil, err
	}
	if err := checkCapacityMode(in.ReturnConsumedCapacity); err != nil {
		return nil, err
	}
	out := &transactGetOutput{Responses: make([]getOutput, len(in.TransactItems))}
	reasons := make([]cancellation, len(in.TransactItems))
	var all bills
	for i, item := range in.TransactItems {
		if item.Get == nil {
			return nil, missingMember(fmt.Sprintf("transactItems.%d.member.get", i+1))
		}
		t, projection, err := s.prepareGet(item.Get)
		if err != nil {
			return nil, err
		}
		reasons[i] = cancellation{Code: "None"}
		if err := t.checkKey(item.Get.Key); err != nil {
			reasons[i] = cancellation{Code: "ValidationError", Message: wireError(err).Message}
			continue
		}
		found := t.rows.get(t.keys.rowKey(item.Get.Key, ""))
		all.of(t).addRead(found.Size(), true, nil)
		out.Responses[i].Item = projection.Apply(found)
	}
	all.scale(transactFactor)
	all.charge()
	if err := cancelled(reasons); err != nil {
		return nil, err
	}
	out.ConsumedCapacity = all.report(in.ReturnConsumedCapacity, true)
	return out, nil
}
