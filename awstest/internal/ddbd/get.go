package ddbd

import (
	"time"

	"github.com/claimonce/claimonce/awstest/internal/ddbd/attr"
	"github.com/claimonce/claimonce/awstest/internal/ddbd/expr"
)

type getInput struct {
	TableName              string
	Key                    attr.Item
	ConsistentRead         bool
	ProjectionExpression   *string
	ReturnConsumedCapacity string
	placeholders
	legacy
}

type getOutput struct {
	Item             attr.Item         `json:",omitempty"`
	ConsumedCapacity *consumedCapacity `json:",omitempty"`
}

func (s *Server) getItem(in *getInput) (any, error) {
	t, projection, err := s.prepareGet(in)
	if err != nil {
		return nil, err
	}
	if err := t.checkKey(in.Key); err != nil {
		return nil, err
	}
	b := newBill(t)
	defer b.charge()
	item := t.read(t.keys.rowKey(in.Key, ""), s.lagOf(in.ConsistentRead))
	b.addRead(item.Size(), in.ConsistentRead, nil)
	return &getOutput{
		Item:             projection.Apply(item),
		ConsumedCapacity: b.report(in.ReturnConsumedCapacity, false),
	}, nil
}

// prepareGet validates all but the key.
func (s *Server) prepareGet(in *getInput) (*table, *expr.Projection, error) {
	if err := in.check(); err != nil {
		return nil, nil, err
	}
	if err := checkCapacityMode(in.ReturnConsumedCapacity); err != nil {
		return nil, nil, err
	}
	if in.TableName == "" {
		return nil, nil, missingMember("tableName")
	}
	if in.Key == nil {
		return nil, nil, missingMember("key")
	}
	projection, err := in.projection(in.ProjectionExpression)
	if err != nil {
		return nil, nil, err
	}
	t, err := s.table(in.TableName)
	return t, projection, err
}

// projection parses a request's only expression; nil where none was given.
func (p placeholders) projection(text *string) (*expr.Projection, error) {
	params, err := p.params(expression{"ProjectionExpression", text})
	if err != nil || text == nil {
		return nil, err
	}
	projection, err := params.Projection(*text)
	if err != nil {
		return nil, err
	}
	return projection, params.Unused()
}

func (s *Server) lagOf(consistent bool) time.Duration {
	if consistent {
		return 0
	}
	return s.lag
}

func (t *table) read(k rowKey, lag time.Duration) attr.Item {
	if lag > 0 {
		return t.staleItem(k, lag)
	}
	return t.rows.get(k)
}
