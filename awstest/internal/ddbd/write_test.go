package ddbd_test

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

const claimCondition = `'ConditionExpression':'attribute_not_exists(pk) OR expires_at <= :now OR (#s = :ip AND locked_until <= :now)',
	'ExpressionAttributeNames':{'#s':'status'}`

func claim(pk, owner string, now, locked, expires int) string {
	return fmt.Sprintf(`{'Item':{'pk':{'S':'%s'},'status':{'S':'ip'},'owner':{'S':'%s'},'locked_until':{'N':'%d'},'expires_at':{'N':'%d'}},
		%s,'ExpressionAttributeValues':{':now':{'N':'%d'},':ip':{'S':'ip'}},'ReturnValuesOnConditionCheckFailure':'ALL_OLD'}`,
		pk, owner, locked, expires, claimCondition, now)
}

func TestClaimReturnsHolderOnFailure(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.must("PutItem", claim("c", "w1", 100, 130, 900))
	err := r.refused("PutItem", claim("c", "w2", 100, 130, 900), "ConditionalCheckFailedException", "The conditional request failed")
	r.same(r.decode(err.Fields)["Item"], `{'pk':{'S':'c'},'status':{'S':'ip'},'owner':{'S':'w1'},'locked_until':{'N':'130'},'expires_at':{'N':'900'}}`)

	quiet := strings.Replace(claim("c", "w2", 100, 130, 900), "ALL_OLD", "NONE", 1)
	if err := r.refused("PutItem", quiet, "ConditionalCheckFailedException", ""); err.Fields != nil {
		t.Errorf("Item returned although not asked for: %v", err.Fields)
	}
}

func TestClaimTakesOverExpired(t *testing.T) {
	t.Parallel()
	for name, times := range map[string][2]int{"lock": {95, 900}, "record": {130, 99}, "numeric, not textual": {9, 900}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.must("PutItem", claim("c", "w1", 0, times[0], times[1]))
			out := r.must("PutItem", strings.Replace(claim("c", "w2", 100, 130, 900), "{", "{'ReturnValues':'ALL_OLD',", 1))
			r.same(out["Attributes"].(obj)["owner"], `{'S':'w1'}`)
			r.same(r.item("c").(obj)["owner"], `{'S':'w2'}`)
		})
	}
}

func TestMissingAttributeComparesFalse(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.must("PutItem", `{'Item':{'pk':{'S':'c'},'status':{'S':'ip'}}}`)
	r.refused("PutItem", claim("c", "w2", 100, 130, 900), "ConditionalCheckFailedException", "")
}

func TestRacingClaimsHaveOneWinner(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	var wins atomic.Int32
	var wg sync.WaitGroup
	for g := range 32 {
		wg.Go(func() {
			if _, err := r.call("PutItem", claim("c", fmt.Sprint(g), 100, 130, 900)); err == nil {
				wins.Add(1)
			}
		})
	}
	wg.Wait()
	if wins.Load() != 1 {
		t.Errorf("got %d winners, want 1", wins.Load())
	}
}

