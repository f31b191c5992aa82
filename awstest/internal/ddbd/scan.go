package ddbd

import (
	"math/bits"
)

const maxSegments = 1_000_000

type scanInput struct {
	pageInput
	Segment, TotalSegments *int
}

func (s *Server) scan(in *scanInput) (any, error) {
	if err := in.check(); err != nil {
		return nil, err
	}
	if err := in.checkSegments(); err != nil {
		return nil, err
	}
	t, v, err := s.view(&in.pageInput)
	if err != nil {
		return nil, err
	}
	parsed, err := in.parse(v, nil)
	if err != nil {
		return nil, err
	}
	segment, total := 0, 1
	if in.Segment != nil {
		segment, total = *in.Segment, *in.TotalSegments
	}
	hash, _ := bits.Div64(uint64(segment), 0, uint64(total))
	start := rowKey{hash: hash}
	var after *rowKey
	if in.ExclusiveStartKey != nil {
		if start, err = v.startKey(in.ExclusiveStartKey); err != nil {
			return nil, err
		}
		if start.segment(total) != segment {
			return nil, invalid("The provided starting key is invalid: Invalid ExclusiveStartKey. "+
				"Please use ExclusiveStartKey with correct Segment. TotalSegments: %d Segment: %d", total, segment)
		}
		after = &start
	}
	judge := func(k rowKey) verdict {
		switch at := k.segment(total); {
		case at > segment:
			return stop
		case at < segment || after != nil && k == *after:
			return skip
		default:
			return take
		}
	}
	p := pager{view: v, limit: in.limit(), filter: parsed.filter, judge: judge}
	return in.finish(t, p, parsed.projection, v.rows.from(start)), nil
}

func (in *scanInput) checkSegments() error {
	switch {
	case in.Segment == nil && in.TotalSegments == nil:
		return nil
	case in.TotalSegments == nil:
		return invalid("The TotalSegments parameter is required but was not present in the request when Segment parameter is present")
	case in.Segment == nil:
		return invalid("The Segment parameter is required but was not present in the request when parameter TotalSegments is present")
	}
	if err := checkRange(*in.TotalSegments, "totalSegments", 1, maxSegments); err != nil {
		return err
	}
	if err := checkRange(*in.Segment, "segment", 0, -1); err != nil {
		return err
	}
	if *in.Segment >= *in.TotalSegments {
		return invalid("The Segment parameter is zero-based and must be less than parameter TotalSegments: "+
			"Segment: %d is not less than TotalSegments: %d", *in.Segment, *in.TotalSegments)
	}
	return nil
}
