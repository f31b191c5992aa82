package sqsd

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/claimonce/claimonce/awstest/internal/wire"
)

func (s *Server) arn(name string) string {
	return "arn:aws:sqs:" + s.region + ":" + s.account + ":" + name
}

func (s at) url(name string) string { return "http://" + s.host + "/" + s.account + "/" + name }

type urlOutput struct {
	QueueURL string `json:"QueueUrl"`
}

type createInput struct {
	QueueName  string
	Attributes map[string]string
	Tags       map[string]string
}

const fifoSuffix = ".fifo"

// check says whether the queue is a FIFO queue: name and attribute must agree.
func (in createInput) check() (fifo bool, refusal *wire.Error) {
	name, suffix := strings.CutSuffix(in.QueueName, fifoSuffix)
	switch v, given := in.Attributes["FifoQueue"]; {
	case v == "true" && (!suffix || !madeOf(name, 80-len(fifoSuffix), "_-")):
		return false, refuse("InvalidParameterValue", "The name of a FIFO queue can only include alphanumeric characters, hyphens, or underscores, must end with .fifo suffix and be 1 to 80 in length.")
	case v == "true":
		return true, nil
	case given:
		return false, refuse("InvalidAttributeName", "Unknown Attribute FifoQueue.")
	case !madeOf(in.QueueName, 80, "_-"):
		return false, refuse("InvalidParameterValue", "Can only include alphanumeric characters, hyphens, or underscores. 1 to 80 in length")
	}
	return false, nil
}

func (s at) createQueue(in createInput) (any, *wire.Error) {
	fifo, err := in.check()
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	q := newQueue(in.QueueName, fifo, time.Now())
	if err := s.apply(q, in.Attributes); err != nil {
		return nil, err
	}
	if old := s.queues[in.QueueName]; old != nil {
		for _, name := range slices.Sorted(maps.Keys(in.Attributes)) {
			if old.attributes[name] != q.attributes[name] {
				return nil, refuse("QueueNameExists", "A queue already exists with the same name and a different value for attribute %s", name)
			}
		}
		return urlOutput{s.url(old.name)}, nil
	}
	q.tags = maps.Clone(in.Tags)
	s.queues[in.QueueName] = q
	return urlOutput{s.url(q.name)}, nil
}

type queueInput struct {
	QueueUrl               string
	QueueName              string
	QueueOwnerAWSAccountID string `json:"QueueOwnerAWSAccountId"`
	AttributeNames         []string
	Attributes             map[string]string
	Tags                   map[string]string
	TagKeys                []string
}

func (s at) getQueueURL(in queueInput) (any, *wire.Error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if in.QueueName == "" {
		return nil, missing("QueueName")
	}
	if s.queues[in.QueueName] == nil || in.QueueOwnerAWSAccountID != "" && in.QueueOwnerAWSAccountID != s.account {
		return nil, noQueue()
	}
	return urlOutput{s.url(in.QueueName)}, nil
}

type listInput struct {
	QueueUrl        string // of a dead-letter queue
	QueueNamePrefix string
	MaxResults      *int
	NextToken       string // the last name of the page before
}

// page gives the names after the token that are wanted, and the token of the next page.
func (s *Server) page(in listInput, want func(*queue) bool) (names []string, next string, refusal *wire.Error) {
	limit := 1000
	if in.MaxResults != nil {
		if limit = *in.MaxResults; limit < 1 || limit > 1000 {
			return nil, "", badValue(limit, "MaxResults", "Must be between 1 and 1000, if provided.")
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.queues)) {
		if name <= in.NextToken || !want(s.queues[name]) {
			continue
		}
		if len(names) < limit {
			names = append(names, name)
			continue
		}
		if in.MaxResults != nil { // without it the list just ends
			next = names[limit-1]
		}
		break
	}
	return names, next, nil
}

func (s at) urls(names []string) []string {
	out := []string{}
	for _, name := range names {
		out = append(out, s.url(name))
	}
	return out
}

func (s at) listQueues(in listInput) (any, *wire.Error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	names, next, err := s.page(in, func(q *queue) bool { return strings.HasPrefix(q.name, in.QueueNamePrefix) })
	if err != nil {
		return nil, err
	}
	return struct {
		QueueUrls []string
		NextToken string `json:",omitempty"`
	}{s.urls(names), next}, nil
}

func (s at) deleteQueue(in queueInput) (any, *wire.Error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	q, err := s.find(in.QueueUrl)
	if err != nil {
		return nil, err
	}
	delete(s.queues, q.name)
	q.wake() // polls learn that it is gone
	return nil, nil
}

func (s at) purgeQueue(in queueInput) (any, *wire.Error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	q, err := s.find(in.QueueUrl)
	if err != nil {
		return nil, err
	}
	for _, m := range slices.Collect(maps.Values(q.byID)) {
		q.remove(m)
	}
	return nil, nil
}

func (s at) tagQueue(in queueInput) (any, *wire.Error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	q, err := s.find(in.QueueUrl)
	if err != nil {
		return nil, err
	}
	if q.tags == nil {
		q.tags = map[string]string{}
	}
	maps.Copy(q.tags, in.Tags)
	return nil, nil
}

func (s at) untagQueue(in queueInput) (any, *wire.Error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	q, err := s.find(in.QueueUrl)
	if err != nil {
		return nil, err
	}
	for _, name := range in.TagKeys {
		delete(q.tags, name)
	}
	return nil, nil
}

func (s at) listQueueTags(in queueInput) (any, *wire.Error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	q, err := s.find(in.QueueUrl)
	if err != nil {
		return nil, err
	}
	return struct {
		Tags map[string]string `json:",omitempty"`
	}{maps.Clone(q.tags)}, nil
}
