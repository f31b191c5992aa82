package ddbd

import (
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/claimonce/claimonce/awstest/internal/ddbd/attr"
	"github.com/claimonce/claimonce/awstest/internal/ddbd/expr"
)

// maxPage is how many bytes of items one Query or Scan reads, before filtering.
const maxPage = 1 << 20

// pageInput is what Query and Scan have in common.
type pageInput struct {
	TableName              string
	IndexName              string
	ConsistentRead         bool
	Select                 string
	Limit                  *int
	FilterExpression       *string
	ProjectionExpression   *string
	ExclusiveStartKey      attr.Item
	ReturnConsumedCapacity string
	placeholders
	legacy
}

type pageOutput struct {
	Items            *[]attr.Item `json:",omitempty"` // nil for COUNT, else never null
	Count            int
	ScannedCount     int
	LastEvaluatedKey attr.Item         `json:",omitempty"`
	ConsumedCapacity *consumedCapacity `json:",omitempty"`
}

// view is where a page is read: a table or index at some age.
type view struct {
	table *table
	index *index // nil for the table itself
	keys  keySchema
	rows  *rows
}

func (in *pageInput) check() error {
	if err := in.legacy.check(); err != nil {
		return err
	}
	if err := checkCapacityMode(in.ReturnConsumedCapacity); err != nil {
		return err
	}
	if err := oneOf(in.Select, "select", "SPECIFIC_ATTRIBUTES", "COUNT", "ALL_ATTRIBUTES", "ALL_PROJECTED_ATTRIBUTES"); err != nil {
		return err
	}
	if in.Limit != nil {
		if err := checkRange(*in.Limit, "limit", 1, -1); err != nil {
			return err
		}
	}
	switch {
	case in.TableName == "":
		return missingMember("tableName")
	case in.Select == "SPECIFIC_ATTRIBUTES" && in.ProjectionExpression == nil:
		return invalid("Must specify the AttributesToGet or ProjectionExpression when choosing to get SPECIFIC_ATTRIBUTES")
	case in.Select == "COUNT" && in.ProjectionExpression != nil:
		return invalid("Cannot specify the ProjectionExpression when choosing to get only the Count")
	case strings.HasPrefix(in.Select, "ALL_") && in.ProjectionExpression != nil:
		return invalid("Cannot specify the ProjectionExpression when choosing to get %s", in.Select)
	case in.Select == "ALL_PROJECTED_ATTRIBUTES" && in.IndexName == "":
		return invalid("ALL_PROJECTED_ATTRIBUTES can be used only when Querying using an IndexName")
	}
	return nil
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

// verdict is what a pager says of a row.
type verdict uint8

const (
	take verdict = iota
	skip
	stop
)

// pager says which rows a page takes.
type pager struct {
	view
	limit  int // 0 for none
	filter expr.Condition
	judge  func(rowKey) verdict
}

// read walks rows until the limit or a megabyte is reached. As on the service, a limit
// reached at the very last row still gives a LastEvaluatedKey.
func (p pager) read(seq iter.Seq[row]) (out pageOutput, items []attr.Item, size int) {
	var last attr.Item
	for r := range seq {
		v := p.judge(r.key)
		if v == stop {
			break
		}
		if v == skip {
			continue
		}
		full := out.ScannedCount > 0 && size+r.item.Size() > maxPage
		if !full {
			out.ScannedCount++
			size += r.item.Size()
			last = r.item
			if p.filter == nil || p.filter.Eval(r.item) {
				items = append(items, r.item)
			}
		}
		if full || out.ScannedCount == p.limit {
			out.LastEvaluatedKey = p.lastKey(last)
			break
		}
	}
	out.Count = len(items)
	return out, items, size
}

// finish bills the page and fills in the items asked for.
func (in *pageInput) finish(t *table, p pager, projection *expr.Projection, seq iter.Seq[row]) *pageOutput {
	out, items, size := p.read(seq)
	b := newBill(t)
	b.addRead(size, in.ConsistentRead, p.index)
	b.charge()
	out.ConsumedCapacity = b.report(in.ReturnConsumedCapacity, false)
	if in.Select == "COUNT" {
		return &out
	}
	list := make([]attr.Item, len(items))
	for i, item := range items {
		list[i] = projection.Apply(item)
	}
	out.Items = &list
	return &out
}

// parse reads filter and projection with the key condition, which is nil for Scan.
func (in *pageInput) parse(v view, keyCondition *string) (p parsedPage, err error) {
	expressions := []expression{{"ProjectionExpression", in.ProjectionExpression}, {"FilterExpression", in.FilterExpression}}
	if keyCondition != nil {
		expressions = append(expressions, expression{"KeyConditionExpression", keyCondition})
	}
	params, err := in.params(expressions...)
	if err != nil {
		return p, err
	}
	if keyCondition != nil {
		sort := expr.KeyAttr{Name: v.keys.sort.name, Kind: v.keys.sort.kind}
		hash := expr.KeyAttr{Name: v.keys.hash.name, Kind: v.keys.hash.kind}
		if p.key, err = params.KeyCondition(*keyCondition, hash, sort); err != nil {
			return p, err
		}
	}
	if in.FilterExpression != nil {
		if p.filter, err = params.Condition("FilterExpression", *in.FilterExpression); err != nil {
			return p, err
		}
	}
	if in.ProjectionExpression != nil {
		if p.projection, err = params.Projection(*in.ProjectionExpression); err != nil {
			return p, err
		}
	}
	if err := params.Unused(); err != nil {
		return p, err
	}
	return p, v.checkProjection(p.projection)
}

type parsedPage struct {
	key        expr.KeyCondition
	filter     expr.Condition
	projection *expr.Projection
}

func (in *pageInput) limit() int {
	if in.Limit == nil {
		return 0
	}
	return *in.Limit
}
