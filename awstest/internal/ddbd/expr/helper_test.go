package expr_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/claimonce/claimonce/awstest/internal/ddbd/attr"
	"github.com/claimonce/claimonce/awstest/internal/ddbd/expr"
)

// item reads an item written with single quotes.
func item(t testing.TB, text string) attr.Item {
	t.Helper()
	var i attr.Item
	if err := json.Unmarshal([]byte(strings.ReplaceAll(text, "'", `"`)), &i); err != nil {
		t.Fatalf("item %s: %v", text, err)
	}
	return i
}

// params offers #n placeholders and values of every type that tests use.
func params(t testing.TB) *expr.Params {
	t.Helper()
	p, err := expr.NewParams(
		map[string]string{"#status": "status", "#dot": "a.b", "#_1": "odd name"},
		item(t, `{':s':{'S':'hello'},':he':{'S':'he'},':one':{'N':'1'},':five':{'N':'5'},':ten':{'N':'10'},':tN':{'S':'N'},':tX':{'S':'X'},
			':b':{'B':'AQI='},':bool':{'BOOL':true},':null':{'NULL':true},':ss':{'SS':['x','y']},':l':{'L':[{'S':'x'}]},':m':{'M':{}},':0_a':{'S':'x'}}`),
	)
	if err != nil {
		t.Fatal(err)
	}
	return p
}