func TestUpdateItem(t *testing.T) {
	t.Parallel()
	start := `{'pk':{'S':'u'},'n':{'N':'1'},'s':{'S':'x'},'ss':{'SS':['a','b']},'l':{'L':[{'N':'0'},{'N':'1'},{'N':'2'}]},'m':{'M':{'k':{'N':'1'},'l':{'L':[{'S':'a'},{'S':'b'}]}}}}`
	tests := map[string]struct{ update, values, want string }{
		"set, remove, add":                {"SET s = :v REMOVE m, l ADD n :one", `':v':{'S':'y'},':one':{'N':'1'}`, `{'n':{'N':'2'},'pk':{'S':'u'},'s':{'S':'y'},'ss':{'SS':['a','b']}}`},
		"sections in any order and case":  {"add n :one remove m, l, ss set s = n", `':one':{'N':'-1.5'}`, `{'n':{'N':'-0.5'},'pk':{'S':'u'},'s':{'N':'1'}}`},
		"right sides see the old item":    {"SET n = n + :one, s = n REMOVE l, m, ss", `':one':{'N':'1'}`, `{'n':{'N':'2'},'pk':{'S':'u'},'s':{'N':'1'}}`},
		"list_append creates":             {"SET h = list_append(if_not_exists(h, :e), :v) REMOVE l, m, ss, s, n", `':e':{'L':[]},':v':{'L':[{'S':'e1'}]}`, `{'h':{'L':[{'S':'e1'}]},'pk':{'S':'u'}}`},
		"nested":                          {"SET m.k = m.k + :one, m.l[0] = :one REMOVE m.l[1], l, ss, s, n", `':one':{'N':'1'}`, `{'m':{'M':{'k':{'N':'2'},'l':{'L':[{'N':'1'}]}}},'pk':{'S':'u'}}`},
		"removes mean old indexes":        {"REMOVE l[0], l[2], m, ss, s, n", ``, `{'l':{'L':[{'N':'1'}]},'pk':{'S':'u'}}`},
		"beyond the end appends in order": {"SET l[9] = :b, l[7] = :a REMOVE m, ss, s, n, l[0]", `':a':{'S':'a'},':b':{'S':'b'}`, `{'l':{'L':[{'N':'1'},{'N':'2'},{'S':'a'},{'S':'b'}]},'pk':{'S':'u'}}`},
		"sets grow and shrink":            {"ADD ss :c DELETE l2 :c REMOVE l, m, s, n", `':c':{'SS':['c','a']}`, `{'pk':{'S':'u'},'ss':{'SS':['a','b','c']}}`},
		"emptied set goes":                {"DELETE ss :ab REMOVE l, m, s, n", `':ab':{'SS':['a','b']}`, `{'pk':{'S':'u'}}`},
		"subtract":                        {"SET n = :ten - n REMOVE l, m, s, ss", `':ten':{'N':'10'}`, `{'n':{'N':'9'},'pk':{'S':'u'}}`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.must("PutItem", `{'Item':`+start+`}`)
			values := ""
			if tt.values != "" {
				values = `'ExpressionAttributeValues':{` + tt.values + `},`
			}
			out := r.must("UpdateItem", `{'Key':{'pk':{'S':'u'}},`+values+`'UpdateExpression':'`+tt.update+`','ReturnValues':'ALL_NEW'}`)
			r.same(out["Attributes"], tt.want)
			r.same(r.item("u"), tt.want)
		})
	}
}

// An update that only takes away does nothing on an item that does not exist, and creates
// none; even a path that could not exist is no error then.
func TestTakingFromNothingCreatesNothing(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for _, update := range []string{"REMOVE a", "REMOVE a.b", "REMOVE a[0]"} {
		out := r.must("UpdateItem", `{'Key':{'pk':{'S':'u'}},'UpdateExpression':'`+update+`','ReturnValues':'ALL_NEW'}`)
		if out["Attributes"] != nil || r.item("u") != nil {
			t.Errorf("%s: got %v and item %v, want nothing", update, out["Attributes"], r.item("u"))
		}
	}
	r.must("UpdateItem", `{'Key':{'pk':{'S':'u'}}}`)
	r.same(r.item("u"), `{'pk':{'S':'u'}}`)
}

func TestUpdateReturnsNestedParts(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.must("PutItem", `{'Item':{'pk':{'S':'u'},'a':{'M':{'b':{'S':'dog'},'c':{'L':[{'N':'1'},{'N':'2'},{'N':'3'}]}}}}}`)
	for _, tt := range []struct{ update, mode, want string }{
		{"SET a.b = :v", "UPDATED_OLD", `{'a':{'M':{'b':{'S':'dog'}}}}`},
		{"SET a.c[1] = :v", "UPDATED_OLD", `{'a':{'M':{'c':{'L':[{'N':'2'}]}}}}`},
		{"SET a.c[1] = :v, a.b = :v", "UPDATED_NEW", `{'a':{'M':{'b':{'N':'7'},'c':{'L':[{'N':'7'}]}}}}`},
		{"SET a.x = :v", "UPDATED_OLD", `null`},
		{"SET a.c[100] = :v", "UPDATED_NEW", `null`},
	} {
		out := r.must("UpdateItem", `{'Key':{'pk':{'S':'u'}},'UpdateExpression':'`+tt.update+`','ExpressionAttributeValues':{':v':{'N':'7'}},'ReturnValues':'`+tt.mode+`'}`)
		r.same(out["Attributes"], tt.want)
	}
}

func TestUpdateReturnValues(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	update := func(value int, mode string) any {
		return r.must("UpdateItem", fmt.Sprintf(`{'Key':{'pk':{'S':'u'}},'UpdateExpression':'SET a = :a','ExpressionAttributeValues':{':a':{'N':'%d'}},'ReturnValues':'%s'}`, value, mode))["Attributes"]
	}
	r.same(update(0, "ALL_OLD"), `null`)
	r.same(update(1, "UPDATED_NEW"), `{'a':{'N':'1'}}`)
	r.same(update(2, "UPDATED_OLD"), `{'a':{'N':'1'}}`)
	r.same(update(3, "ALL_OLD"), `{'a':{'N':'2'},'pk':{'S':'u'}}`)
	r.same(update(4, "NONE"), `null`)
}

