package ddbd

import (
	"maps"
	"slices"
	"strings"

	"github.com/claimonce/claimonce/awstest/internal/ddbd/attr"
	"github.com/claimonce/claimonce/awstest/internal/ddbd/expr"
)

// view is where a page is read: a table or index at some age.
type view struct {
	table *table
	index *index // nil for the table itself
	keys  keySchema
	rows  *rows
}

// view finds the table or index to read, as old as the request allows.
func (s *Server) view(in *pageInput) (*table, view, error) {
	t, err := s.table(in.TableName)
	if err != nil {
		return nil, view{}, err
	}
	past := t.staleCopy(s.lagOf(in.ConsistentRead))
	if in.IndexName == "" {
		return t, view{past, nil, t.keys, &past.rows}, nil
	}
	x := past.index(in.IndexName)
	switch {
	case x == nil:
		return nil, view{}, invalid("The table does not have the specified index: %s", in.IndexName)
	case in.ConsistentRead:
		return nil, view{}, invalid("Consistent reads are not supported on global secondary indexes")
	case in.Select == "ALL_ATTRIBUTES" && x.projection.ProjectionType != projectAll:
		return nil, view{}, invalid("One or more parameter values were invalid: Select type ALL_ATTRIBUTES is not supported for global secondary index %s because its projection type is not ALL", x.name)
	}
	return t, view{past, x, x.keys, &x.rows}, nil
}

// checkProjection refuses attributes that the index does not hold: a global index cannot
// fetch them from the table.
func (v view) checkProjection(p *expr.Projection) error {
	if p == nil || v.index == nil || v.index.projection.ProjectionType == projectAll {
		return nil
	}
	var absent []string
	for _, name := range p.Names() {
		held := v.table.keys.has(name) || v.keys.has(name) || slices.Contains(v.index.projection.NonKeyAttributes, name)
		if !held {
			absent = append(absent, name)
		}
	}
	if absent != nil {
		return invalid("One or more parameter values were invalid: Global secondary index %s does not project [%s]", v.index.name, strings.Join(absent, ", "))
	}
	return nil
}

// startKey is the row key that an ExclusiveStartKey names, whether or not it still exists.
func (v view) startKey(key attr.Item) (rowKey, error) {
	whole := v.table.keys.attrs()
	if v.index != nil {
		for _, a := range v.keys.attrs() {
			if !v.table.keys.has(a.name) {
				whole = append(whole, a)
			}
		}
	}
	if len(key) != len(whole) {
		return rowKey{}, badStartKey()
	}
	for _, a := range whole {
		if key[a.name].Kind != a.kind {
			return rowKey{}, badStartKey()
		}
	}
	if v.index == nil {
		return v.keys.rowKey(key, ""), nil
	}
	return v.keys.rowKey(key, tie(v.table.keys.rowKey(key, ""))), nil
}

func badStartKey() error {
	return invalid("The provided starting key is invalid: The provided key element does not match the schema")
}

func (v view) lastKey(item attr.Item) attr.Item {
	key := v.table.keys.pick(item)
	maps.Copy(key, v.keys.pick(item))
	return key
}
