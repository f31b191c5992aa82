package expr_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/claimonce/claimonce/awstest/internal/ddbd/attr"
	"github.com/claimonce/claimonce/awstest/internal/ddbd/expr"
)

func TestUpdateFaults(t *testing.T) {
	t.Parallel()
	tests := map[string]string{
		"":                            "The expression can not be empty;",
		"a = :one":                    `Syntax error; token: "a", near: "a ="`,
		"SET":                         `Syntax error; token: "<EOF>", near: "SET"`,
		"SET a = = :one":              `Syntax error; token: "=", near: "= = :one"`,
		"SET _123 = :one":             `Syntax error; token: "_", near: "SET _123"`,
		"SET a = :one,":               "Syntax error;",
		"SET a = :one + :one + :one":  "Syntax error;",
		"SET a":                       "Syntax error;",
		"REMOVE a = :one":             "Syntax error;",
		"ADD a b":                     "Syntax error;",
		"SET a = :one SET b = :one":   `The "SET" section can only be used once in an update expression;`,
		"SET a = :one, a = :ten":      "Two document paths overlap with each other; must remove or rewrite one of these paths; path one: [a], path two: [a]",
		"SET a.b = :one REMOVE a":     "Two document paths overlap with each other; must remove or rewrite one of these paths; path one: [a, b], path two: [a]",
		"SET a.b = :one, a[0] = :one": "Two document paths conflict with each other; must remove or rewrite one of these paths; path one: [a, b], path two: [a, [0]]",
		"SET status = :one":           "Attribute name is a reserved keyword; reserved keyword: status",
		"SET a = :x":                  "An expression attribute value used in expression is not defined; attribute value: :x",
		"SET #x = :one":               "An expression attribute name used in the document path is not defined; attribute name: #x",
		"SET a = size(b)":             "The function is not allowed in an update expression; function: size",
		"SET a = f123_hi(b, c)":       "Invalid function name; function: f123_hi",
		"SET a = list_append(list_append(:l, :l), :l)": "The function is not allowed to be used this way in an expression; function: list_append",
		"SET a = if_not_exists(a, :one+:ten)":          `Syntax error; token: "+"`,
		"SET a = if_not_exists(a, (:one+:ten))":        "Syntax error;",
		"SET a = (:one + :one) + :one":                 "Syntax error;",
		"SET a = if_not_exists(b)":                     "Incorrect number of operands for operator or function; operator or function: if_not_exists, number of operands: 1",
		"SET a = if_not_exists(:s, b)":                 "Operator or function requires a document path; operator or function: if_not_exists",
		"SET a = list_append(b, :s)":                   "Incorrect operand type for operator or function; operator or function: list_append, operand type: S",
		"SET a = :s + :one":                            "Incorrect operand type for operator or function; operator or function: +, operand type: S",
		"ADD a :s":                                     "Incorrect operand type for operator or function; operator: ADD, operand type: STRING",
		"DELETE a :one":                                "Incorrect operand type for operator or function; operator: DELETE, operand type: NUMBER",
	}
	for text, want := range tests {
		_, err := params(t).Update(text)
		if err == nil || !strings.HasPrefix(err.Error(), "Invalid UpdateExpression: ") || !strings.Contains(err.Error(), want) {
			t.Errorf("%q:\n got %v\nwant %s", text, err, want)
		}
	}
}

// A stored item may be read while an update of it is computed, so Apply must not touch it.
func TestApplyLeavesTheItemAlone(t *testing.T) {
	t.Parallel()
	before := item(t, `{'l':{'L':[{'S':'a'},{'M':{'k':{'N':'1'}}}]},'ss':{'SS':['x','z']},'n':{'N':'1'}}`)
	kept := before.Clone()
	u, err := params(t).Update("SET l[1].k = :ten, copied = l, l[0] = :s REMOVE n DELETE ss :ss")
	if err != nil {
		t.Fatal(err)
	}
	after, err := u.Apply(before)
	if err != nil {
		t.Fatal(err)
	}
	if !before.Equal(kept) {
		t.Errorf("the old item changed to %v", before)
	}
	want := item(t, `{'copied':{'L':[{'S':'a'},{'M':{'k':{'N':'1'}}}]},'l':{'L':[{'S':'hello'},{'M':{'k':{'N':'10'}}}]},'ss':{'SS':['z']}}`)
	if !after.Equal(want) {
		t.Errorf("got %s, want %s", show(t, after), show(t, want))
	}
}

