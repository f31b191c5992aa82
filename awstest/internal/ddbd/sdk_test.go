package ddbd_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/claimonce/claimonce/awstest/internal/ddbd"
)

// direct lets the SDK call a server without a socket. What it puts on the wire is the
// protocol as documented, so the SDK's decoding of answers and errors is under test.
type direct struct{ srv *ddbd.Server }

func (d direct) Do(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	_, op, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	status := http.StatusOK
	out, werr := d.srv.Call(r.Context(), op, body)
	if werr != nil {
		fields := map[string]any{"__type": werr.Code, "message": werr.Message}
		maps.Copy(fields, werr.Fields)
		out, status = fields, werr.Status
	}
	answer, err := json.Marshal(out)
	return &http.Response{
		StatusCode: status, Request: r, Body: io.NopCloser(bytes.NewReader(answer)),
		Header: http.Header{"Content-Type": {"application/x-amz-json-1.0"}},
	}, err
}

func newSDK(t *testing.T) *dynamodb.Client {
	t.Helper()
	return dynamodb.New(dynamodb.Options{
		Region: "us-east-1", HTTPClient: direct{newRig(t).srv}, RetryMaxAttempts: 1,
		Credentials: credentials.NewStaticCredentialsProvider("AKIATEST", "test", ""),
	})
}

type values = map[string]types.AttributeValue

func str(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

func num(n int) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: fmt.Sprint(n)}
}

func text(v types.AttributeValue) string {
	s, _ := v.(*types.AttributeValueMemberS)
	if s == nil {
		return ""
	}
	return s.Value
}

func TestSDKReadsRefusals(t *testing.T) {
	t.Parallel()
	c := newSDK(t)
	put := &dynamodb.PutItemInput{
		TableName: aws.String("ttt"), Item: values{"pk": str("a"), "owner": str("w1")},
		ConditionExpression: aws.String("attribute_not_exists(pk)"), ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	}
	if _, err := c.PutItem(t.Context(), put); err != nil {
		t.Fatal(err)
	}
	_, err := c.PutItem(t.Context(), put)
	failed, ok := errors.AsType[*types.ConditionalCheckFailedException](err)
	if !ok || text(failed.Item["owner"]) != "w1" || failed.ErrorMessage() != "The conditional request failed" {
		t.Errorf("second put: got %v, want the typed error with the item", err)
	}

	_, err = c.TransactWriteItems(t.Context(), &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{
		{Put: &types.Put{TableName: aws.String("ttt"), Item: values{"pk": str("b")}}},
		{Put: &types.Put{
			TableName: put.TableName, Item: put.Item, ConditionExpression: put.ConditionExpression,
			ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
		}},
	}})
	cancelled, ok := errors.AsType[*types.TransactionCanceledException](err)
	if !ok || len(cancelled.CancellationReasons) != 2 {
		t.Fatalf("transaction: got %v, want the typed error with two reasons", err)
	}
	if r := cancelled.CancellationReasons[1]; aws.ToString(r.Code) != "ConditionalCheckFailed" || text(r.Item["owner"]) != "w1" {
		t.Errorf("second reason: got %s with %v", aws.ToString(r.Code), r.Item)
	}
	_, err = c.DescribeTable(t.Context(), &dynamodb.DescribeTableInput{TableName: aws.String("nope")})
	if _, ok := errors.AsType[*types.ResourceNotFoundException](err); !ok {
		t.Errorf("missing table: got %v", err)
	}
}

func TestSDKWaitsAndPages(t *testing.T) {
	t.Parallel()
	c := newSDK(t)
	table := aws.String("ttt")
	exists := dynamodb.NewTableExistsWaiter(c)
	if err := exists.Wait(t.Context(), &dynamodb.DescribeTableInput{TableName: table}, time.Minute); err != nil {
		t.Fatal(err)
	}
	var writes []types.WriteRequest
	for i := range 25 {
		item := values{"pk": str(fmt.Sprintf("b%02d", i)), "gpk": str("G"), "gsk": num(i), "odd": num(i % 2)}
		writes = append(writes, types.WriteRequest{PutRequest: &types.PutRequest{Item: item}})
	}
	if _, err := c.BatchWriteItem(t.Context(), &dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{"ttt": writes}}); err != nil {
		t.Fatal(err)
	}
	pages, items, scanned := 0, 0, 0
	p := dynamodb.NewQueryPaginator(c, &dynamodb.QueryInput{
		TableName: table, IndexName: aws.String("gsi1"), Limit: aws.Int32(4),
		KeyConditionExpression: aws.String("gpk = :g AND gsk BETWEEN :lo AND :hi"), FilterExpression: aws.String("odd = :one"),
		ExpressionAttributeValues: values{":g": str("G"), ":lo": num(3), ":hi": num(20), ":one": num(1)},
	})
	for p.HasMorePages() {
		out, err := p.NextPage(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		pages++
		items += len(out.Items)
		scanned += int(out.ScannedCount)
	}
	if pages != 5 || items != 9 || scanned != 18 {
		t.Errorf("got %d pages, %d items, %d scanned, want 5, 9, 18", pages, items, scanned)
	}
	described, err := c.DescribeTable(t.Context(), &dynamodb.DescribeTableInput{TableName: table})
	if err != nil || aws.ToInt64(described.Table.ItemCount) != 25 || described.Table.CreationDateTime.IsZero() {
		t.Errorf("describe: got %+v, %v", described, err)
	}
}

func TestSDKRoundTripsEveryType(t *testing.T) {
	t.Parallel()
	c := newSDK(t)
	raw := make([]byte, 256)
	for i := range raw {
		raw[i] = byte(i)
	}
	item := values{
		"pk": str("日本\u0000é"), "b": &types.AttributeValueMemberB{Value: raw}, "eb": &types.AttributeValueMemberB{Value: []byte{}},
		"bs": &types.AttributeValueMemberBS{Value: [][]byte{{1}, {2, 0}}}, "null": &types.AttributeValueMemberNULL{Value: true},
		"l": &types.AttributeValueMemberL{Value: []types.AttributeValue{str(""), &types.AttributeValueMemberM{Value: values{}}}},
	}
	if _, err := c.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("ttt"), Item: item}); err != nil {
		t.Fatal(err)
	}
	out, err := c.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: aws.String("ttt"), Key: values{"pk": item["pk"]}})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := fmt.Sprintf("%#v", plain(out.Item)), fmt.Sprintf("%#v", plain(item)); got != want {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
}

// plain makes values that print by content.
func plain(item values) map[string]string {
	out := map[string]string{}
	for name, v := range item {
		b, _ := json.Marshal(v) // SDK values hold only data
		out[name] = fmt.Sprintf("%T %s", v, b)
	}
	return out
}

// BenchmarkClaim is a claim lost to a holder: the request that decides how fast suites
// that use the server are.
func BenchmarkClaim(b *testing.B) {
	s := ddbd.New()
	if _, err := s.Call(b.Context(), "CreateTable", []byte(strings.Replace(createT, `"t"`, `"ttt"`, 1))); err != nil {
		b.Fatal(err)
	}
	body := []byte(strings.ReplaceAll(strings.Replace(claim("c", "w", 100, 130, 900), "{", "{'TableName':'ttt',", 1), "'", `"`))
	b.ReportAllocs()
	for b.Loop() {
		_, _ = s.Call(b.Context(), "PutItem", body) // the first wins, all others are refused
	}
}
