package sqsd

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/claimonce/claimonce/awstest/internal/wire"
)

// redrive is where messages go that were received too often; Count 0: nowhere.
type redrive struct {
	Target string `json:"deadLetterTargetArn"`
	Count  int    `json:"maxReceiveCount"`
}

// parseRedrive takes the count as a number or as a string.
func parseRedrive(policy string) (redrive, error) {
	if policy == "" {
		return redrive{}, nil
	}
	var raw struct {
		Target string      `json:"deadLetterTargetArn"`
		Count  json.Number `json:"maxReceiveCount"`
	}
	if err := json.Unmarshal([]byte(policy), &raw); err != nil {
		return redrive{}, err
	}
	n, err := raw.Count.Int64()
	return redrive{raw.Target, int(n)}, err
}

// byARN is called with mu held.
func (s *Server) byARN(arn string) *queue {
	rest, name := cutLast(arn, ':')
	if q := s.queues[name]; q != nil && s.arn(name) == rest+":"+name {
		return q
	}
	return nil
}

func (s *Server) checkRedrive(q *queue, policy string) (string, *wire.Error) {
	bad := func(reason string) *wire.Error { return badValue(policy, "RedrivePolicy", "%s", reason) }
	r, err := parseRedrive(policy)
	if err != nil || r.Count < 1 || r.Count > 1000 {
		return "", bad("It must be JSON with deadLetterTargetArn and maxReceiveCount; valid values of maxReceiveCount are from 1 to 1000 both inclusive.")
	}
	target := s.byARN(r.Target)
	switch {
	case target == nil:
		return "", bad("Dead letter target does not exist.")
	case target.fifo != q.fifo:
		return "", bad("Dead-letter queue must be same type of queue as the source.")
	case !target.allows(s.arn(q.name)):
		return "", bad("Dead-letter queue does not allow this source: see its RedriveAllowPolicy.")
	}
	canonical, err := json.Marshal(r)
	if err != nil {
		return "", bad(err.Error())
	}
	return string(canonical), nil
}

// allowPolicy says for which queues a queue may be the dead-letter queue.
// https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-configure-dead-letter-queue-redrive.html
type allowPolicy struct {
	Permission string   `json:"redrivePermission"`
	Sources    []string `json:"sourceQueueArns,omitempty"`
}

func checkAllow(policy string) (string, *wire.Error) {
	var p allowPolicy
	err := json.Unmarshal([]byte(policy), &p)
	byQueue := p.Permission == "byQueue"
	if err != nil || !byQueue && p.Permission != "allowAll" && p.Permission != "denyAll" || byQueue != (len(p.Sources) > 0) || len(p.Sources) > 10 {
		return "", badValue(policy, "RedriveAllowPolicy", "redrivePermission must be allowAll, denyAll, or byQueue with 1 to 10 sourceQueueArns.")
	}
	canonical, err := json.Marshal(p)
	if err != nil {
		return "", badValue(policy, "RedriveAllowPolicy", "%v", err)
	}
	return string(canonical), nil
}

func (q *queue) allows(arn string) bool {
	var p allowPolicy
	_ = json.Unmarshal([]byte(q.attributes["RedriveAllowPolicy"]), &p) // checked when it was set; none allows all
	return p.Permission == "" || p.Permission == "allowAll" || p.Permission == "byQueue" && slices.Contains(p.Sources, arn)
}

// bury moves a message that would be received once too often to the dead-letter queue. It keeps its id, attributes and
// receive count; of when it was sent, a standard queue keeps the time, so that it expires as if it had never moved. On FIFO queues its id
// takes the place of its deduplication id, so that two messages which shared one, at different times, are both kept.
// https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/setting-up-dead-letter-queue-retention.html
// https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-configure-dead-letter-queue-redrive.html
func (s *Server) bury(q *queue, m *message, now time.Time) bool {
	if q.redrive.Count == 0 || m.receives < q.redrive.Count {
		return false
	}
	target := s.byARN(q.redrive.Target)
	if target == nil || target == q {
		return false
	}
	q.remove(m)
	s.serial++
	moved := *m
	moved.seq, moved.visible, moved.handle, moved.source = s.serial, now, "", s.arn(q.name)
	if q.fifo {
		moved.sent, moved.dedup = now, m.id
	}
	target.insert(&moved, now)
	return true
}

func (s at) listSources(in listInput) (any, *wire.Error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	q, err := s.find(in.QueueUrl)
	if err != nil {
		return nil, err
	}
	arn := s.arn(q.name)
	names, next, err := s.page(in, func(o *queue) bool { return o.redrive.Target == arn })
	if err != nil {
		return nil, err
	}
	return struct {
		QueueUrls []string `json:"queueUrls"`
		NextToken string   `json:",omitempty"`
	}{s.urls(names), next}, nil
}
