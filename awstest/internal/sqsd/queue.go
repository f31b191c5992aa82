package sqsd

import (
	"encoding/json"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"time"

	"github.com/claimonce/claimonce/awstest/internal/wire"
)

type queue struct {
	name       string
	attributes map[string]string
	created    time.Time
	modified   time.Time
	messages   []*message // in the order of sending
	redrive    redrive
}

type redrive struct {
	Target string      `json:"deadLetterTargetArn"`
	Count  json.Number `json:"maxReceiveCount"`
}

// settings of a queue that a client may set, with defaults and bounds in the units of the API.
// https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SetQueueAttributes.html
func settings() map[string]struct{ def, low, high int } {
	return map[string]struct{ def, low, high int }{
		"VisibilityTimeout":             {30, 0, 43200},
		"DelaySeconds":                  {0, 0, 900},
		"MaximumMessageSize":            {1 << 20, 1024, 1 << 20},
		"MessageRetentionPeriod":        {345600, 60, 1209600},
		"ReceiveMessageWaitTimeSeconds": {0, 0, 20},
	}
}

func (q *queue) number(name string) int {
	n, _ := strconv.Atoi(q.attributes[name])
	return n
}

func (q *queue) seconds(name string) time.Duration {
	return time.Duration(q.number(name)) * time.Second
}

func (s *Server) arn(name string) string {
	return fmt.Sprintf("arn:aws:sqs:%s:%s:%s", s.region, s.account, name)
}

func (s at) url(name string) string { return "http://" + s.host + "/" + s.account + "/" + name }

type createInput struct {
	QueueName  string
	Attributes map[string]string
}

