package sqsd

import (
	"slices"
	"strconv"
	"time"

	"github.com/claimonce/claimonce/awstest/internal/wire"
)

// moveTask is a redrive of dead letters. It is over when its start is answered, whatever rate was asked for.
type moveTask struct {
	handle string
	in     moveInput
	start  time.Time
	moved  int
}

type moveInput struct {
	SourceArn                    string
	DestinationArn               string
	MaxNumberOfMessagesPerSecond *int
	MaxResults                   *int
	TaskHandle                   string
}

type moveOutput struct {
	TaskHandle string
}

func (s at) startMove(in moveInput) (any, *wire.Error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	source, target, err := s.ends(in)
	if err != nil {
		return nil, err
	}
	if rate := in.MaxNumberOfMessagesPerSecond; rate != nil && (*rate < 1 || *rate > 500) {
		return nil, badValue(*rate, "MaxNumberOfMessagesPerSecond", "Must be between 1 and 500, if provided.")
	}
	now := time.Now()
	s.serial++
	task := moveTask{handle: "move-" + strconv.FormatInt(s.serial, 10), in: in, start: now}
	for _, m := range source.all(now) {
		to := target
		if to == nil {
			to = s.byARN(m.source)
		}
		if to == nil || m.visible.After(now) {
			continue // nowhere to go, or somebody has it
		}
		source.remove(m)
		s.arrive(to, m, now)
		task.moved++
	}
	s.tasks = append(s.tasks, task)
	return moveOutput{task.handle}, nil
}

// ends finds the queues of a move; target nil: each message goes back to where it came from.
func (s *Server) ends(in moveInput) (source, target *queue, refusal *wire.Error) {
	if in.SourceArn == "" {
		return nil, nil, missing("SourceArn")
	}
	if source = s.byARN(in.SourceArn); source == nil {
		return nil, nil, refuse("ResourceNotFoundException", "The resource that you specified for the SourceArn parameter doesn't exist.")
	}
	isTarget := false
	for _, q := range s.queues {
		isTarget = isTarget || q.redrive.Target == in.SourceArn
	}
	if !isTarget {
		return nil, nil, refuse("InvalidParameterValue", "Source queue must be configured as a Dead Letter Queue.")
	}
	if in.DestinationArn == "" {
		return source, nil, nil
	}
	if target = s.byARN(in.DestinationArn); target == nil {
		return nil, nil, refuse("ResourceNotFoundException", "The resource that you specified for the DestinationArn parameter doesn't exist.")
	}
	if target == source || target.fifo != source.fifo {
		return nil, nil, badValue(in.DestinationArn, "DestinationArn", "It must be another queue of the same type.")
	}
	return source, target, nil
}

// arrive puts a redriven message into a queue as a new one: with a new id, a new time of sending, and a count of 0.
// https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-configure-dead-letter-queue-redrive.html
func (s *Server) arrive(to *queue, m *message, now time.Time) {
	fresh := &message{
		id: s.newID(now), body: m.body, attributes: m.attributes, system: m.system, group: m.group, dedup: m.dedup,
		seq: s.serial, sent: now, visible: now.Add(to.seconds("DelaySeconds")),
	}
	to.insert(fresh, now)
}

func (s at) cancelMove(in moveInput) (any, *wire.Error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !slices.ContainsFunc(s.tasks, func(t moveTask) bool { return t.handle == in.TaskHandle }) {
		return nil, refuse("ResourceNotFoundException", "Task does not exist.")
	}
	return nil, refuse("InvalidParameterValue", "Only active tasks can be cancelled.")
}

type moveEntry struct {
	Status                            string
	SourceArn                         string
	DestinationArn                    string `json:",omitempty"`
	MaxNumberOfMessagesPerSecond      *int   `json:",omitempty"`
	ApproximateNumberOfMessagesMoved  int
	ApproximateNumberOfMessagesToMove int
	StartedTimestamp                  int64
}

// listMoves gives the newest tasks first. A task handle is shown of running tasks only, and none runs.
func (s at) listMoves(in moveInput) (any, *wire.Error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.byARN(in.SourceArn) == nil {
		return nil, refuse("ResourceNotFoundException", "The resource that you specified for the SourceArn parameter doesn't exist.")
	}
	limit := 1
	if in.MaxResults != nil {
		if limit = *in.MaxResults; limit < 1 || limit > 10 {
			return nil, badValue(limit, "MaxResults", "Must be between 1 and 10, if provided.")
		}
	}
	out := []moveEntry{}
	for _, t := range slices.Backward(s.tasks) {
		if t.in.SourceArn == in.SourceArn && len(out) < limit {
			out = append(out, moveEntry{
				Status: "COMPLETED", SourceArn: t.in.SourceArn, DestinationArn: t.in.DestinationArn,
				MaxNumberOfMessagesPerSecond:     t.in.MaxNumberOfMessagesPerSecond,
				ApproximateNumberOfMessagesMoved: t.moved, ApproximateNumberOfMessagesToMove: t.moved, StartedTimestamp: t.start.UnixMilli(),
			})
		}
	}
	return struct{ Results []moveEntry }{out}, nil
}
