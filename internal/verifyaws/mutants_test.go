package main

import (
	"errors"
	"net/http"
	"slices"
	"testing"
)

// mutant is a way in which a server could be wrong, and the checks that must see it.
type mutant struct {
	what string
	breaker
	checks []string
}

func mutants() []mutant { return slices.Concat(tableMutants(), messageMutants(), queueMutants()) }

func tableMutants() []mutant {
	return []mutant{
		{"conditions are not looked at", forget("PutItem", "ConditionExpression", "ExpressionAttributeValues", "ExpressionAttributeNames"), []string{
			"one-claim-wins", "refusal-changes-nothing", "refusal-brings-item", "absent-brings-none", "missing-is-false", "numeric-order", "claim-condition", "repeat-meets-itself", "dated-answers",
		}},
		{"refusals are told as successes", accepting("PutItem", nil), []string{"refusal-changes-nothing", "one-claim-wins", "item-too-large", "long-ids"}},
		{"a refusal brings no item", refusingWith("PutItem", func(out object, _ http.Header) { delete(out, "Item") }), []string{"refusal-brings-item", "repeat-meets-itself"}},
		{"a refusal brings an item where none is", refusingWith("PutItem", func(out object, _ http.Header) { out["Item"] = object{"id": object{"S": "x"}} }), []string{"absent-brings-none"}},
		{"reads are old", telling("GetItem", func(out object) { attributesOf(out)["n"] = object{"N": "0"} }), []string{"consistent-read"}},
		{"reads find what is not there", telling("GetItem", func(out object) {
			out["Item"] = object{"id": object{"S": "x"}, "more": object{"S": "x"}, "v": object{"S": "x"}}
		}), []string{
			"absent-reads-empty", "put-replaces", "exact-numbers", "exact-texts", "all-or-nothing",
		}},
		{"reads find nothing", telling("GetItem", func(out object) { delete(out, "Item") }), []string{"expired-is-there", "empty-values", "consistent-read"}},
		{"answers have no date", breaker{call: "PutItem", answer: func(status int, _ object, h http.Header) int { h.Del("Date"); return status }}, []string{"dated-answers"}},
		{"answers come from a cache", breaker{call: "PutItem", answer: func(status int, _ object, h http.Header) int { h.Set("Age", "1"); return status }}, []string{"dated-answers"}},
		{"items may not be large", breaker{call: "PutItem", answer: invalid}, []string{"item-of-400k", "long-ids"}},
		{"the text of a refusal is another", refusingWith("PutItem", func(out object, _ http.Header) { out["message"] = "too big" }), []string{"item-too-large"}},
		{"every write is one unit", telling("PutItem", func(out object) {
			if c, ok := out["ConsumedCapacity"].(object); ok {
				c["CapacityUnits"] = 1.0
			}
		}), []string{"units-by-kilobyte", "nested-sizes"}},
		{"a table is not described", telling("DescribeTable", func(out object) { delete(out["Table"].(object), "BillingModeSummary") }), []string{"table-as-created"}},
		{"a table can be created twice", accepting("CreateTable", object{"TableDescription": object{}}), []string{"create-twice"}},
		{"a missing table is another error", coded("PutItem", "ValidationException"), []string{"missing-table"}},
		{"TTL is not told", telling("DescribeTimeToLive", func(out object) { out["TimeToLiveDescription"] = object{"TimeToLiveStatus": "DISABLED"} }), []string{"ttl-is-told"}},
		{"an index has everything", telling("Query", func(out object) {
			out["Items"] = append(out["Items"].([]any), object{"id": object{"S": "other"}})
		}), []string{"sparse-index", "keys-only"}},
		{"an index brings whole items", telling("Query", func(out object) {
			for _, it := range list(out["Items"]) {
				it["revision"] = object{"S": "r"}
			}
		}), []string{"keys-only"}},
		{"transactions ignore conditions", breaker{call: "TransactWriteItems", ask: func(in object) {
			for _, w := range list(in["TransactItems"]) {
				delete(w["Put"].(object), "ConditionExpression")
			}
		}}, []string{"reasons-in-order", "all-or-nothing", "each-reason-is-told"}},
		{"reasons have another order", refusingWith("TransactWriteItems", func(out object, _ http.Header) {
			if r, ok := out["CancellationReasons"].([]any); ok {
				slices.Reverse(r)
			}
		}), []string{"reasons-in-order"}},
		{"only one reason is told", refusingWith("TransactWriteItems", func(out object, _ http.Header) {
			for _, r := range list(out["CancellationReasons"])[1:] {
				r["Code"] = "None"
			}
		}), []string{"each-reason-is-told"}},
		{"tokens are ignored", forget("TransactWriteItems", "ClientRequestToken"), []string{"token-once", "token-mismatch"}},
		{"transactions are not counted", telling("TransactWriteItems", func(out object) { delete(out, "ConsumedCapacity") }), []string{"double-units"}},
		{"credentials are not looked at", breaker{}, []string{"bad-credentials", "bad-credentials-for-sqs"}},
		{"transactions take anything", accepting("TransactWriteItems", nil), []string{"one-action-an-item", "hundred-actions", "too-large-in-transaction"}},
	}
}

func attributesOf(out object) object {
	it, ok := out["Item"].(object)
	if !ok {
		it = object{}
	}
	return it
}

func invalid(_ int, out object, _ http.Header) int {
	clear(out)
	out["__type"], out["message"] = "com.amazon.coral.validate#ValidationException", "no"
	return http.StatusBadRequest
}

func invalidParameter(_ int, out object, h http.Header) int {
	clear(out)
	out["__type"], out["message"] = "com.amazonaws.sqs#InvalidParameterValue", "no"
	h.Del("X-Amzn-Query-Error")
	return http.StatusBadRequest
}

// TestEveryCheckSeesAServerThatIsWrong: a check that finds nothing on a broken server proves nothing on AWS.
func TestEveryCheckSeesAServerThatIsWrong(t *testing.T) {
	t.Parallel()
	byName := map[string]fact{}
	unseen := map[string]bool{}
	for _, f := range facts() {
		if f.check != nil {
			byName[f.name], unseen[f.name] = f, true
		}
	}
	for _, m := range mutants() {
		for _, name := range m.checks {
			f, ok := byName[name]
			if !ok {
				t.Errorf("%s: there is no check %s", m.what, name)
				continue
			}
			delete(unseen, name)
			t.Run(name+" "+m.what, func(t *testing.T) {
				t.Parallel()
				err := m.found(t, f)
				if _, ok := errors.AsType[*contradiction](err); !ok {
					t.Errorf("the check of %s does not see that %s: %v", f.id, m.what, err)
				}
			})
		}
	}
	for name := range unseen {
		t.Errorf("no mutant for %s", name)
	}
}