func TestUpdateRefusals(t *testing.T) {
	t.Parallel()
	tests := []struct{ update, values, message string }{
		{"ADD s :v", `':v':{'N':'1'}`, "An operand in the update expression has an incorrect data type"},
		{"SET n = s + :v", `':v':{'N':'1'}`, "An operand in the update expression has an incorrect data type"},
		{"SET n = zz + :v", `':v':{'N':'1'}`, "The provided expression refers to an attribute that does not exist in the item"},
		{"SET n = zz", ``, "The provided expression refers to an attribute that does not exist in the item"},
		{"SET zz.a = :v", `':v':{'N':'1'}`, "The document path provided in the update expression is invalid for update"},
		{"SET s[0] = :v", `':v':{'N':'1'}`, "The document path provided in the update expression is invalid for update"},
		{"SET pk = :v", `':v':{'S':'x'}`, "Cannot update attribute pk. This attribute is part of the key"},
		{"SET gpk = :v", `':v':{'N':'1'}`, "Type mismatch for Index Key gpk Expected: S Actual: N IndexName: gsi1"},
		{"SET d = :v", `':v':{'S':'` + strings.Repeat("x", 400<<10) + `'}`, "Item size to update has exceeded the maximum allowed size"},
		{"SET n = n + :v", `':v':{'N':'1e40'}`, "Number overflow"},
		{"REMOVE zz.a", ``, "The document path provided in the update expression is invalid for update"},
	}
	for _, tt := range tests {
		r := newRig(t)
		r.must("PutItem", `{'Item':{'pk':{'S':'u'},'n':{'N':'1'},'s':{'S':'x'}}}`)
		values := ""
		if tt.values != "" {
			values = `'ExpressionAttributeValues':{` + tt.values + `},`
		}
		r.refused("UpdateItem", `{'Key':{'pk':{'S':'u'}},`+values+`'UpdateExpression':'`+tt.update+`'}`, "ValidationException", tt.message)
		r.same(r.item("u"), `{'n':{'N':'1'},'pk':{'S':'u'},'s':{'S':'x'}}`)
	}
}

func TestDeleteItem(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.must("PutItem", `{'Item':{'pk':{'S':'d'},'owner':{'S':'w1'}}}`)
	del := func(owner string) string {
		return `{'Key':{'pk':{'S':'d'}},'ConditionExpression':'#o = :o','ExpressionAttributeNames':{'#o':'owner'},'ExpressionAttributeValues':{':o':{'S':'` + owner + `'}},
			'ReturnValues':'ALL_OLD','ReturnValuesOnConditionCheckFailure':'ALL_OLD'}`
	}
	err := r.refused("DeleteItem", del("w2"), "ConditionalCheckFailedException", "")
	r.same(r.decode(err.Fields)["Item"], `{'owner':{'S':'w1'},'pk':{'S':'d'}}`)
	r.same(r.must("DeleteItem", del("w1"))["Attributes"], `{'owner':{'S':'w1'},'pk':{'S':'d'}}`)
	if got := r.item("d"); got != nil {
		t.Errorf("got %v after delete, want nothing", got)
	}
	if err := r.refused("DeleteItem", del("w1"), "ConditionalCheckFailedException", ""); err.Fields != nil {
		t.Errorf("got %v for an absent item, want no Item", err.Fields)
	}
}

