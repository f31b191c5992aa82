package ddbd

import (
	"iter"
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
