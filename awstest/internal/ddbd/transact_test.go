package ddbd_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestTransactionIsAllOrNothing(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.must("PutItem", `{'Item':{'pk':{'S':'guard'},'v':{'N':'1'}}}`)
	body := `{'TransactItems':[
		{'Put':{'TableName':'ttt','Item':{'pk':{'S':'new'}},'ConditionExpression':'attribute_not_exists(pk)'}},
		{'Update':{'TableName':'ttt','Key':{'pk':{'S':'count'}},'UpdateExpression':'ADD n :one','ExpressionAttributeValues':{':one':{'N':'1'}}}},
		{'ConditionCheck':{'TableName':'ttt','Key':{'pk':{'S':'guard'}},'ConditionExpression':'v = :v','ExpressionAttributeValues':{':v':{'N':'%d'}},'ReturnValuesOnConditionCheckFailure':'ALL_OLD'}},
		{'Delete':{'TableName':'ttt','Key':{'pk':{'S':'none'}}}}]}`
	err := r.refused("TransactWriteItems", fmt.Sprintf(body, 2), "TransactionCanceledException",
		"Transaction cancelled, please refer cancellation reasons for specific reasons [None, None, ConditionalCheckFailed, None]")
	r.same(r.decode(err.Fields)["CancellationReasons"], `[{'Code':'None'},{'Code':'None'},
		{'Code':'ConditionalCheckFailed','Item':{'pk':{'S':'guard'},'v':{'N':'1'}},'Message':'The conditional request failed'},{'Code':'None'}]`)
	if r.item("new") != nil || r.item("count") != nil {
		t.Error("a cancelled transaction wrote")
	}
	r.must("TransactWriteItems", fmt.Sprintf(body, 1))
	r.same(r.item("new"), `{'pk':{'S':'new'}}`)
	r.same(r.item("count"), `{'n':{'N':'1'},'pk':{'S':'count'}}`)
	r.same(r.item("guard"), `{'pk':{'S':'guard'},'v':{'N':'1'}}`)
}

func TestTransactionTokens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		add := func(token string, n int) string {
			return fmt.Sprintf(`{'ClientRequestToken':'%s','TransactItems':[{'Update':{'TableName':'ttt','Key':{'pk':{'S':'c'}},'UpdateExpression':'ADD n :n','ExpressionAttributeValues':{':n':{'N':'%d'}}}}]}`, token, n)
		}
		for range 3 {
			r.must("TransactWriteItems", add("tok", 1))
		}
		r.same(r.item("c").(obj)["n"], `{'N':'1'}`)
		r.refused("TransactWriteItems", add("tok", 2), "IdempotentParameterMismatchException", "")
		r.must("TransactWriteItems", add("other", 1))
		time.Sleep(10*time.Minute - time.Second)
		r.must("TransactWriteItems", add("tok", 1))
		r.same(r.item("c").(obj)["n"], `{'N':'2'}`)
		time.Sleep(time.Second)
		r.must("TransactWriteItems", add("tok", 1))
		r.same(r.item("c").(obj)["n"], `{'N':'3'}`)
	})
}

// A cancelled transaction did not happen, so its token must not answer for it.
func TestCancelledTransactionFreesItsToken(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	body := `{'ClientRequestToken':'tok','TransactItems':[{'Update':{'TableName':'ttt','Key':{'pk':{'S':'c'}},'UpdateExpression':'SET n = :n','ConditionExpression':'attribute_exists(pk)','ExpressionAttributeValues':{':n':{'N':'1'}}}}]}`
	r.refused("TransactWriteItems", body, "TransactionCanceledException", "[ConditionalCheckFailed]")
	r.must("PutItem", `{'Item':{'pk':{'S':'c'}}}`)
	r.must("TransactWriteItems", body)
	r.same(r.item("c").(obj)["n"], `{'N':'1'}`)
}

func TestTransactionRefusals(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.must("PutItem", `{'Item':{'pk':{'S':'s'},'a':{'S':'x'}}}`)
	put := `{'Put':{'TableName':'ttt','Item':{'pk':{'S':'p'}}}}`
	many := make([]string, 101)
	for i := range many {
		many[i] = strings.Replace(put, `'p'`, fmt.Sprintf(`'p%d'`, i), 1)
	}
	for _, tt := range []struct{ items, code, message string }{
		{"", "ValidationException", "Member must have length greater than or equal to 1"},
		{strings.Join(many, ","), "ValidationException", "Member must have length less than or equal to 100"},
		{put + `,{'Delete':{'TableName':'ttt','Key':{'pk':{'S':'p'}}}}`, "ValidationException", "Transaction request cannot include multiple operations on one item"},
		{`{}`, "ValidationException", "TransactItems can only contain one of Check, Put, Update or Delete"},
		{`{'ConditionCheck':{'TableName':'ttt','Key':{'pk':{'S':'p'}}}}`, "ValidationException", "conditionExpression"},
		{`{'Put':{'TableName':'nope','Item':{'pk':{'S':'p'}}}}`, "ResourceNotFoundException", ""},
		{put + `,{'Update':{'TableName':'ttt','Key':{'pk':{'S':'s'}},'UpdateExpression':'ADD a :n','ExpressionAttributeValues':{':n':{'N':'1'}}}}`, "TransactionCanceledException", "[None, ValidationError]"},
		{put + `,{'Delete':{'TableName':'ttt','Key':{'other':{'S':'s'}}}}`, "TransactionCanceledException", "[None, ValidationError]"},
		// What does not fit its table is found before any condition is tried, and alone.
		{`{'Delete':{'TableName':'ttt','Key':{'pk':{'N':'7'}}}},{'Delete':{'TableName':'ttt','Key':{'pk':{'N':'8'}}}},
			{'Put':{'TableName':'ttt','Item':{'pk':{'S':'p'}},'ConditionExpression':'attribute_exists(pk)'}}`, "TransactionCanceledException", "[ValidationError, None, None]"},
		{`{'Put':{'TableName':'ttt','Item':{'pk':{'S':'p'}},'ConditionExpression':'attribute_exists(#x)'}}`, "ValidationException", "#x"},
	} {
		r.refused("TransactWriteItems", `{'TransactItems':[`+tt.items+`]}`, tt.code, tt.message)
	}
	if r.item("p") != nil {
		t.Error("a refused transaction wrote")
	}
}