func (s at) createQueue(in createInput) (any, *wire.Error) {
	if strings.HasSuffix(in.QueueName, ".fifo") || in.Attributes["FifoQueue"] != "" {
		return nil, refuse("UnsupportedOperation", "FIFO queues are not built here yet")
	}
	if !madeOf(in.QueueName, 80, "_-") {
		return nil, refuse("InvalidParameterValue", "Can only include alphanumeric characters, hyphens, or underscores. 1 to 80 in length")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	q := &queue{name: in.QueueName, attributes: map[string]string{}, created: now, modified: now}
	for name, b := range settings() {
		q.attributes[name] = strconv.Itoa(b.def)
	}
	if err := s.set(q, in.Attributes); err != nil {
		return nil, err
	}
	if old := s.queues[in.QueueName]; old != nil {
		for name := range in.Attributes {
			if old.attributes[name] != q.attributes[name] {
				return nil, refuse("QueueNameExists", "A queue already exists with the same name and a different value for attribute %s", name)
			}
		}
		return map[string]string{"QueueUrl": s.url(old.name)}, nil
	}
	s.queues[in.QueueName] = q
	return map[string]string{"QueueUrl": s.url(q.name)}, nil
}

// set is called with mu held.
func (s *Server) set(q *queue, attributes map[string]string) *wire.Error {
	known := settings()
	for name, v := range attributes {
		if b, ok := known[name]; ok {
			n, err := strconv.Atoi(v)
			if err != nil || n < b.low || n > b.high {
				return refuse("InvalidAttributeValue", "Invalid value for the parameter %s.", name)
			}
			continue
		}
		switch name {
		case "RedrivePolicy":
			if err := s.setRedrive(q, v); err != nil {
				return err
			}
		case "Policy", "RedriveAllowPolicy", "KmsMasterKeyId", "KmsDataKeyReusePeriodSeconds", "SqsManagedSseEnabled":
		default:
			return refuse("InvalidAttributeName", "Unknown Attribute %s.", name)
		}
	}
	maps.Copy(q.attributes, attributes)
	return nil
}

func (s *Server) setRedrive(q *queue, policy string) *wire.Error {
	if policy == "" {
		q.redrive = redrive{}
		return nil
	}
	var r redrive
	n := int64(0)
	err := json.Unmarshal([]byte(policy), &r)
	if err == nil {
		n, err = r.Count.Int64()
	}
	if err != nil || n < 1 || n > 1000 {
		return refuse("InvalidParameterValue", "Value %s for parameter RedrivePolicy is invalid. Reason: Invalid value for maxReceiveCount: %s, valid values are from 1 to 1000 both inclusive.", policy, r.Count)
	}
	if s.queues[r.Target[strings.LastIndexByte(r.Target, ':')+1:]] == nil {
		return refuse("InvalidParameterValue", "Value %s for parameter RedrivePolicy is invalid. Reason: Dead letter target does not exist.", policy)
	}
	q.redrive = r
	return nil
}

type queueInput struct {
	QueueUrl       string //nolint:revive // the field's name on the wire
	QueueName      string
	AttributeNames []string
	Attributes     map[string]string
}

func (s at) getQueueURL(in queueInput) (any, *wire.Error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.queues[in.QueueName] == nil {
		return nil, refuse("QueueDoesNotExist", "The specified queue does not exist.")
	}
	return map[string]string{"QueueUrl": s.url(in.QueueName)}, nil
}

type listInput struct {
	QueueNamePrefix string
	MaxResults      int
	NextToken       string
}

func (s at) listQueues(in listInput) (any, *wire.Error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	urls, next := []string{}, ""
	for _, name := range sortedNames(s.queues) {
		if !strings.HasPrefix(name, in.QueueNamePrefix) || name <= in.NextToken {
			continue
		}
		if in.MaxResults > 0 && len(urls) == in.MaxResults {
			next = urls[len(urls)-1]
			break
		}
		urls = append(urls, s.url(name))
	}
	out := map[string]any{"QueueUrls": urls}
	if next != "" {
		out["NextToken"] = next[strings.LastIndexByte(next, '/')+1:]
	}
	return out, nil
}

func (s at) deleteQueue(in queueInput) (any, *wire.Error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	q, err := s.find(in.QueueUrl)
	if err != nil {
		return nil, err
	}
	delete(s.queues, q.name)
	s.wake()
	return nil, nil
}

func (s at) purgeQueue(in queueInput) (any, *wire.Error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	q, err := s.find(in.QueueUrl)
	if err != nil {
		return nil, err
	}
	q.messages = nil
	return nil, nil
}

func (s at) setQueueAttributes(in queueInput) (any, *wire.Error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	q, err := s.find(in.QueueUrl)
	if err != nil {
		return nil, err
	}
	if err := s.set(q, in.Attributes); err != nil {
		return nil, err
	}
	q.modified = time.Now()
	s.wake()
	return nil, nil
}

func (s at) getQueueAttributes(in queueInput) (any, *wire.Error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	q, err := s.find(in.QueueUrl)
	if err != nil {
		return nil, err
	}
	all := s.allAttributes(q)
	out := map[string]string{}
	for _, name := range in.AttributeNames {
		v, ok := all[name]
		switch {
		case name == "All":
			maps.Copy(out, all)
		case ok:
			out[name] = v
		case name != "RedrivePolicy" && name != "Policy" && name != "KmsMasterKeyId" && name != "RedriveAllowPolicy":
			return nil, refuse("InvalidAttributeName", "Unknown Attribute %s.", name)
		}
	}
	if len(out) == 0 {
		return nil, nil
	}
	return map[string]any{"Attributes": out}, nil
}

// allAttributes is called with mu held.
func (s *Server) allAttributes(q *queue) map[string]string {
	now := time.Now()
	s.settle(q, now)
	all := maps.Clone(q.attributes)
	visible, inFlight, delayed := 0, 0, 0
	for _, m := range q.messages {
		switch {
		case m.inFlight(now):
			inFlight++
		case m.visible.After(now):
			delayed++
		default:
			visible++
		}
	}
	all["QueueArn"] = s.arn(q.name)
	all["CreatedTimestamp"] = strconv.FormatInt(q.created.Unix(), 10)
	all["LastModifiedTimestamp"] = strconv.FormatInt(q.modified.Unix(), 10)
	all["ApproximateNumberOfMessages"] = strconv.Itoa(visible)
	all["ApproximateNumberOfMessagesNotVisible"] = strconv.Itoa(inFlight)
	all["ApproximateNumberOfMessagesDelayed"] = strconv.Itoa(delayed)
	if _, ok := all["SqsManagedSseEnabled"]; !ok {
		all["SqsManagedSseEnabled"] = "true"
	}
	return all
}
