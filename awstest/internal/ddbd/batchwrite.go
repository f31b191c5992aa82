package ddbd

import (
	"fmt"
	"maps"
	"slices"

	"github.com/claimonce/claimonce/awstest/internal/ddbd/attr"
)

// Limits of a BatchWriteItem, from
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_BatchWriteItem.html
const (
	maxBatchWrite      = 25
	maxBatchWriteBytes = 16 << 20
)

type writeRequest struct {
	PutRequest    *struct{ Item attr.Item }
	DeleteRequest *struct{ Key attr.Item }
}

type batchWriteInput struct {
	RequestItems                map[string][]writeRequest
	ReturnConsumedCapacity      string
	ReturnItemCollectionMetrics string
}

type batchWriteOutput struct {
	UnprocessedItems map[string][]writeRequest
	ConsumedCapacity []*consumedCapacity `json:",omitempty"`
}

func (s *Server) batchWriteItem(in *batchWriteInput) (any, error) {
	if err := in.check(); err != nil {
		return nil, err
	}
	var writes []*mutation
	taken := map[place]bool{}
	for _, name := range slices.Sorted(maps.Keys(in.RequestItems)) {
		for _, r := range in.RequestItems[name] {
			m, err := s.prepareBatchWrite(name, r)
			if err != nil {
				return nil, err
			}
			at := place{m.table, m.key}
			if taken[at] {
				return nil, invalid("Provided list of item keys contains duplicates")
			}
			taken[at] = true
			writes = append(writes, m)
		}
	}
	var all bills
	for _, m := range writes {
		old := m.table.rows.get(m.key)
		item, err := m.result(old)
		if err != nil {
			return nil, err
		}
		all.of(m.table).addWrite(old, item)
		s.commit(m, old, item)
	}
	all.charge()
	return &batchWriteOutput{
		UnprocessedItems: map[string][]writeRequest{},
		ConsumedCapacity: all.report(in.ReturnConsumedCapacity, false),
	}, nil
}

func (in *batchWriteInput) check() error {
	if err := checkCapacityMode(in.ReturnConsumedCapacity); err != nil {
		return err
	}
	if len(in.RequestItems) == 0 {
		return badValue("'{}'", "requestItems", "Member must have length greater than or equal to 1")
	}
	n, size := 0, 0
	for _, requests := range in.RequestItems {
		if len(requests) == 0 || len(requests) > maxBatchWrite {
			return badValue(fmt.Sprintf("'{%d requests}'", len(requests)), "requestItems",
				"Map value must satisfy constraint: [Member must have length less than or equal to 25, Member must have length greater than or equal to 1]")
		}
		n += len(requests)
		for _, r := range requests {
			if r.PutRequest != nil {
				size += r.PutRequest.Item.Size()
			}
		}
	}
	switch {
	case n > maxBatchWrite:
		return invalid("Too many items requested for the BatchWriteItem call")
	case size > maxBatchWriteBytes:
		return invalid("The total size of the items in the BatchWriteItem call exceeds %d bytes", maxBatchWriteBytes)
	}
	return nil
}

func (s *Server) prepareBatchWrite(table string, r writeRequest) (*mutation, error) {
	kind, in := kindPut, &writeInput{TableName: table}
	switch {
	case (r.PutRequest == nil) == (r.DeleteRequest == nil):
		return nil, invalid("Supplied AttributeValue has more than one datatypes set, must contain exactly one of the supported datatypes")
	case r.PutRequest != nil:
		in.Item = r.PutRequest.Item
	default:
		kind, in.Key = kindDelete, r.DeleteRequest.Key
	}
	m, err := s.prepare(kind, in)
	if err != nil {
		return nil, err
	}
	return m, m.locate()
}
