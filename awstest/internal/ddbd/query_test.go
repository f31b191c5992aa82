package ddbd_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// withSort adds table "two": partition key p (S), sort key s (N), index "keys" on s2 (S)
// that holds keys only, index "some" that also holds x.
func withSort(t *testing.T) *rig {
	t.Helper()
	r := newRig(t)
	r.must("CreateTable", `{'TableName':'two','BillingMode':'PROVISIONED','ProvisionedThroughput':{'ReadCapacityUnits':1,'WriteCapacityUnits':1},
		'AttributeDefinitions':[{'AttributeName':'p','AttributeType':'S'},{'AttributeName':'s','AttributeType':'N'},{'AttributeName':'s2','AttributeType':'S'}],
		'KeySchema':[{'AttributeName':'p','KeyType':'HASH'},{'AttributeName':'s','KeyType':'RANGE'}],
		'GlobalSecondaryIndexes':[
			{'IndexName':'keys','KeySchema':[{'AttributeName':'s2','KeyType':'HASH'}],'Projection':{'ProjectionType':'KEYS_ONLY'},'ProvisionedThroughput':{'ReadCapacityUnits':1,'WriteCapacityUnits':1}},
			{'IndexName':'some','KeySchema':[{'AttributeName':'s2','KeyType':'HASH'}],'Projection':{'ProjectionType':'INCLUDE','NonKeyAttributes':['x']},'ProvisionedThroughput':{'ReadCapacityUnits':1,'WriteCapacityUnits':1}}]}`)
	for _, n := range []string{"-20", "-3", "0", "2", "9", "10", "100"} {
		r.must("PutItem", `{'TableName':'two','Item':{'p':{'S':'a'},'s':{'N':'`+n+`'},'s2':{'S':'i'},'x':{'S':'x'},'y':{'S':'y'}}}`)
		r.must("PutItem", `{'TableName':'two','Item':{'p':{'S':'b'},'s':{'N':'`+n+`'}}}`)
	}
	return r
}

// sorts lists the items' sort keys.
func sorts(page obj) string {
	var out []string
	for _, i := range page["Items"].([]any) {
		out = append(out, i.(obj)["s"].(obj)["N"].(string))
	}
	return strings.Join(out, " ")
}

func TestQueryRanges(t *testing.T) {
	t.Parallel()
	r := withSort(t)
	for _, tt := range []struct{ cond, values, want string }{
		{"p = :p", "", "-20 -3 0 2 9 10 100"},
		{"p = :p AND s = :x", `,':x':{'N':'9.0'}`, "9"},
		{"p = :p AND s < :x", `,':x':{'N':'9'}`, "-20 -3 0 2"},
		{"p = :p AND s <= :x", `,':x':{'N':'9'}`, "-20 -3 0 2 9"},
		{"p = :p AND s > :x", `,':x':{'N':'-3'}`, "0 2 9 10 100"},
		{"p = :p AND s >= :x", `,':x':{'N':'-3'}`, "-3 0 2 9 10 100"},
		{"p = :p AND s BETWEEN :x AND :y", `,':x':{'N':'-3'},':y':{'N':'10'}`, "-3 0 2 9 10"},
		{"p = :p AND s = :x", `,':x':{'N':'3'}`, ""},
	} {
		query := `{'TableName':'two','KeyConditionExpression':'` + tt.cond + `','ExpressionAttributeValues':{':p':{'S':'a'}` + tt.values + `}`
		if got := sorts(r.must("Query", query+`}`)); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.cond, got, tt.want)
		}
		back := strings.Fields(sorts(r.must("Query", query+`,'ScanIndexForward':false}`)))
		for i, j := 0, len(back)-1; i < j; i, j = i+1, j-1 {
			back[i], back[j] = back[j], back[i]
		}
		if got := strings.Join(back, " "); got != tt.want {
			t.Errorf("%s descending: got %q reversed, want %q", tt.cond, got, tt.want)
		}
	}
}

func TestQueryBeginsWith(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.must("CreateTable", `{'TableName':'txt','BillingMode':'PAY_PER_REQUEST','AttributeDefinitions':[{'AttributeName':'p','AttributeType':'S'},{'AttributeName':'s','AttributeType':'B'}],
		'KeySchema':[{'AttributeName':'p','KeyType':'HASH'},{'AttributeName':'s','KeyType':'RANGE'}]}`)
	for _, b := range []string{"AQ==", "/w==", "/wE=", "//8=", "/g=="} {
		r.must("PutItem", `{'TableName':'txt','Item':{'p':{'S':'a'},'s':{'B':'`+b+`'}}}`)
	}
	for _, forward := range []string{"true", "false"} {
		out := r.must("Query", `{'TableName':'txt','Select':'COUNT','ScanIndexForward':`+forward+`,'KeyConditionExpression':'p = :p AND begins_with(s, :x)','ExpressionAttributeValues':{':p':{'S':'a'},':x':{'B':'/w=='}}}`)
		r.same(out["Count"], `3`)
	}
}

