package awstest_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

func redriveTo(arn string, count any) string {
	return fmt.Sprintf(`{"deadLetterTargetArn":%q,"maxReceiveCount":%v}`, arn, count)
}

// withDead makes a queue whose messages go to another after two receives of ten seconds.
func (r *rig) withDead() (work, dead string) {
	r.Helper()
	dead = r.queue("dead")
	return r.queue("work", "VisibilityTimeout", "10", "RedrivePolicy", redriveTo(r.arn(dead), 2)), dead
}

// wear receives a message as often as it can be, and lets it become a dead letter.
func (r *rig) wear(work string) {
	r.Helper()
	for range 2 {
		r.one(work)
		time.Sleep(10 * time.Second)
	}
	r.wantBodies(r.receive(work))
}

func TestDeadLetterAfterTooManyReceives(t *testing.T) {
	bubble(t, func(r *rig) {
		work, dead := r.withDead()
		sent := r.send(work, "m", with(values{"k": text("v")}))
		r.send(work, "delayed", delayed(900))
		r.wear(work)
		r.wantCounts(work, "0/0/1")
		m := r.one(dead)
		a := m.Attributes
		if *m.MessageId != *sent.MessageId || *m.MessageAttributes["k"].StringValue != "v" || a["DeadLetterQueueSourceArn"] != r.arn(work) {
			r.Errorf("got id %s, attributes %v, %v, want id %s, its attribute and the source", *m.MessageId, m.MessageAttributes, a, *sent.MessageId)
		}
		// It keeps when it was sent and first received, and its count goes on.
		if a["SentTimestamp"] != "946684800000" || a["ApproximateFirstReceiveTimestamp"] != "946684800000" || receives(m) != 3 {
			r.Errorf("got %v, want the first times and a count of 3", a)
		}
	})
}

func TestDeadLetterNeedsARedeliveryToMove(t *testing.T) {
	bubble(t, func(r *rig) {
		work, dead := r.withDead()
		r.send(work, "m")
		for range 2 {
			r.one(work)
			time.Sleep(10 * time.Second)
		}
		r.wantCounts(work, "1/0/0") // nobody has asked since
		r.wantCounts(dead, "0/0/0")
		m := r.server.Messages("work")
		if len(m) != 1 || m[0].Receives != 2 {
			r.Errorf("got %v, want the message with 2 receives", m)
		}
	})
}

func TestDeadLetterIsNotMadeWhileInFlight(t *testing.T) {
	bubble(t, func(r *rig) {
		work, dead := r.withDead()
		r.send(work, "m")
		r.one(work)
		time.Sleep(10 * time.Second)
		last := r.one(work)
		r.wantBodies(r.receive(work))
		r.wantCounts(dead, "0/0/0")
		r.must(r.delete(work, last.ReceiptHandle))
		time.Sleep(time.Minute)
		r.wantBodies(r.receive(work))
		r.wantCounts(dead, "0/0/0")
	})
}

func TestDeadLetterExpiresByTheTimeItWasFirstSent(t *testing.T) {
	bubble(t, func(r *rig) {
		work, dead := r.withDead()
		r.must(r.setAttributes(dead, "MessageRetentionPeriod", "3600"))
		r.send(work, "m")
		time.Sleep(59 * time.Minute)
		r.wear(work) // takes 20 seconds
		r.wantCounts(dead, "1/0/0")
		time.Sleep(40 * time.Second)
		r.wantCounts(dead, "0/0/0")
	})
}

func TestDeadLetterWakesALongPollOfItsQueue(t *testing.T) {
	bubble(t, func(r *rig) {
		work, dead := r.withDead()
		r.send(work, "m")
		got, took := r.polled(dead, func() {
			for range 2 {
				r.one(work, hiddenFor(1))
				time.Sleep(time.Second)
			}
			r.wantBodies(r.receive(work))
		})
		r.wantBodies(got, "m")
		if took != 2*time.Second {
			r.Errorf("got it after %v, want 2s", took)
		}
	})
}

