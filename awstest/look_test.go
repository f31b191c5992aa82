package awstest_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	ddbtypes "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/claimonce/claimonce/awstest"
)

func TestQueueIsLookedAtWithoutReceiving(t *testing.T) {
	bubble(t, func(r *rig) {
		if q := r.server.Queue("q"); q.Exists || r.server.Messages("q") != nil {
			r.Errorf("got %v for a queue that does not exist", q)
		}
		url := r.queue("q", "MessageRetentionPeriod", "3600")
		if q := r.server.Queue("q"); !q.Exists || len(q.Messages) != 0 {
			r.Errorf("got %v for an empty queue", q)
		}
		start := time.Now()
		r.send(url, "flying", with(values{"k": text("v"), "b": binary([]byte{1, 2})}), func(in *sqs.SendMessageInput) { in.MessageGroupId = aws.String("g") })
		id := *r.one(url, hiddenFor(60)).MessageId
		time.Sleep(time.Second)
		r.send(url, "visible")
		r.send(url, "delayed", delayed(9))
		q := r.server.Queue("q")
		if q.Visible != 1 || q.InFlight != 1 || q.Delayed != 1 || len(q.Messages) != 3 {
			r.Fatalf("got %+v, want one of each", q)
		}
		want := awstest.Message{
			ID: id, Body: "flying", Attributes: pairs("k", "v", "b", "AQI="), SentAt: start, VisibleAt: start.Add(time.Minute),
			Receives: 1, InFlight: true, Group: "g",
		}
		if !reflect.DeepEqual(q.Messages[0], want) {
			r.Errorf("got %+v\nwant %+v", q.Messages[0], want)
		}
		if m := q.Messages[2]; m.Body != "delayed" || !m.VisibleAt.Equal(start.Add(10*time.Second)) || m.InFlight || m.Receives != 0 {
			r.Errorf("got %+v, want the delayed one", m)
		}
		time.Sleep(10 * time.Second)
		for range 2 { // looking changes nothing
			if q := r.server.Queue("q"); q.Visible != 2 || q.InFlight != 1 {
				r.Errorf("got %+v, want two visible and one in flight", q)
			}
		}
		time.Sleep(time.Hour)
		if got := r.server.Messages("q"); len(got) != 0 {
			r.Errorf("got %v, want nothing after the retention period", got)
		}
	})
}

func TestCalls(t *testing.T) {
	bubble(t, func(r *rig) {
		r.table("tbl")
		q := r.queue("q")
		r.server.ResetCalls()
		r.send(q, "m")
		time.Sleep(time.Second)
		r.must(r.put(r.Context(), "tbl", "k"))
		r.server.Inject(awstest.FailBefore("PutItem", 500, "InternalServerError").Once())
		r.must(r.put(r.Context(), "tbl", "k2"))
		var got []string
		for _, c := range r.server.Calls() {
			got = append(got, c.Service+"."+c.Operation)
		}
		if want := "sqs.SendMessage dynamodb.PutItem dynamodb.PutItem dynamodb.PutItem"; strings.Join(got, " ") != want {
			r.Errorf("got calls %q, want %s", got, want)
		}
		if r.server.Count("PutItem") != 3 || r.server.Count("") != 4 || r.server.Count("DeleteItem") != 0 {
			r.Errorf("got counts %d, %d, %d, want 3, 4, 0", r.server.Count("PutItem"), r.server.Count(""), r.server.Count("DeleteItem"))
		}
		calls := r.server.Calls()
		var in struct{ MessageBody string }
		if err := calls[0].Decode(&in); err != nil || in.MessageBody != "m" {
			r.Errorf("got %v, %v, want the message", in, err)
		}
		if d := calls[1].Time.Sub(calls[0].Time); d != time.Second || !json.Valid(calls[1].Body) {
			r.Errorf("the second call came %v after the first, want 1s", d)
		}
		r.server.ResetCalls()
		if len(r.server.Calls()) != 0 || r.server.Count("") != 0 || r.server.Count("PutItem") != 0 || len(calls) != 4 {
			r.Error("calls were not forgotten, or those handed out changed")
		}
	})
}