// pages follows LastEvaluatedKey to the end.
func (r *rig) pages(op, body string) (pages []obj) {
	r.Helper()
	start := ""
	for len(pages) < 100 {
		page := r.must(op, strings.Replace(body, "{", "{"+start, 1))
		pages = append(pages, page)
		last, more := page["LastEvaluatedKey"]
		if !more {
			return pages
		}
		start = `'ExclusiveStartKey':` + r.json(last) + `,`
	}
	r.Fatal("endless pages")
	return nil
}

func TestQueryPages(t *testing.T) {
	t.Parallel()
	r := withSort(t)
	body := `{'TableName':'two','Limit':2,'KeyConditionExpression':'p = :p','FilterExpression':'#x = :x','ExpressionAttributeNames':{'#x':'x'},'ExpressionAttributeValues':{':p':{'S':'a'},':x':{'S':'x'}}`
	for _, forward := range []string{"true", "false"} {
		got := ""
		pages := r.pages("Query", body+`,'ScanIndexForward':`+forward+`}`)
		for _, p := range pages {
			got += sorts(p) + "|"
		}
		want := "-20 -3|0 2|9 10|100|"
		if forward == "false" {
			want = "100 10|9 2|0 -3|-20|"
		}
		if got != want {
			t.Errorf("forward %s: got %s, want %s", forward, got, want)
		}
	}
	none := r.must("Query", strings.Replace(body, `{'S':'x'}`, `{'S':'none'}`, 1)+`}`)
	r.same([]any{none["Count"], none["ScannedCount"], none["LastEvaluatedKey"] != nil}, `[0,2,true]`)
}

// A page that ends on the last row by its limit still has a LastEvaluatedKey.
func TestLimitAtTheEndGivesAnotherPage(t *testing.T) {
	t.Parallel()
	r := withSort(t)
	pages := r.pages("Query", `{'TableName':'two','Limit':7,'KeyConditionExpression':'p = :p','ExpressionAttributeValues':{':p':{'S':'a'}}}`)
	if len(pages) != 2 || sorts(pages[1]) != "" {
		t.Errorf("got %d pages, want a full and an empty one", len(pages))
	}
}

// Rows that an index holds under one key are told apart by the table's key, so no page
// loses or repeats one.
func TestIndexPages(t *testing.T) {
	t.Parallel()
	r := withSort(t)
	for _, forward := range []string{"true", "false"} {
		seen := map[string]int{}
		pages := r.pages("Query", `{'TableName':'two','IndexName':'keys','Limit':2,'ScanIndexForward':`+forward+`,'KeyConditionExpression':'s2 = :i','ExpressionAttributeValues':{':i':{'S':'i'}}}`)
		for _, p := range pages {
			for s := range strings.FieldsSeq(sorts(p)) {
				seen[s]++
			}
		}
		if len(seen) != 7 || len(pages) != 4 {
			t.Errorf("forward %s: got %v in %d pages, want 7 items in 4", forward, seen, len(pages))
		}
	}
}

func TestIndexProjections(t *testing.T) {
	t.Parallel()
	r := withSort(t)
	first := func(index, rest string) any {
		out := r.must("Query", `{'TableName':'two','IndexName':'`+index+`','Limit':1,'KeyConditionExpression':'s2 = :i','ExpressionAttributeValues':{':i':{'S':'i'}}`+rest+`}`)
		item := out["Items"].([]any)[0].(obj)
		delete(item, "s")
		return item
	}
	r.same(first("keys", ""), `{'p':{'S':'a'},'s2':{'S':'i'}}`)
	r.same(first("some", ""), `{'p':{'S':'a'},'s2':{'S':'i'},'x':{'S':'x'}}`)
	r.same(first("some", `,'ProjectionExpression':'x'`), `{'x':{'S':'x'}}`)
	for _, tt := range []struct{ rest, message string }{
		{`,'ProjectionExpression':'y'`, "Global secondary index some does not project [y]"},
		{`,'Select':'ALL_ATTRIBUTES'`, "because its projection type is not ALL"},
		{`,'ConsistentRead':true`, "Consistent reads are not supported on global secondary indexes"},
	} {
		r.refused("Query", `{'TableName':'two','IndexName':'some','KeyConditionExpression':'s2 = :i','ExpressionAttributeValues':{':i':{'S':'i'}}`+tt.rest+`}`, "ValidationException", tt.message)
	}
}