func show(t testing.TB, i attr.Item) string {
	t.Helper()
	b, err := json.Marshal(i)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestProjection(t *testing.T) {
	t.Parallel()
	source := item(t, `{'a':{'S':'x'},'status':{'S':'y'},'m':{'M':{'k':{'N':'1'},'l':{'N':'2'}}},'l':{'L':[{'S':'0'},{'S':'1'},{'M':{'z':{'S':'2'}}}]}}`)
	for text, want := range map[string]string{
		"a, #status":          `{'a':{'S':'x'},'status':{'S':'y'}}`,
		"m.k":                 `{'m':{'M':{'k':{'N':'1'}}}}`,
		"l[2].z, l[0]":        `{'l':{'L':[{'S':'0'},{'M':{'z':{'S':'2'}}}]}}`,
		"zz, m.zz, a.b, l[9]": `{}`,
		"m.k, m.l":            `{'m':{'M':{'k':{'N':'1'},'l':{'N':'2'}}}}`,
	} {
		p, err := params(t).Projection(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got := p.Apply(source); !got.Equal(item(t, want)) {
			t.Errorf("%s: got %s, want %s", text, show(t, got), want)
		}
	}
	for text, want := range map[string]string{
		"a, a":   "Two document paths overlap",
		"m, m.k": "Two document paths overlap",
		"status": "reserved keyword",
		"a b":    `Syntax error; token: "b", near: "a b"`,
		"a,":     "Syntax error",
		":s":     "Syntax error",
	} {
		if _, err := params(t).Projection(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", text, err, want)
		}
	}
}

func TestKeyConditions(t *testing.T) {
	t.Parallel()
	hash, sort := expr.KeyAttr{Name: "a", Kind: attr.KindS}, expr.KeyAttr{Name: "n", Kind: attr.KindN}
	for text, want := range map[string]string{
		"a = :s":                                 "",
		":s = a":                                 "",
		"a = :s AND n > :one":                    "> 1",
		":one < n AND a = :s":                    "> 1",
		"(a = :s) AND (n BETWEEN :one AND :ten)": "BETWEEN 1 10",
	} {
		k, err := params(t).KeyCondition(text, hash, sort)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		got := ""
		if k.Sort != nil {
			got = k.Sort.Op
			for _, v := range k.Sort.Values {
				got += " " + v.Num.String()
			}
		}
		if k.Hash.Str != "hello" || got != want {
			t.Errorf("%s: got %q and %q, want hello and %q", text, k.Hash.Str, got, want)
		}
	}
	for text, want := range map[string]string{
		"n = :one":                         "Query condition missed key schema element: a",
		"a > :s":                           "Query key condition not supported",
		"a = :one":                         "Condition parameter type does not match schema type",
		"a = :s AND zz = :one":             "Query condition missed key schema element: n",
		"a = :s OR n = :one":               "Invalid operator used in KeyConditionExpression: OR",
		"a = :s AND NOT n = :one":          "Invalid operator used in KeyConditionExpression: NOT",
		"a = :s AND n <> :one":             "Invalid operator used in KeyConditionExpression: <>",
		"a = :s AND n IN (:one)":           "Invalid operator used in KeyConditionExpression: IN",
		"a = :s AND attribute_exists(n)":   "Invalid operator used in KeyConditionExpression: attribute_exists",
		"a = :s AND a = :he":               "KeyConditionExpressions must only contain one condition per key",
		"a = :s AND n > :one AND n < :ten": "Conditions can be of length 1 or 2 only",
		"a.b = :s":                         "KeyConditionExpressions cannot have conditions on nested attributes",
		"a = b":                            "Multiple attribute names used in one condition",
		"size(a) = :one":                   "KeyConditionExpressions cannot contain nested operations",
		"a = :s AND :one = :ten":           "No key attribute specified",
	} {
		if _, err := params(t).KeyCondition(text, hash, sort); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", text, err, want)
		}
	}
}

// FuzzParse looks for panics and for faults that the parser finds too late, at
// evaluation: whatever parses must evaluate.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"a = :s", "NOT (a < :s OR size(m.k[0]) >= :five) AND n BETWEEN :one AND :ten", "((a))", "a IN (:s, b)", "attribute_type(a, :tN)",
		"SET a = if_not_exists(b, :one) - c, l[0].x = list_append(l, :l) REMOVE m.k ADD n :one DELETE ss :ss", "#status, a.b[1]", "f(", "a[", ".", "#", "é",
	} {
		f.Add(seed)
	}
	stored := item(f, stored)
	f.Fuzz(func(t *testing.T, text string) {
		p := params(t)
		if c, err := p.Condition("ConditionExpression", text); err == nil {
			c.Eval(stored)
			c.Eval(nil)
			expr.Names(c)
		}
		if u, err := p.Update(text); err == nil {
			if after, err := u.Apply(stored); err == nil {
				after.Size()
			}
		}
		if pr, err := p.Projection(text); err == nil {
			pr.Apply(stored)
		}
		k, err := p.KeyCondition(text, expr.KeyAttr{Name: "a", Kind: attr.KindS}, expr.KeyAttr{Name: "n", Kind: attr.KindN})
		if err == nil {
			k.Sort.Match(k.Sort.Low())
		}
		_ = p.Unused()
	})
}