// The 4 MB limit is on what is sent: a small request may delete more than that.
func TestTransactionPayloadLimit(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	long := strings.Repeat("x", 100_000)
	var puts, deletes []string
	for i := range 50 {
		puts = append(puts, fmt.Sprintf(`{'Put':{'TableName':'ttt','Item':{'pk':{'S':'p%d'},'d':{'S':'%s'}}}}`, i, long))
		deletes = append(deletes, fmt.Sprintf(`{'Delete':{'TableName':'ttt','Key':{'pk':{'S':'p%d'}}}}`, i))
	}
	tx := func(items []string) string { return `{'TransactItems':[` + strings.Join(items, ",") + `]}` }
	r.refused("TransactWriteItems", tx(puts), "ValidationException", "Transaction payload size cannot exceed 4194304 bytes")
	r.must("TransactWriteItems", tx(puts[:30]))
	r.must("TransactWriteItems", tx(puts[30:]))
	r.must("TransactWriteItems", tx(deletes))
	r.same(r.must("Scan", `{'Select':'COUNT'}`)["Count"], `0`)
}

func TestTransactGet(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.must("PutItem", `{'Item':{'pk':{'S':'a'},'n':{'N':'1'},'m':{'N':'2'}}}`)
	out := r.must("TransactGetItems", `{'ReturnConsumedCapacity':'TOTAL','TransactItems':[{'Get':{'TableName':'ttt','Key':{'pk':{'S':'a'}},'ProjectionExpression':'n'}},{'Get':{'TableName':'ttt','Key':{'pk':{'S':'zz'}}}}]}`)
	r.same(out, `{'Responses':[{'Item':{'n':{'N':'1'}}},{}],'ConsumedCapacity':[{'TableName':'ttt','CapacityUnits':4,'ReadCapacityUnits':4}]}`)
}

func TestBatches(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	var puts, keys []string
	for i := range 25 {
		puts = append(puts, fmt.Sprintf(`{'PutRequest':{'Item':{'pk':{'S':'b%d'}}}}`, i))
		keys = append(keys, fmt.Sprintf(`{'pk':{'S':'b%d'}}`, i))
	}
	write := func(requests ...string) string {
		return `{'RequestItems':{'ttt':[` + strings.Join(requests, ",") + `]}}`
	}
	r.same(r.must("BatchWriteItem", write(puts...)), `{'UnprocessedItems':{}}`)
	get := r.must("BatchGetItem", `{'RequestItems':{'ttt':{'ConsistentRead':true,'Keys':[`+strings.Join(keys, ",")+`,{'pk':{'S':'zz'}}]}}}`)
	if n := len(get["Responses"].(obj)["ttt"].([]any)); n != 25 {
		t.Errorf("BatchGetItem: got %d items, want 25", n)
	}
	r.same(get["UnprocessedKeys"], `{}`)
	r.must("BatchWriteItem", write(`{'DeleteRequest':{'Key':{'pk':{'S':'b0'}}}}`))
	if r.item("b0") != nil {
		t.Error("the item of a DeleteRequest is still there")
	}
	one := `{'PutRequest':{'Item':{'pk':{'S':'one'}}}}`
	r.refused("BatchWriteItem", write(append(puts, one)...), "ValidationException", "Member must have length less than or equal to 25")
	r.refused("BatchWriteItem", write(one, one), "ValidationException", "Provided list of item keys contains duplicates")
	r.refused("BatchWriteItem", write(one, `{'PutRequest':{'Item':{'pk':{'N':'1'}}}}`), "ValidationException", "Type mismatch")
	r.refused("BatchGetItem", `{'RequestItems':{'ttt':{'Keys':[`+keys[0]+`,`+keys[0]+`]}}}`, "ValidationException", "Provided list of item keys contains duplicates")
	if r.item("one") != nil {
		t.Error("a refused batch wrote")
	}
}

func TestBatchGetHandsBackWhatDoesNotFit(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	big := strings.Repeat("x", 399<<10)
	var keys []string
	for i := range 50 {
		r.must("PutItem", fmt.Sprintf(`{'Item':{'pk':{'S':'b%d'},'d':{'S':'%s'}}}`, i, big))
		keys = append(keys, fmt.Sprintf(`{'pk':{'S':'b%d'}}`, i))
	}
	out := r.must("BatchGetItem", `{'RequestItems':{'ttt':{'ProjectionExpression':'pk','Keys':[`+strings.Join(keys, ",")+`]}}}`)
	got := len(out["Responses"].(obj)["ttt"].([]any))
	rest := out["UnprocessedKeys"].(obj)["ttt"].(obj)
	if left := len(rest["Keys"].([]any)); got != 41 || left != 9 || rest["ProjectionExpression"] != "pk" {
		t.Errorf("got %d items and %d keys back with projection %v, want 41, 9 and pk", got, left, rest["ProjectionExpression"])
	}
}
