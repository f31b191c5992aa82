package ddbd

import (
	"time"

	"github.com/claimonce/claimonce/awstest/internal/ddbd/attr"
)

type ttlSpecification struct {
	AttributeName string
	Enabled       bool
}

type updateTTLInput struct {
	TableName               string
	TimeToLiveSpecification *ttlSpecification
}

func (s *Server) updateTimeToLive(in *updateTTLInput) (any, error) {
	spec := in.TimeToLiveSpecification
	if spec == nil {
		return nil, missingMember("timeToLiveSpecification")
	}
	if spec.AttributeName == "" {
		return nil, missingMember("timeToLiveSpecification.attributeName")
	}
	t, err := s.namedTable(in.TableName)
	if err != nil {
		return nil, err
	}
	switch {
	case spec.Enabled && t.ttl == spec.AttributeName:
		return nil, invalid("TimeToLive is already enabled")
	case spec.Enabled && t.ttl != "":
		return nil, invalid("TimeToLive is active on a different AttributeName: current AttributeName is %s", t.ttl)
	case !spec.Enabled && t.ttl == "":
		return nil, invalid("TimeToLive is already disabled")
	case !spec.Enabled && t.ttl != spec.AttributeName:
		return nil, invalid("TimeToLive is active on a different AttributeName: current AttributeName is %s", t.ttl)
	}
	t.ttl = ""
	if spec.Enabled {
		t.ttl = spec.AttributeName
	}
	return map[string]any{"TimeToLiveSpecification": spec}, nil
}

type ttlDescription struct {
	TimeToLiveStatus string
	AttributeName    string `json:",omitempty"`
}

func (s *Server) describeTimeToLive(in *tableInput) (any, error) {
	t, err := s.namedTable(in.TableName)
	if err != nil {
		return nil, err
	}
	d := ttlDescription{"DISABLED", ""}
	if t.ttl != "" {
		d = ttlDescription{"ENABLED", t.ttl}
	}
	return map[string]any{"TimeToLiveDescription": d}, nil
}

// ttlHorizon is how long ago an item may have expired for the service still to delete it.
const ttlHorizon = 5 * 365 * 24 * time.Hour

// DeleteExpired does what the service's background process may do at any time after an
// item expired: it deletes the items whose TTL attribute lies before now, in every table
// with TTL on, and returns how many. Deletion is free of charge. Items that expired more
// than five years ago are left alone, as documented at
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/time-to-live-ttl-before-you-start.html
func (s *Server) DeleteExpired(now time.Time) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	deleted := 0
	for _, t := range s.tables {
		if t.ttl == "" {
			continue
		}
		var expired []row
		for r := range t.rows.from(rowKey{}) {
			if t.expired(r.item, now) {
				expired = append(expired, r)
			}
		}
		for _, r := range expired {
			t.record(r.key, r.item, s.lag)
			t.store(r.key, r.item, nil)
		}
		deleted += len(expired)
	}
	return deleted
}

func (t *table) expired(item attr.Item, now time.Time) bool {
	v := item[t.ttl]
	at, ok := v.Num.Int64()
	return v.Kind == attr.KindN && ok && at < now.Unix() && at > now.Add(-ttlHorizon).Unix()
}