func TestRedrivePolicyIsChecked(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	dead, fifo := r.queue("dead"), r.queue("dead.fifo", "FifoQueue", "true")
	for name, policy := range map[string]string{
		"no such target":  redriveTo("arn:aws:sqs:us-east-1:000000000000:none", 3),
		"no ARN":          redriveTo("dead", 3),
		"another region":  redriveTo("arn:aws:sqs:eu-west-1:000000000000:dead", 3),
		"count too low":   redriveTo(r.arn(dead), 0),
		"count too high":  redriveTo(r.arn(dead), 1001),
		"no JSON":         "dead",
		"no count":        `{"deadLetterTargetArn":"` + r.arn(dead) + `"}`,
		"the other type":  redriveTo(r.arn(fifo), 3),
		"count no number": redriveTo(r.arn(dead), `"x"`),
	} {
		if err := r.create("work", "RedrivePolicy", policy); err == nil {
			t.Errorf("%s: accepted", name)
		} else {
			coded(t, err, "InvalidParameterValue", "RedrivePolicy")
		}
	}
	// As a string the count means the same.
	work := r.queue("work", "RedrivePolicy", redriveTo(r.arn(dead), `"3"`))
	r.queue("work", "RedrivePolicy", redriveTo(r.arn(dead), 3))
	typed[*types.QueueNameExists](t, r.create("work", "RedrivePolicy", redriveTo(r.arn(dead), 4)))
	r.must(r.setAttributes(work, "RedrivePolicy", ""))
	if p, ok := r.attributes(work)["RedrivePolicy"]; ok {
		t.Errorf("got policy %q after it was taken away", p)
	}
}

func TestRedriveAllowPolicy(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	dead := r.queue("dead")
	a, b := r.queue("a"), r.queue("b")
	for policy, want := range map[string][2]bool{
		"":                                 {true, true},
		`{"redrivePermission":"allowAll"}`: {true, true},
		`{"redrivePermission":"denyAll"}`:  {false, false},
		`{"redrivePermission":"byQueue","sourceQueueArns":["` + r.arn(a) + `"]}`: {true, false},
	} {
		r.must(r.setAttributes(dead, "RedriveAllowPolicy", policy))
		for i, q := range []string{a, b} {
			if err := r.setAttributes(q, "RedrivePolicy", redriveTo(r.arn(dead), 1)); (err == nil) != want[i] {
				t.Errorf("policy %s, queue %s: got %v, want accepted %v", policy, queueName(q), err, want[i])
			}
		}
	}
	for _, policy := range []string{"x", `{}`, `{"redrivePermission":"byQueue"}`, `{"redrivePermission":"allowAll","sourceQueueArns":["` + r.arn(a) + `"]}`} {
		if err := r.setAttributes(dead, "RedriveAllowPolicy", policy); err == nil {
			t.Errorf("policy %s: accepted", policy)
		}
	}
}

