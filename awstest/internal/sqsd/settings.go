package sqsd

import (
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/claimonce/claimonce/awstest/internal/wire"
)

type bounds struct{ def, low, high int }

// numbers are the numeric settings of a queue, in the units of the API.
// https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SetQueueAttributes.html
func numbers() map[string]bounds {
	return map[string]bounds{
		"VisibilityTimeout":             {30, 0, 43200},
		"DelaySeconds":                  {0, 0, 900},
		"MaximumMessageSize":            {1 << 20, 1024, 1 << 20},
		"MessageRetentionPeriod":        {345600, 60, 1209600},
		"ReceiveMessageWaitTimeSeconds": {0, 0, 20},
	}
}

// fifoChoices are settings of FIFO queues only; the first choice is the default.
func fifoChoices() map[string][]string {
	return map[string][]string{
		"FifoQueue":                 {"true"},
		"ContentBasedDeduplication": {"false", "true"},
		"DeduplicationScope":        {"queue", "messageGroup"},
		"FifoThroughputLimit":       {"perQueue", "perMessageGroupId"},
	}
}

// otherSettings are kept as given, or checked elsewhere.
func otherSettings() []string {
	return []string{"Policy", "RedrivePolicy", "RedriveAllowPolicy", "KmsMasterKeyId", "KmsDataKeyReusePeriodSeconds", "SqsManagedSseEnabled"}
}

func defaults(fifo bool) map[string]string {
	out := map[string]string{"SqsManagedSseEnabled": "true"}
	for name, b := range numbers() {
		out[name] = strconv.Itoa(b.def)
	}
	if fifo {
		for name, choices := range fifoChoices() {
			out[name] = choices[0]
		}
	}
	return out
}

// apply sets attributes, or none of them if one is refused; called with mu held.
func (s *Server) apply(q *queue, attributes map[string]string) *wire.Error {
	next := maps.Clone(q.attributes)
	for _, name := range slices.Sorted(maps.Keys(attributes)) {
		v, err := s.canonical(q, name, attributes[name])
		if err != nil {
			return err
		}
		if next[name] = v; v == "" {
			delete(next, name) // that is how a policy is taken away
		}
	}
	if next["FifoThroughputLimit"] == "perMessageGroupId" && next["DeduplicationScope"] != "messageGroup" {
		return refuse("InvalidAttributeValue", "The perMessageGroupId value is allowed only when the value for DeduplicationScope is messageGroup.")
	}
	q.attributes = next
	q.redrive, _ = parseRedrive(next["RedrivePolicy"]) // checked by canonical
	return nil
}

// canonical checks one setting and gives it the form in which it is kept and compared.
func (s *Server) canonical(q *queue, name, v string) (string, *wire.Error) {
	if b, ok := numbers()[name]; ok {
		n, err := strconv.Atoi(v)
		if err != nil || n < b.low || n > b.high {
			return "", refuse("InvalidAttributeValue", "Invalid value for the parameter %s.", name)
		}
		return strconv.Itoa(n), nil
	}
	if choices, ok := fifoChoices()[name]; ok && q.fifo {
		if !slices.Contains(choices, v) {
			return "", refuse("InvalidAttributeValue", "Invalid value for the parameter %s.", name)
		}
		return v, nil
	}
	switch {
	case name == "RedrivePolicy" && v != "":
		return s.checkRedrive(q, v)
	case name == "RedriveAllowPolicy" && v != "":
		return checkAllow(v)
	case slices.Contains(otherSettings(), name):
		return v, nil
	}
	return "", refuse("InvalidAttributeName", "Unknown Attribute %s.", name)
}

func (s at) setQueueAttributes(in queueInput) (any, *wire.Error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	q, err := s.find(in.QueueUrl)
	if err != nil {
		return nil, err
	}
	if err := s.apply(q, in.Attributes); err != nil {
		return nil, err
	}
	q.modified = time.Now()
	q.wake()
	return nil, nil
}

func (s at) getQueueAttributes(in queueInput) (any, *wire.Error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	q, err := s.find(in.QueueUrl)
	if err != nil {
		return nil, err
	}
	all, out := s.allAttributes(q), map[string]string{}
	for _, name := range in.AttributeNames {
		v, ok := all[name]
		_, fifo := fifoChoices()[name]
		switch {
		case name == "All":
			maps.Copy(out, all)
		case ok:
			out[name] = v
		case !fifo && !slices.Contains(otherSettings(), name):
			return nil, refuse("InvalidAttributeName", "Unknown Attribute %s.", name)
		}
	}
	return struct {
		Attributes map[string]string `json:",omitempty"`
	}{out}, nil
}

// allAttributes is called with mu held.
func (s *Server) allAttributes(q *queue) map[string]string {
	visible, inFlight, delayed := q.counts(time.Now())
	all := maps.Clone(q.attributes)
	all["QueueArn"] = s.arn(q.name)
	all["CreatedTimestamp"] = strconv.FormatInt(q.created.Unix(), 10)
	all["LastModifiedTimestamp"] = strconv.FormatInt(q.modified.Unix(), 10)
	all["ApproximateNumberOfMessages"] = strconv.Itoa(visible)
	all["ApproximateNumberOfMessagesNotVisible"] = strconv.Itoa(inFlight)
	all["ApproximateNumberOfMessagesDelayed"] = strconv.Itoa(delayed)
	return all
}
