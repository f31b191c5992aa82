package awstest_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	ddbtypes "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/claimonce/claimonce/awstest"
)

func TestTableIsLookedAtWithoutACall(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	if r.server.Table("tbl").Exists {
		t.Error("want no table before it is made")
	}
	r.table("tbl")
	if got := r.server.Table("tbl"); !got.Exists || len(got.Items) != 0 {
		t.Errorf("got %+v, want an empty table", got)
	}
	it := item("k")
	it["n"] = &ddbtypes.AttributeValueMemberN{Value: "12345678901234567890123456789012345678"}
	it["b"] = &ddbtypes.AttributeValueMemberB{Value: []byte{1, 2}}
	it["yes"] = &ddbtypes.AttributeValueMemberBOOL{Value: true}
	it["none"] = &ddbtypes.AttributeValueMemberNULL{Value: true}
	it["ss"] = &ddbtypes.AttributeValueMemberSS{Value: []string{"b", "a"}}
	it["ns"] = &ddbtypes.AttributeValueMemberNS{Value: []string{"2", "1"}}
	it["bs"] = &ddbtypes.AttributeValueMemberBS{Value: [][]byte{{3}}}
	it["l"] = &ddbtypes.AttributeValueMemberL{Value: []ddbtypes.AttributeValue{&ddbtypes.AttributeValueMemberM{Value: item("in")}}}
	_, err := r.dynamo.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("tbl"), Item: it})
	r.must(err)
	r.server.ResetCalls()
	before := r.server.Usage("tbl")
	got := r.server.Table("tbl").Items
	want := []map[string]any{{
		"pk": "k", "n": json.Number("12345678901234567890123456789012345678"), "b": []byte{1, 2}, "yes": true, "none": nil,
		"ss": []string{"a", "b"}, "ns": []json.Number{"1", "2"}, "bs": [][]byte{{3}}, "l": []any{map[string]any{"pk": "in"}},
	}}
	if fmt.Sprintf("%#v", got) != fmt.Sprintf("%#v", want) {
		t.Errorf("\n got %#v\nwant %#v", got, want)
	}
	got[0]["pk"], got[0]["b"].([]byte)[0] = "changed", 9
	if again := r.server.Table("tbl").Items[0]; again["pk"] != "k" || again["b"].([]byte)[0] != 1 {
		t.Error("what a test does to the items it looked at reached the table")
	}
	if n := r.server.Count(""); n != 0 || r.server.Usage("tbl") != before {
		t.Errorf("looking made %d calls and cost %+v", n, r.server.Usage("tbl"))
	}
}

// Group commits meet batches of which some statements fail.
func TestFailStatements(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.table("tbl")
	run := func(n int) string {
		var statements []ddbtypes.BatchStatementRequest
		for i := range n {
			statements = append(statements, ddbtypes.BatchStatementRequest{Statement: aws.String(fmt.Sprintf(`INSERT INTO tbl VALUE {'pk': 'k%d'}`, i))})
		}
		out, err := r.dynamo.BatchExecuteStatement(t.Context(), &dynamodb.BatchExecuteStatementInput{Statements: statements})
		r.must(err)
		var codes []string
		for _, answer := range out.Responses {
			code := "ok"
			if answer.Error != nil {
				code = string(answer.Error.Code)
			}
			codes = append(codes, code)
		}
		return strings.Join(codes, " ")
	}
	r.server.Inject(awstest.FailStatements("ThrottlingError", 0, 2, 3).Once())
	if got, want := run(4), "ThrottlingError ok ThrottlingError ThrottlingError"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got := r.server.Table("tbl").Items; len(got) != 1 || got[0]["pk"] != "k1" {
		t.Errorf("the table holds %v, want k1 alone", got)
	}
	r.server.Inject(awstest.FailStatements("TransactionConflict", 0, 1).Once())
	if got, want := run(2), "TransactionConflict TransactionConflict"; got != want {
		t.Errorf("a batch of which all fail: got %s, want %s", got, want)
	}
	if got, want := run(3), "ok DuplicateItem ok"; got != want {
		t.Errorf("without a fault: got %s, want %s", got, want)
	}
	remove := r.server.Inject(awstest.FailStatements("ThrottlingError", 0))
	defer remove()
	_, err := r.dynamo.BatchExecuteStatement(t.Context(), &dynamodb.BatchExecuteStatementInput{Statements: []ddbtypes.BatchStatementRequest{
		{Statement: aws.String(`INSERT INTO tbl VALUE {'pk': 'x'}`)},
		{Statement: aws.String(`SELECT * FROM tbl WHERE pk = 'y'`)},
		{Statement: aws.String(`INSERT INTO tbl VALUE {'pk': 'z'}`)},
	}})
	if err == nil || !strings.Contains(err.Error(), "ValidationException") {
		t.Errorf("a batch that is refused as a whole: got %v, want a ValidationException", err)
	}
}
