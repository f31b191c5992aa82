package ddbd_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"
)

func TestTableLifecycle(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	table := r.must("DescribeTable", `{}`)["Table"].(obj)
	r.same([]any{table["TableStatus"], table["BillingModeSummary"].(obj)["BillingMode"], table["GlobalSecondaryIndexes"].([]any)[0].(obj)["IndexStatus"]},
		`['ACTIVE','PAY_PER_REQUEST','ACTIVE']`)
	r.same(table["TableArn"], `'arn:aws:dynamodb:us-east-1:000000000000:table/ttt'`)
	r.must("DescribeTable", `{'TableName':'arn:aws:dynamodb:us-east-1:000000000000:table/ttt'}`)
	r.refused("CreateTable", `{'TableName':'ttt','BillingMode':'PAY_PER_REQUEST','AttributeDefinitions':[{'AttributeName':'pk','AttributeType':'S'}],
		'KeySchema':[{'AttributeName':'pk','KeyType':'HASH'}]}`, "ResourceInUseException", "Table already exists: ttt")
	r.must("DeleteTable", `{}`)
	r.refused("DescribeTable", `{}`, "ResourceNotFoundException", "Requested resource not found: Table: ttt not found")
}

func TestCreateTableRefusals(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for _, tt := range []struct{ rest, message string }{
		{`'TableName':'a'`, "TableName must be at least 3 characters long"},
		{`'TableName':'a b c'`, "Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+"},
		{`'TableName':'abc','BillingMode':'FREE'`, "Member must satisfy enum value set: [PROVISIONED, PAY_PER_REQUEST]"},
		{`'TableName':'abc'`, "ReadCapacityUnits and WriteCapacityUnits must both be specified when BillingMode is PROVISIONED"},
		{`'TableName':'abc','BillingMode':'PAY_PER_REQUEST','ProvisionedThroughput':{'ReadCapacityUnits':1,'WriteCapacityUnits':1}`, "Neither ReadCapacityUnits nor WriteCapacityUnits can be specified"},
		{`'TableName':'abc','BillingMode':'PAY_PER_REQUEST','KeySchema':[{'AttributeName':'pk','KeyType':'HASH'}]`, "Some index key attributes are not defined in AttributeDefinitions. Keys: [pk], AttributeDefinitions: []"},
		{`'TableName':'abc','BillingMode':'PAY_PER_REQUEST','KeySchema':[{'AttributeName':'pk','KeyType':'HASH'}],'AttributeDefinitions':[{'AttributeName':'pk','AttributeType':'S'},{'AttributeName':'x','AttributeType':'S'}]`, "does not exactly match number of attributes defined"},
		{`'TableName':'abc','BillingMode':'PAY_PER_REQUEST','LocalSecondaryIndexes':[]`, "LocalSecondaryIndexes is not supported by awstest"},
	} {
		r.refused("CreateTable", `{`+tt.rest+`}`, "ValidationException", tt.message)
	}
}

func TestListTablesInPages(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for i := range 4 {
		r.must("CreateTable", fmt.Sprintf(`{'TableName':'list%d','BillingMode':'PAY_PER_REQUEST','AttributeDefinitions':[{'AttributeName':'pk','AttributeType':'S'}],
			'KeySchema':[{'AttributeName':'pk','KeyType':'HASH'}]}`, i))
	}
	r.same(r.must("ListTables", `{'Limit':3}`), `{'LastEvaluatedTableName':'list2','TableNames':['list0','list1','list2']}`)
	r.same(r.must("ListTables", `{'Limit':3,'ExclusiveStartTableName':'list2'}`), `{'TableNames':['list3','ttt']}`)
	r.refused("ListTables", `{'Limit':101}`, "ValidationException", "Member must have value less than or equal to 100")
}

func TestTimeToLiveCalls(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	set := func(attribute string, on bool) string {
		return fmt.Sprintf(`{'TimeToLiveSpecification':{'AttributeName':'%s','Enabled':%t}}`, attribute, on)
	}
	r.same(r.must("DescribeTimeToLive", `{}`), `{'TimeToLiveDescription':{'TimeToLiveStatus':'DISABLED'}}`)
	r.refused("UpdateTimeToLive", set("a", false), "ValidationException", "already disabled")
	r.refused("UpdateTimeToLive", set("", true), "ValidationException", "attributeName")
	r.refused("UpdateTimeToLive", `{}`, "ValidationException", "timeToLiveSpecification")
	r.same(r.must("UpdateTimeToLive", set("a", true)), `{'TimeToLiveSpecification':{'AttributeName':'a','Enabled':true}}`)
	r.refused("UpdateTimeToLive", set("b", true), "ValidationException", "current AttributeName is a")
	r.refused("UpdateTimeToLive", set("b", false), "ValidationException", "current AttributeName is a")
	r.must("UpdateTimeToLive", set("a", false))
	r.same(r.must("DescribeTimeToLive", `{}`), `{'TimeToLiveDescription':{'TimeToLiveStatus':'DISABLED'}}`)
	r.refused("DescribeTimeToLive", `{'TableName':'nope'}`, "ResourceNotFoundException", "nope")
}

// The service may delete an expired item days later, so reads must still return it.
func TestDDB04_ExpiredItemsStayReadable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.must("UpdateTimeToLive", `{'TimeToLiveSpecification':{'AttributeName':'expires_at','Enabled':true}}`)
		r.same(r.must("DescribeTimeToLive", `{}`), `{'TimeToLiveDescription':{'AttributeName':'expires_at','TimeToLiveStatus':'ENABLED'}}`)
		r.refused("UpdateTimeToLive", `{'TimeToLiveSpecification':{'AttributeName':'expires_at','Enabled':true}}`, "ValidationException", "TimeToLive is already enabled")
		put := func(pk string, expires time.Time, kind string) {
			r.must("PutItem", fmt.Sprintf(`{'Item':{'pk':{'S':'%s'},'expires_at':{'%s':'%d'}}}`, pk, kind, expires.Unix()))
		}
		now := time.Now()
		put("old", now.Add(time.Second), "N")
		put("text", now.Add(time.Second), "S")
		put("ancient", now.AddDate(-6, 0, 0), "N")
		put("later", now.Add(time.Hour), "N")
		time.Sleep(time.Minute)
		if r.item("old") == nil {
			t.Error("the expired item is gone before DeleteExpired")
		}
		if n := r.srv.DeleteExpired(time.Now()); n != 1 {
			t.Errorf("DeleteExpired deleted %d items, want 1", n)
		}
		if r.item("old") != nil {
			t.Error("DeleteExpired left the expired item")
		}
		for _, pk := range []string{"text", "ancient", "later"} {
			if r.item(pk) == nil {
				t.Errorf("DeleteExpired took %s", pk)
			}
		}
	})
}
