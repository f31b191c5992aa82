package ddbd

import (
	"iter"
	"slices"

	"github.com/claimonce/claimonce/awstest/internal/ddbd/attr"
	"github.com/claimonce/claimonce/awstest/internal/ddbd/expr"
)

type queryInput struct {
	pageInput
	KeyConditionExpression *string
	ScanIndexForward       *bool
}

// top is above every index tie and every encoded sort key's last byte.
const top = "\xff"

func (s *Server) query(in *queryInput) (any, error) {
	if err := in.check(); err != nil {
		return nil, err
	}
	if in.KeyConditionExpression == nil {
		return nil, invalid("Either the KeyConditions or KeyConditionExpression parameter must be specified in the request.")
	}
	t, v, err := s.view(&in.pageInput)
	if err != nil {
		return nil, err
	}
	parsed, err := in.parse(v, in.KeyConditionExpression)
	if err != nil {
		return nil, err
	}
	for _, name := range expr.Names(parsed.filter) {
		if v.keys.has(name) {
			return nil, invalid("Filter Expression can only contain non-primary key attributes: Primary key attribute: %s", name)
		}
	}
	q := partition{key: parsed.key, forward: in.ScanIndexForward == nil || *in.ScanIndexForward}
	if err := q.resume(v, in.ExclusiveStartKey); err != nil {
		return nil, err
	}
	p := pager{view: v, limit: in.limit(), filter: parsed.filter, judge: q.judge()}
	return in.finish(t, p, parsed.projection, q.rows(v.rows)), nil
}

// partition is the stretch of one partition that a query reads.
type partition struct {
	key     expr.KeyCondition
	forward bool
	after   *rowKey
}

func (q *partition) resume(v view, start attr.Item) error {
	if start == nil {
		return nil
	}
	after, err := v.startKey(start)
	if err != nil {
		return err
	}
	if after.part != q.key.Hash.SortKey() {
		return invalid("The provided starting key is outside query boundaries based on provided conditions")
	}
	if !q.key.Sort.Match(after.sort) {
		return invalid("The provided starting key does not match the range key predicate")
	}
	q.after = &after
	return nil
}

// rows yields the rows from where the query begins or resumes.
func (q *partition) rows(r *rows) iter.Seq[row] {
	part := q.key.Hash.SortKey()
	switch high, bounded := q.key.Sort.High(); {
	case q.forward && q.after != nil:
		return r.from(*q.after)
	case q.forward:
		return r.from(newRowKey(part, q.key.Sort.Low(), ""))
	case q.after != nil:
		return r.backFrom(*q.after)
	case bounded:
		return r.backFrom(newRowKey(part, high, top))
	default:
		// No sort key is longer than the limit, so this one is above them all.
		return r.backFrom(newRowKey(part, string(slices.Repeat([]byte(top), maxSortKey+1)), top))
	}
}

// judge stops at the first row that does not match after one that did, or at the end of
// the partition: what matches is one stretch.
func (q *partition) judge() func(rowKey) verdict {
	part, started := q.key.Hash.SortKey(), false
	return func(k rowKey) verdict {
		switch {
		case k.part != part:
			return stop
		case q.after != nil && k == *q.after:
			return skip
		case q.key.Sort.Match(k.sort):
			started = true
			return take
		case started:
			return stop
		default:
			return skip
		}
	}
}
