package ddbd_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/claimonce/claimonce/awstest/internal/ddbd"
)

// FuzzCall sends arbitrary bodies to every operation: whatever a client sends gets an
// answer or a refusal that can be marshalled, never a panic and never a 500.
func FuzzCall(f *testing.F) {
	ops := []string{
		"CreateTable", "DescribeTable", "UpdateTable", "DeleteTable", "ListTables", "UpdateTimeToLive", "DescribeTimeToLive",
		"PutItem", "GetItem", "UpdateItem", "DeleteItem", "Query", "Scan",
		"BatchGetItem", "BatchWriteItem", "TransactWriteItems", "TransactGetItems", "ExecuteStatement", "BatchExecuteStatement",
	}
	for op, body := range map[int]string{
		0:  createT,
		2:  `{"TableName":"ttt","GlobalSecondaryIndexUpdates":[{"Create":{}},null]}`,
		5:  `{"TableName":"ttt","TimeToLiveSpecification":{"AttributeName":"a","Enabled":true}}`,
		7:  `{"TableName":"ttt","Item":{"pk":{"S":"a"},"m":{"M":{"l":{"L":[{"N":"1"},null]}}}}}`,
		9:  `{"TableName":"ttt","Key":{"pk":{"S":"a"}},"UpdateExpression":"SET m.l[0] = :v","ExpressionAttributeValues":{":v":{"NS":["1"]}}}`,
		11: `{"TableName":"ttt","KeyConditionExpression":"pk = :v","ExclusiveStartKey":{},"ExpressionAttributeValues":{":v":{"S":"a"}}}`,
		12: `{"TableName":"ttt","Segment":0,"TotalSegments":3,"IndexName":"gsi1","Limit":1}`,
		13: `{"RequestItems":{"ttt":{"Keys":[{"pk":{"S":"a"}},null]}}}`,
		14: `{"RequestItems":{"ttt":[{"PutRequest":{}},{"DeleteRequest":{"Key":null}}]}}`,
		15: `{"TransactItems":[null,{"Put":{"TableName":"ttt"}}]}`,
		16: `{"TransactItems":[null,{"Get":{"TableName":"ttt"}}]}`,
		17: `{"Statement":"UPDATE ttt SET gsk = gsk + ? REMOVE m.l[0] WHERE pk = 'a' AND (x IS MISSING OR gsk <= 1)","Parameters":[{"N":"1"}]}`,
		18: `{"Statements":[null,{"Statement":"INSERT INTO ttt VALUE {'pk': <<1>>}"},{"Statement":"DELETE FROM ttt WHERE pk = 'a' RETURNING ALL OLD *"}]}`,
	} {
		f.Add(op, body)
	}
	f.Fuzz(func(t *testing.T, op int, body string) {
		s := ddbd.New()
		for _, setup := range [][2]string{
			{"CreateTable", strings.Replace(createT, `"t"`, `"ttt"`, 1)},
			{"PutItem", `{"TableName":"ttt","Item":{"pk":{"S":"a"},"gpk":{"S":"g"},"gsk":{"N":"1"},"m":{"M":{"l":{"L":[{"N":"1"}]}}}}}`},
		} {
			if _, err := s.Call(t.Context(), setup[0], []byte(setup[1])); err != nil {
				t.Fatal(err)
			}
		}
		name := ops[uint(op)%uint(len(ops))]
		out, err := s.Call(t.Context(), name, []byte(body))
		if err != nil {
			if err.Status != 400 || err.Code == "" {
				t.Fatalf("%s %s: %d %v", name, body, err.Status, err)
			}
			return
		}
		if _, err := json.Marshal(out); err != nil {
			t.Fatalf("%s %s: %v", name, body, err)
		}
	})
}