func TestPutRefusals(t *testing.T) {
	t.Parallel()
	tests := []struct{ item, message string }{
		{`'other':{'S':'x'}`, "Missing the key pk in the item"},
		{`'pk':{'N':'1'}`, "Type mismatch for key pk expected: S actual: N"},
		{`'pk':{'S':''}`, "cannot contain an empty string value. Key: pk"},
		{`'pk':{'S':'` + strings.Repeat("k", 2049) + `'}`, "Size of hashkey has exceeded the maximum size limit of2048 bytes"},
		{`'pk':{'S':'x'},'gpk':{'N':'1'}`, "Type mismatch for Index Key gpk"},
		{`'pk':{'S':'x'},'gpk':{'S':''}`, "IndexName: gsi1, IndexKey: gpk"},
		{`'pk':{'S':'x'},'d':{'S':'` + strings.Repeat("x", 410<<10) + `'}`, "Item size has exceeded the maximum allowed size"},
		{`'pk':{'S':'x'},'n':{'N':'123456789012345678901234567890123456789'}`, "Attempting to store more than 38 significant digits in a Number"},
		{`'pk':{'S':'x'},'n':{'N':'1e126'}`, "Number overflow"},
		{`'pk':{'S':'x'},'n':{'N':'1e-131'}`, "Number underflow"},
		{`'pk':{'S':'x'},'n':{'N':'ten'}`, "The parameter cannot be converted to a numeric value: ten"},
		{`'pk':{'S':'x'},'n':{'SS':[]}`, "An string set  may not be empty"},
		{`'pk':{'S':'x'},'n':{'SS':['a','a']}`, "Input collection [a, a] contains duplicates."},
		{`'pk':{'S':'x'},'n':{'NULL':false}`, "Null attribute value types must have the value of true"},
		{`'pk':{'S':'x'},'n':{}`, "Supplied AttributeValue is empty"},
		{`'pk':{'S':'x'},'n':{'S':'a','N':'1'}`, "more than one datatypes set"},
		{`'pk':{'S':'x'},'n':` + strings.Repeat(`{'L':[`, 3000) + strings.Repeat(`]}`, 3000), "Nesting Levels have exceeded supported limits"},
		{`'pk':{'S':'x'},'n':` + strings.Repeat(`{'L':[`, 33) + strings.Repeat(`]}`, 33), "Nesting Levels have exceeded supported limits"},
	}
	r := newRig(t)
	for _, tt := range tests {
		r.refused("PutItem", `{'Item':{`+tt.item+`}}`, "ValidationException", tt.message)
	}
	r.must("PutItem", `{'Item':{'pk':{'S':'x'},'n':`+strings.Repeat(`{'L':[`, 32)+strings.Repeat(`]}`, 32)+`}}`)
	r.refused("UpdateItem", `{'Key':{'pk':{'S':'x'}},'UpdateExpression':'SET n[0][0] = n'}`, "ValidationException", "Nesting Levels have exceeded supported limits")
	r.refused("PutItem", `{'Item':{'pk':{'S':5}}}`, "SerializationException", "")
	r.refused("PutItem", `{'TableName':'nope','Item':{'pk':{'S':'x'}}}`, "ResourceNotFoundException", "Requested resource not found")
	r.refused("PutItem", `{'Item':{'pk':{'S':'x'}},'Expected':{}}`, "ValidationException", "not supported by awstest")
	r.refused("NoSuchThing", `{}`, "UnknownOperationException", "")
}

func TestValuesRoundTripExactly(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	item := `{'b':{'B':'AAEC/w=='},'bo':{'BOOL':false},'bs':{'BS':['AQ==','AgA=']},'eb':{'B':''},'em':{'M':{}},'el':{'L':[]},'es':{'S':''},
		'l':{'L':[{'S':'1'},{'N':'1'},{'NULL':true}]},'ns':{'NS':['-1','0.5','10']},'nul':{'NULL':true},'pk':{'S':'日本\u0000é<>&\u2028'},'ss':{'SS':['','z']}}`
	r.must("PutItem", `{'Item':`+item+`}`)
	r.same(r.item(`日本\u0000é<>&\u2028`), item)
}

func TestNumbersAreNormalised(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for in, want := range map[string]string{
		"12345678901234567890123456789012345678": "12345678901234567890123456789012345678",
		"1.500":                                  "1.5", "-0.0000001": "-0.0000001", "-0": "0", "+7": "7", "1e3": "1000", "00012.5E-1": "1.25", ".5": "0.5", "5.": "5",
		"9.99e125": "999" + strings.Repeat("0", 123), "1e-130": "0." + strings.Repeat("0", 129) + "1",
	} {
		r.must("PutItem", `{'Item':{'pk':{'S':'n'},'n':{'N':'`+in+`'}}}`)
		r.same(r.item("n").(obj)["n"], `{'N':'`+want+`'}`)
	}
}

func TestBigIntegersAddExactly(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.must("PutItem", `{'Item':{'pk':{'S':'n'},'a':{'N':'9007199254740993'}}}`)
	out := r.must("UpdateItem", `{'Key':{'pk':{'S':'n'}},'UpdateExpression':'ADD a :two','ConditionExpression':'a = :v',
		'ExpressionAttributeValues':{':two':{'N':'2'},':v':{'N':'9007199254740993.0'}},'ReturnValues':'UPDATED_NEW'}`)
	r.same(out["Attributes"], `{'a':{'N':'9007199254740995'}}`)
}