func TestIndexFollowsItems(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	in := func(g string) any {
		return r.must("Query", `{'IndexName':'gsi1','Select':'COUNT','KeyConditionExpression':'gpk = :g','ExpressionAttributeValues':{':g':{'S':'`+g+`'}}}`)["Count"]
	}
	r.must("PutItem", `{'Item':{'pk':{'S':'a'},'gpk':{'S':'G'}}}`)
	r.same(in("G"), `0`) // sparse: no gsk
	r.must("PutItem", `{'Item':{'pk':{'S':'a'},'gpk':{'S':'G'},'gsk':{'N':'1'}}}`)
	r.same(in("G"), `1`)
	r.must("UpdateItem", `{'Key':{'pk':{'S':'a'}},'UpdateExpression':'SET gpk = :h','ExpressionAttributeValues':{':h':{'S':'H'}}}`)
	r.same([]any{in("G"), in("H")}, `[0,1]`)
	r.must("UpdateItem", `{'Key':{'pk':{'S':'a'}},'UpdateExpression':'REMOVE gsk'}`)
	r.same(in("H"), `0`)
	r.must("PutItem", `{'Item':{'pk':{'S':'a'},'gpk':{'S':'G'},'gsk':{'N':'1'}}}`)
	r.must("DeleteItem", `{'Key':{'pk':{'S':'a'}}}`)
	r.same(in("G"), `0`)
}

func TestUpdateTableAddsAndDropsIndex(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.must("PutItem", `{'Item':{'pk':{'S':'a'},'late':{'S':'L'}}}`)
	r.must("PutItem", `{'Item':{'pk':{'S':'b'},'late':{'N':'1'}}}`) // of the wrong type: left out
	r.must("UpdateTable", `{'AttributeDefinitions':[{'AttributeName':'late','AttributeType':'S'}],'GlobalSecondaryIndexUpdates':[{'Create':{'IndexName':'late',
		'KeySchema':[{'AttributeName':'late','KeyType':'HASH'}],'Projection':{'ProjectionType':'ALL'}}}]}`)
	r.same(r.must("Scan", `{'IndexName':'late','Select':'COUNT'}`)["Count"], `1`)
	r.refused("PutItem", `{'Item':{'pk':{'S':'b'},'late':{'N':'1'}}}`, "ValidationException", "Type mismatch for Index Key late")
	r.must("UpdateTable", `{'GlobalSecondaryIndexUpdates':[{'Delete':{'IndexName':'late'}}]}`)
	r.refused("Scan", `{'IndexName':'late'}`, "ValidationException", "The table does not have the specified index: late")
	r.must("PutItem", `{'Item':{'pk':{'S':'b'},'late':{'N':'1'}}}`)
	r.must("UpdateTable", `{'DeletionProtectionEnabled':true}`)
	r.refused("DeleteTable", `{}`, "ValidationException", "protected against deletion")
}

func TestScanSegmentsAreDisjointAndComplete(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for i := range 200 {
		r.must("PutItem", fmt.Sprintf(`{'Item':{'pk':{'S':'scan-%d'}}}`, i))
	}
	for _, total := range []int{1, 2, 3, 7} {
		seen, used := map[string]int{}, 0
		for segment := range total {
			n := len(seen)
			for _, p := range r.pages("Scan", fmt.Sprintf(`{'TableName':'ttt','Segment':%d,'TotalSegments':%d,'Limit':17}`, segment, total)) {
				for _, i := range p["Items"].([]any) {
					seen[i.(obj)["pk"].(obj)["S"].(string)]++
				}
			}
			if len(seen) > n {
				used++
			}
		}
		for pk, n := range seen {
			if n != 1 {
				t.Errorf("%d segments: %s seen %d times", total, pk, n)
			}
		}
		if len(seen) != 200 || used != total {
			t.Errorf("%d segments: got %d items in %d of them, want 200 in all", total, len(seen), used)
		}
	}
	r.refused("Scan", `{'Segment':4,'TotalSegments':4}`, "ValidationException", "Segment: 4 is not less than TotalSegments: 4")
}

func TestScanPagesAreAMegabyte(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for i := range 5 {
		r.must("PutItem", fmt.Sprintf(`{'Item':{'pk':{'S':'big%d'},'d':{'S':'%s'}}}`, i, strings.Repeat("x", 300<<10)))
	}
	pages := r.pages("Scan", `{'TableName':'ttt','ReturnConsumedCapacity':'TOTAL','FilterExpression':'attribute_not_exists(d)'}`)
	var scanned []any
	for _, p := range pages {
		scanned = append(scanned, p["ScannedCount"], p["Count"], p["ConsumedCapacity"].(obj)["CapacityUnits"])
	}
	r.same(scanned, `[3,0,113,2,0,75.5]`)
}

