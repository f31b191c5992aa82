package ddbd_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/claimonce/claimonce/awstest/internal/ddbd"
)

func TestConsumedCapacity(t *testing.T) {
	t.Parallel()
	big := strings.Repeat("x", 2500)
	tests := []struct {
		name, op, body string
		want           string
	}{
		{"put rounds up to 1 KB", "PutItem", `{'Item':{'pk':{'S':'a'},'d':{'S':'` + big + `'}}`, `{'CapacityUnits':3}`},
		{"put of a smaller item is billed at the old size", "PutItem", `{'Item':{'pk':{'S':'big'}}`, `{'CapacityUnits':3}`},
		{"delete is billed at the old size", "DeleteItem", `{'Key':{'pk':{'S':'big'}}`, `{'CapacityUnits':3}`},
		{"delete of nothing", "DeleteItem", `{'Key':{'pk':{'S':'none'}}`, `{'CapacityUnits':1}`},
		{"consistent read", "GetItem", `{'ConsistentRead':true,'Key':{'pk':{'S':'big'}}`, `{'CapacityUnits':1}`},
		{"eventually consistent read", "GetItem", `{'Key':{'pk':{'S':'big'}}`, `{'CapacityUnits':0.5}`},
		{"read of nothing", "GetItem", `{'ConsistentRead':true,'Key':{'pk':{'S':'none'}}`, `{'CapacityUnits':1}`},
		{"new index entry", "PutItem", `{'Item':{'pk':{'S':'a'},'gpk':{'S':'G'},'gsk':{'N':'1'}}`, `{'CapacityUnits':2,'GSI':1}`},
		{"index entry unchanged", "PutItem", `{'Item':{'pk':{'S':'in'},'gpk':{'S':'G'},'gsk':{'N':'1'}}`, `{'CapacityUnits':1}`},
		{"index entry changed", "UpdateItem", `{'Key':{'pk':{'S':'in'}},'UpdateExpression':'SET x = :x','ExpressionAttributeValues':{':x':{'N':'2'}}`, `{'CapacityUnits':2,'GSI':1}`},
		{"index key changed", "UpdateItem", `{'Key':{'pk':{'S':'in'}},'UpdateExpression':'SET gsk = :x','ExpressionAttributeValues':{':x':{'N':'2'}}`, `{'CapacityUnits':3,'GSI':2}`},
		{"left the index", "UpdateItem", `{'Key':{'pk':{'S':'in'}},'UpdateExpression':'REMOVE gsk'`, `{'CapacityUnits':2,'GSI':1}`},
		{"query", "Query", `{'IndexName':'gsi1','KeyConditionExpression':'gpk = :g','ExpressionAttributeValues':{':g':{'S':'G'}}`, `{'CapacityUnits':0.5,'GSI':0.5}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.must("PutItem", `{'Item':{'pk':{'S':'big'},'d':{'S':'`+big+`'}}}`)
			r.must("PutItem", `{'Item':{'pk':{'S':'in'},'gpk':{'S':'G'},'gsk':{'N':'1'}}}`)
			got := r.must(tt.op, tt.body+`,'ReturnConsumedCapacity':'INDEXES'}`)["ConsumedCapacity"].(obj)
			flat := obj{"CapacityUnits": got["CapacityUnits"]}
			if gsi, ok := got["GlobalSecondaryIndexes"]; ok {
				flat["GSI"] = gsi.(obj)["gsi1"].(obj)["CapacityUnits"]
			}
			r.same(flat, tt.want)
		})
	}
}

// AWS bills a refused conditional write, and its answer does not say so.
func TestRefusedWritesAreBilled(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.must("PutItem", fmt.Sprintf(`{'Item':{'pk':{'S':'c'},'d':{'S':'%s'}}}`, strings.Repeat("x", 2500)))
	before := r.srv.Usage("ttt")
	r.refused("PutItem", `{'Item':{'pk':{'S':'c'}},'ConditionExpression':'attribute_not_exists(pk)'}`, "ConditionalCheckFailedException", "")
	if got := r.srv.Usage("ttt").Write - before.Write; got != 3 {
		t.Errorf("refused put: billed %v units, want 3 for the stored 2.5 KB", got)
	}
	before = r.srv.Usage("ttt")
	r.refused("TransactWriteItems", `{'TransactItems':[{'Delete':{'TableName':'ttt','Key':{'pk':{'S':'none'}},'ConditionExpression':'attribute_exists(pk)'}}]}`, "TransactionCanceledException", "")
	if got := r.srv.Usage("ttt").Write - before.Write; got != 2 {
		t.Errorf("cancelled transaction: billed %v units, want 2", got)
	}
	if got := r.srv.Usage("nope"); got != (ddbd.Usage{}) {
		t.Errorf("usage of no table: got %+v", got)
	}
}

func TestTransactionCapacityIsDouble(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	body := `{'ClientRequestToken':'x','ReturnConsumedCapacity':'TOTAL','TransactItems':[{'Put':{'TableName':'ttt','Item':{'pk':{'S':'a'},'gpk':{'S':'G'},'gsk':{'N':'1'}}}}]}`
	r.same(r.must("TransactWriteItems", body)["ConsumedCapacity"], `[{'TableName':'ttt','CapacityUnits':4,'WriteCapacityUnits':4}]`)
	r.same(r.must("TransactWriteItems", body)["ConsumedCapacity"], `[{'TableName':'ttt','CapacityUnits':2,'ReadCapacityUnits':2}]`)
}
