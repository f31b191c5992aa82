package ddbd

import (
	"maps"
	"slices"

	"github.com/claimonce/claimonce/awstest/internal/ddbd/attr"
	"github.com/claimonce/claimonce/awstest/internal/ddbd/expr"
)

// Limits of a BatchGetItem, from
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_BatchGetItem.html
const (
	maxBatchGet      = 100
	maxBatchGetBytes = 16 << 20
)

type batchKeys struct {
	Keys                     []attr.Item
	ConsistentRead           bool              `json:",omitempty"`
	ProjectionExpression     *string           `json:",omitempty"`
	ExpressionAttributeNames map[string]string `json:",omitempty"`
}

type batchGetInput struct {
	RequestItems           map[string]*batchKeys
	ReturnConsumedCapacity string
}

type batchGetOutput struct {
	Responses        map[string][]attr.Item
	UnprocessedKeys  map[string]*batchKeys
	ConsumedCapacity []*consumedCapacity `json:",omitempty"`
}

func (s *Server) batchGetItem(in *batchGetInput) (any, error) {
	if err := in.check(); err != nil {
		return nil, err
	}
	out := &batchGetOutput{Responses: map[string][]attr.Item{}, UnprocessedKeys: map[string]*batchKeys{}}
	gets := make([]*batchGet, 0, len(in.RequestItems))
	for _, name := range slices.Sorted(maps.Keys(in.RequestItems)) {
		g, err := s.prepareBatchGet(name, in.RequestItems[name])
		if err != nil {
			return nil, err
		}
		gets = append(gets, g)
	}
	var all bills
	left := maxBatchGetBytes
	for _, g := range gets {
		left = s.batchRead(g, out, &all, left)
	}
	all.charge()
	out.ConsumedCapacity = all.report(in.ReturnConsumedCapacity, false)
	return out, nil
}

func (in *batchGetInput) check() error {
	if err := checkCapacityMode(in.ReturnConsumedCapacity); err != nil {
		return err
	}
	if len(in.RequestItems) == 0 {
		return badValue("'{}'", "requestItems", "Member must have length greater than or equal to 1")
	}
	n := 0
	for name, r := range in.RequestItems {
		if r == nil || len(r.Keys) == 0 {
			return badValue("'[]'", "requestItems."+name+".member.keys", "Member must have length greater than or equal to 1")
		}
		n += len(r.Keys)
	}
	if n > maxBatchGet {
		return invalid("Too many items requested for the BatchGetItem call")
	}
	return nil
}

// batchGet is one table's part of a BatchGetItem.
type batchGet struct {
	name  string
	table *table
	in    *batchKeys
	keys  []rowKey
	byKey map[rowKey]attr.Item

	projection *expr.Projection
}

func (s *Server) prepareBatchGet(name string, in *batchKeys) (*batchGet, error) {
	t, err := s.table(name)
	if err != nil {
		return nil, err
	}
	g := &batchGet{name: name, table: t, in: in, byKey: map[rowKey]attr.Item{}}
	names := placeholders{ExpressionAttributeNames: in.ExpressionAttributeNames}
	if g.projection, err = names.projection(in.ProjectionExpression); err != nil {
		return nil, err
	}
	for _, key := range in.Keys {
		if err := t.checkKey(key); err != nil {
			return nil, err
		}
		k := t.keys.rowKey(key, "")
		if _, twice := g.byKey[k]; twice {
			return nil, invalid("Provided list of item keys contains duplicates")
		}
		g.byKey[k] = key
		g.keys = append(g.keys, k)
	}
	// The service promises no order; that of the request would hide clients that rely on it.
	slices.SortFunc(g.keys, rowKey.compare)
	return g, nil
}

// batchRead reads until the answer is full and hands the other keys back as unprocessed.
func (s *Server) batchRead(g *batchGet, out *batchGetOutput, all *bills, left int) int {
	b := all.of(g.table)
	items := []attr.Item{}
	for _, k := range g.keys {
		item := g.table.read(k, s.lagOf(g.in.ConsistentRead))
		if left -= item.Size(); left < 0 {
			out.unprocessed(g, k)
			continue
		}
		b.addRead(item.Size(), g.in.ConsistentRead, nil)
		if item != nil {
			items = append(items, g.projection.Apply(item))
		}
	}
	out.Responses[g.name] = items
	return left
}

func (out *batchGetOutput) unprocessed(g *batchGet, k rowKey) {
	if out.UnprocessedKeys[g.name] == nil {
		rest := *g.in
		rest.Keys = nil
		out.UnprocessedKeys[g.name] = &rest
	}
	rest := out.UnprocessedKeys[g.name]
	rest.Keys = append(rest.Keys, g.byKey[k])
}