func TestQueryRefusals(t *testing.T) {
	t.Parallel()
	r := withSort(t)
	base := `{'TableName':'two','KeyConditionExpression':'p = :p','ExpressionAttributeValues':{':p':{'S':'a'}}`
	for rest, message := range map[string]string{
		`,'Limit':0`:                                         "Member must have value greater than or equal to 1",
		`,'Select':'SOME'`:                                   "Member must satisfy enum value set",
		`,'FilterExpression':'s = :p'`:                       "Filter Expression can only contain non-primary key attributes: Primary key attribute: s",
		`,'ExclusiveStartKey':{'p':{'S':'a'}}`:               "The provided starting key is invalid",
		`,'ExclusiveStartKey':{'p':{'S':'z'},'s':{'N':'1'}}`: "The provided starting key is outside query boundaries",
		`,'IndexName':'nope'`:                                "The table does not have the specified index: nope",
		`,'ExpressionAttributeNames':{'#u':'u'}`:             "Value provided in ExpressionAttributeNames unused in expressions: keys: {#u}",
	} {
		r.refused("Query", base+rest+`}`, "ValidationException", message)
	}
	r.refused("Query", `{'TableName':'two'}`, "ValidationException", "Either the KeyConditions or KeyConditionExpression parameter must be specified")
	r.refused("GetItem", `{'TableName':'two','Key':{'p':{'S':'a'},'s':{'N':'1'}},'ExpressionAttributeNames':{'#u':'u'}}`, "ValidationException", "ExpressionAttributeNames can only be specified when using expressions")
	r.refused("UpdateItem", `{'TableName':'two','Key':{'p':{'S':'a'},'s':{'N':'1'}},'ExpressionAttributeValues':{':u':{'S':'u'}}}`, "ValidationException",
		"ExpressionAttributeValues can only be specified when using expressions: UpdateExpression and ConditionExpression are null")
}

// An eventually consistent read shows what stood there before the lag; a consistent one
// never does.
func TestDDB17_StaleReads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.srv.StaleReads(500 * time.Millisecond)
		get := func(consistent string) any {
			return r.must("GetItem", `{'ConsistentRead':`+consistent+`,'Key':{'pk':{'S':'a'}}}`)["Item"]
		}
		count := func() any {
			return r.must("Query", `{'IndexName':'gsi1','Select':'COUNT','KeyConditionExpression':'gpk = :g','ExpressionAttributeValues':{':g':{'S':'G'}}}`)["Count"]
		}
		put := func(n int) {
			r.must("PutItem", fmt.Sprintf(`{'Item':{'pk':{'S':'a'},'gpk':{'S':'G'},'gsk':{'N':'1'},'n':{'N':'%d'}}}`, n))
		}
		put(1)
		if get("false") != nil || get("true") == nil {
			t.Error("a fresh item must be absent from a stale read and present in a consistent one")
		}
		r.same(count(), `0`)
		time.Sleep(300 * time.Millisecond)
		put(2)
		time.Sleep(300 * time.Millisecond)
		r.same(get("false").(obj)["n"], `{'N':'1'}`)
		r.same(get("true").(obj)["n"], `{'N':'2'}`)
		r.same(count(), `1`)
		r.must("DeleteItem", `{'Key':{'pk':{'S':'a'}}}`)
		r.same(get("false").(obj)["n"], `{'N':'1'}`)
		time.Sleep(time.Second)
		if get("false") != nil {
			t.Error("the lag passed and the deleted item is still read")
		}
	})
}

// An item from before the index keeps its unfit attribute; only a new value is refused.
func TestOldItemsMayDisagreeWithNewIndex(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.must("PutItem", `{'Item':{'pk':{'S':'b'},'late':{'N':'1'}}}`)
	r.must("UpdateTable", `{'AttributeDefinitions':[{'AttributeName':'late','AttributeType':'S'}],'GlobalSecondaryIndexUpdates':[{'Create':{'IndexName':'late',
		'KeySchema':[{'AttributeName':'late','KeyType':'HASH'}],'Projection':{'ProjectionType':'ALL'}}}]}`)
	r.must("UpdateItem", `{'Key':{'pk':{'S':'b'}},'UpdateExpression':'SET x = :x','ExpressionAttributeValues':{':x':{'N':'2'}}}`)
	r.refused("UpdateItem", `{'Key':{'pk':{'S':'b'}},'UpdateExpression':'SET late = :x','ExpressionAttributeValues':{':x':{'N':'2'}}}`, "ValidationException", "Type mismatch for Index Key late")
}