func TestCallsAreBoundedAndCounted(t *testing.T) {
	t.Parallel()
	server := awstest.New(awstest.Config{})
	client := server.Client()
	for range 10_001 {
		post(t, client, "http://aws.invalid", "AmazonSQS.Nope", strings.NewReader("{}"))
	}
	if len(server.Calls()) != 10_000 || server.Count("Nope") != 10_001 {
		t.Errorf("got %d calls, count %d, want 10000 and 10001", len(server.Calls()), server.Count("Nope"))
	}
	server.ResetCalls()
	big := strings.Repeat(" ", 10<<20)
	for range 8 {
		post(t, client, "http://aws.invalid", "AmazonSQS.Nope", strings.NewReader(big))
	}
	if len(server.Calls()) != 6 || server.Count("Nope") != 8 {
		t.Errorf("got %d calls of 10 MiB, count %d, want 6 and 8", len(server.Calls()), server.Count("Nope"))
	}
}

func TestUsage(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.table("tbl")
	r.must(r.put(t.Context(), "tbl", "k"))
	_, err := r.dynamo.PutItem(t.Context(), &dynamodb.PutItemInput{
		TableName: aws.String("tbl"), Item: item("k"), ConditionExpression: aws.String("attribute_not_exists(pk)"),
	})
	typed[*ddbtypes.ConditionalCheckFailedException](t, err)
	r.has("tbl", "k", true)
	r.has("tbl", "k", false)
	if got, want := r.server.Usage("tbl"), (awstest.Usage{Read: 1.5, Write: 2, Requests: 4}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if got := r.server.Usage("none"); got != (awstest.Usage{}) {
		t.Errorf("got %+v for a table that does not exist", got)
	}
}

func TestStaleReads(t *testing.T) {
	bubble(t, func(r *rig) {
		r.table("tbl")
		time.Sleep(time.Minute)
		r.server.StaleReads(2 * time.Second)
		r.must(r.put(r.Context(), "tbl", "k"))
		time.Sleep(time.Second)
		if r.has("tbl", "k", false) || !r.has("tbl", "k", true) {
			r.Error("want a stale read without the item, and a consistent one with it")
		}
		time.Sleep(time.Second)
		if !r.has("tbl", "k", false) {
			r.Error("want the item after the time that reads are stale")
		}
		r.must(r.put(r.Context(), "tbl", "k2"))
		r.server.StaleReads(0)
		if !r.has("tbl", "k2", false) {
			r.Error("want the item when reads are no longer stale")
		}
	})
}

func TestDeleteExpired(t *testing.T) {
	bubble(t, func(r *rig) {
		r.table("tbl")
		_, err := r.dynamo.UpdateTimeToLive(r.Context(), &dynamodb.UpdateTimeToLiveInput{TableName: aws.String("tbl"), TimeToLiveSpecification: &ddbtypes.TimeToLiveSpecification{
			AttributeName: aws.String("ttl"), Enabled: aws.Bool(true),
		}})
		r.must(err)
		for i, after := range []time.Duration{time.Minute, time.Hour} {
			it := item(fmt.Sprint("k", i))
			it["ttl"] = &ddbtypes.AttributeValueMemberN{Value: fmt.Sprint(time.Now().Add(after).Unix())}
			_, err := r.dynamo.PutItem(r.Context(), &dynamodb.PutItemInput{TableName: aws.String("tbl"), Item: it})
			r.must(err)
		}
		time.Sleep(2 * time.Minute)
		if !r.has("tbl", "k0", true) {
			r.Error("expired items stay until they are deleted")
		}
		if n := r.server.DeleteExpired(time.Now()); n != 1 || r.has("tbl", "k0", true) || !r.has("tbl", "k1", true) {
			r.Errorf("deleted %d, want the one that is expired", n)
		}
	})
}

func TestConfig(t *testing.T) {
	t.Parallel()
	server := awstest.New(awstest.Config{Region: "eu-central-1", AccountID: "123456789012"})
	r := rigOf(t, server, configOf(server))
	q := r.queue("q")
	if got, want := r.arn(q), "arn:aws:sqs:eu-central-1:123456789012:q"; got != want || !strings.Contains(q, "/123456789012/") {
		t.Errorf("got %s at %s, want %s", got, q, want)
	}
	r.table("tbl")
	out, err := r.dynamo.DescribeTable(t.Context(), &dynamodb.DescribeTableInput{TableName: aws.String("tbl")})
	r.must(err)
	if got, want := *out.Table.TableArn, "arn:aws:dynamodb:eu-central-1:123456789012:table/tbl"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
