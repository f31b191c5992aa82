package awstest

import "time"

// Queue is what a queue holds, looked at without receiving anything; it does not change afterwards.
type Queue struct {
	Exists                     bool
	Visible, InFlight, Delayed int
	Messages                   []Message // in the order of arrival
}

// Message is one message as it lies in a queue.
type Message struct {
	ID, Body          string
	Attributes        map[string]string // binary values as base64
	SentAt, VisibleAt time.Time
	Receives          int
	InFlight          bool
	Group             string // MessageGroupId
	DeadLetterOf      string // ARN of the queue that it was a dead letter of
}

// Queue looks at a queue by its name; the counts are exact.
func (s *Server) Queue(name string) Queue {
	messages := s.sqs.Messages(name)
	q, now := Queue{Exists: messages != nil}, time.Now()
	for _, m := range messages {
		switch {
		case m.InFlight:
			q.InFlight++
		case m.VisibleAt.After(now):
			q.Delayed++
		default:
			q.Visible++
		}
		q.Messages = append(q.Messages, Message(m))
	}
	return q
}

// Messages is what a queue holds, without the counts.
func (s *Server) Messages(queue string) []Message { return s.Queue(queue).Messages }

// Table is what a DynamoDB table holds, looked at without a call; it does not change afterwards.
type Table struct {
	Exists bool
	// Items are in the order of a scan, which is not that of their keys. A value is a string, [json.Number], []byte, bool, nil,
	// []string, []json.Number, [][]byte, []any or map[string]any.
	Items []map[string]any
}

// Table looks at a table by its name. It costs nothing: neither [Server.Calls] nor [Server.Usage] know of it.
func (s *Server) Table(name string) Table {
	items := s.dynamo.Items(name)
	return Table{Exists: items != nil, Items: items}
}

// StaleReads makes DynamoDB reads without ConsistentRead see the tables as they were d ago; 0 ends it.
func (s *Server) StaleReads(d time.Duration) { s.dynamo.StaleReads(d) }

// DeleteExpired deletes DynamoDB items whose TTL attribute is past at a time, as TTL does on AWS some day, and says how many.
func (s *Server) DeleteExpired(now time.Time) int { return s.dynamo.DeleteExpired(now) }

// Usage is what the calls for a table have cost so far: refused conditional writes are billed too.
func (s *Server) Usage(table string) Usage { return Usage(s.dynamo.Usage(table)) }

// Usage counts billed capacity units of a table and its indexes.
type Usage struct {
	Read, Write, IndexRead, IndexWrite float64
	Requests                           int
}
