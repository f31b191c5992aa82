package ddbd_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/claimonce/claimonce/awstest/internal/ddbd"
	"github.com/claimonce/claimonce/awstest/internal/wire"
)

// obj is decoded JSON.
type obj = map[string]any

// rig is a server with one table "t": partition key pk (S), index "gsi1" on gpk (S) and
// gsk (N).
type rig struct {
	*testing.T
	srv *ddbd.Server
}

const createT = `{"TableName":"t","BillingMode":"PAY_PER_REQUEST",
	"AttributeDefinitions":[{"AttributeName":"pk","AttributeType":"S"},{"AttributeName":"gpk","AttributeType":"S"},{"AttributeName":"gsk","AttributeType":"N"}],
	"KeySchema":[{"AttributeName":"pk","KeyType":"HASH"}],
	"GlobalSecondaryIndexes":[{"IndexName":"gsi1","Projection":{"ProjectionType":"ALL"},
		"KeySchema":[{"AttributeName":"gpk","KeyType":"HASH"},{"AttributeName":"gsk","KeyType":"RANGE"}]}]}`

func newRig(t *testing.T) *rig {
	t.Helper()
	r := &rig{t, ddbd.New()}
	r.must("CreateTable", strings.Replace(createT, `"t"`, `"ttt"`, 1))
	return r
}

// call sends a request; single quotes stand for double ones, and the table is filled in.
func (r *rig) call(op, body string) (obj, *wire.Error) {
	r.Helper()
	body = strings.ReplaceAll(body, "'", `"`)
	if !strings.Contains(body, "TableName") && !strings.Contains(body, "Items") && op != "ListTables" {
		body = strings.Replace(strings.Replace(body, "{", `{"TableName":"ttt",`, 1), ",}", "}", 1)
	}
	out, werr := r.srv.Call(r.Context(), op, []byte(body))
	if werr != nil {
		return nil, werr
	}
	return r.decode(out), nil
}

func (r *rig) decode(v any) obj {
	r.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		r.Fatalf("marshal %T: %v", v, err)
	}
	var o obj
	if err := json.Unmarshal(b, &o); err != nil {
		r.Fatalf("decode %s: %v", b, err)
	}
	return o
}

// json writes v as the JSON of a request.
func (r *rig) json(v any) string {
	r.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		r.Fatal(err)
	}
	return string(b)
}

func (r *rig) must(op, body string) obj {
	r.Helper()
	o, err := r.call(op, body)
	if err != nil {
		r.Fatalf("%s %s: %v", op, body, err)
	}
	return o
}

// refused checks the error's bare code and part of its message.
func (r *rig) refused(op, body, code, message string) *wire.Error {
	r.Helper()
	o, err := r.call(op, body)
	if err == nil {
		r.Fatalf("%s %s: got %v, want %s", op, body, o, code)
	}
	_, bare, _ := strings.Cut(err.Code, "#")
	if bare != code || !strings.Contains(err.Message, message) {
		r.Fatalf("%s %s:\n got %s: %s\nwant %s: %s", op, body, bare, err.Message, code, message)
	}
	return err
}

// same compares as JSON; want may use single quotes.
func (r *rig) same(got any, want string) {
	r.Helper()
	b, err := json.Marshal(got)
	if err != nil {
		r.Fatal(err)
	}
	var w any
	if err := json.Unmarshal([]byte(strings.ReplaceAll(want, "'", `"`)), &w); err != nil {
		r.Fatalf("want %s: %v", want, err)
	}
	wb, err := json.Marshal(w)
	if err != nil {
		r.Fatal(err)
	}
	if string(b) != string(wb) {
		r.Errorf("\n got %s\nwant %s", b, wb)
	}
}

func (r *rig) item(pk string) any {
	r.Helper()
	return r.must("GetItem", `{'ConsistentRead':true,'Key':{'pk':{'S':'`+pk+`'}}}`)["Item"]
}