func TestListDeadLetterSourceQueues(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	dead, other := r.queue("dead"), r.queue("other")
	var want []string
	for _, name := range []string{"a", "b", "c"} {
		want = append(want, r.queue(name, "RedrivePolicy", redriveTo(r.arn(dead), 1)))
	}
	r.queue("d", "RedrivePolicy", redriveTo(r.arn(other), 1))
	pages := sqs.NewListDeadLetterSourceQueuesPaginator(r.sqs, &sqs.ListDeadLetterSourceQueuesInput{QueueUrl: &dead, MaxResults: aws.Int32(2)})
	var got []string
	for pages.HasMorePages() {
		out, err := pages.NextPage(t.Context())
		r.must(err)
		got = append(got, out.QueueUrls...)
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func (r *rig) move(source, destination string) error {
	in := &sqs.StartMessageMoveTaskInput{SourceArn: &source}
	if destination != "" {
		in.DestinationArn = &destination
	}
	_, err := r.sqs.StartMessageMoveTask(r.Context(), in)
	return err
}

func TestMoveTaskBringsDeadLettersBack(t *testing.T) {
	bubble(t, func(r *rig) {
		work, dead := r.withDead()
		sent := r.send(work, "m", with(values{"k": text("v")}))
		r.wear(work)
		r.must(r.move(r.arn(dead), ""))
		r.wantCounts(dead, "0/0/0")
		m := r.one(work)
		// A new message to SQS: what a consumer may rely on is in its attributes.
		if *m.MessageId == *sent.MessageId || receives(m) != 1 || m.Attributes["SentTimestamp"] != "946684820000" || *m.MessageAttributes["k"].StringValue != "v" {
			r.Errorf("got %v %v, want a new id and time, a count of 1, and the attribute", *m.MessageId, m.Attributes)
		}
		list, err := r.sqs.ListMessageMoveTasks(r.Context(), &sqs.ListMessageMoveTasksInput{SourceArn: aws.String(r.arn(dead))})
		r.must(err)
		if len(list.Results) != 1 || *list.Results[0].Status != "COMPLETED" || list.Results[0].ApproximateNumberOfMessagesMoved != 1 {
			r.Errorf("got %v, want one completed task of one message", list.Results)
		}
	})
}

func TestMoveTaskLeavesWhatItCannotMove(t *testing.T) {
	bubble(t, func(r *rig) {
		work, dead := r.withDead()
		other := r.queue("other")
		r.send(dead, "sent here by hand")
		r.send(work, "m")
		r.wear(work)
		r.one(dead, atMost(1)) // the first is in flight
		r.must(r.move(r.arn(dead), r.arn(other)))
		r.wantCounts(dead, "0/1/0")
		r.wantCounts(other, "1/0/0")
		time.Sleep(30 * time.Second)
		r.must(r.move(r.arn(dead), "")) // it came from no queue
		r.wantCounts(dead, "1/0/0")
		list, err := r.sqs.ListMessageMoveTasks(r.Context(), &sqs.ListMessageMoveTasksInput{SourceArn: aws.String(r.arn(dead)), MaxResults: aws.Int32(10)})
		r.must(err)
		if len(list.Results) != 2 || list.Results[0].ApproximateNumberOfMessagesMoved != 0 || list.Results[1].ApproximateNumberOfMessagesMoved != 1 {
			r.Errorf("got %v, want the newest task first", list.Results)
		}
	})
}

func TestMoveTaskRefused(t *testing.T) {
	bubble(t, func(r *rig) {
		work, dead := r.withDead()
		r.queue("dead.fifo", "FifoQueue", "true")
		typed[*types.ResourceNotFoundException](r.T, r.move(r.arn(dead)+"x", ""))
		typed[*types.ResourceNotFoundException](r.T, r.move(r.arn(dead), r.arn(dead)+"x"))
		coded(r.T, r.move(r.arn(work), ""), "InvalidParameterValue", "Dead Letter Queue")
		coded(r.T, r.move(r.arn(dead), r.arn(dead)), "InvalidParameterValue", "another queue")
		coded(r.T, r.move(r.arn(dead), r.arn(dead)+".fifo"), "InvalidParameterValue", "same type")
		_, err := r.sqs.CancelMessageMoveTask(r.Context(), &sqs.CancelMessageMoveTaskInput{TaskHandle: aws.String("none")})
		typed[*types.ResourceNotFoundException](r.T, err)
		out, err := r.sqs.StartMessageMoveTask(r.Context(), &sqs.StartMessageMoveTaskInput{SourceArn: aws.String(r.arn(dead))})
		r.must(err)
		_, err = r.sqs.CancelMessageMoveTask(r.Context(), &sqs.CancelMessageMoveTaskInput{TaskHandle: out.TaskHandle})
		coded(r.T, err, "InvalidParameterValue", "active")
	})
}
