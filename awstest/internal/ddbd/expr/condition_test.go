package expr_test

import (
	"strings"
	"testing"

	"github.com/claimonce/claimonce/awstest/internal/ddbd/expr"
)

const stored = `{'a':{'S':'hello'},'n':{'N':'5'},'b':{'B':'AQID'},'yes':{'BOOL':true},'ss':{'SS':['x','y']},'ns':{'NS':['1','5']},
	'l':{'L':[{'S':'x'},{'N':'1.0'},{'L':[{'S':'deep'}]}]},'m':{'M':{'k':{'M':{'z':{'N':'10'}}}}},'status':{'S':'ip'},'a.b':{'S':'dotted'},'e':{'S':''}}`

func TestConditions(t *testing.T) {
	t.Parallel()
	tests := map[string]bool{
		"a = :s":                               true,
		":s = a":                               true,
		"a <> :he":                             true,
		"zz <> :s":                             true,
		"zz = :s":                              false,
		"zz < :s":                              false,
		"NOT zz < :s":                          true,
		"n = :s":                               false,
		"n <> :s":                              true,
		"n < :ten":                             true,
		"n <= :five AND n >= :five":            true,
		"n > :ten":                             false,
		"a > :he":                              true,
		"n BETWEEN :one AND :ten":              true,
		"n between :one and :five":             true,
		":five BETWEEN n AND n":                true,
		"n IN (:one, :five)":                   true,
		"n IN (:one)":                          false,
		"zz IN (:one)":                         false,
		"attribute_exists(a)":                  true,
		"attribute_exists(m.k.z)":              true,
		"attribute_exists(m.k.y)":              false,
		"attribute_exists(l[2][0])":            true,
		"attribute_exists(l[3])":               false,
		"attribute_not_exists(l[2][1])":        true,
		"attribute_exists(e)":                  true,
		"attribute_type(n, :tN)":               true,
		"attribute_type(a, :tN)":               false,
		"attribute_type(zz, :tN)":              false,
		"begins_with(a, :he)":                  true,
		"begins_with(n, :he)":                  false,
		"begins_with(b, :b)":                   true,
		"contains(a, :he)":                     true,
		"contains(ss, :0_a)":                   true,
		"contains(ns, :five)":                  true,
		"contains(ns, :ten)":                   false,
		"contains(l, :one)":                    true,
		"contains(b, :b)":                      true,
		"contains(zz, :one)":                   false,
		"size(a) = :five":                      true,
		"size(ss) < :five":                     true,
		"size(n) = :one":                       false,
		"size(zz) = :one":                      false,
		"size(m) = size(m.k)":                  true,
		"m.k.z = :ten":                         true,
		"#status = :s OR #dot <> :s":           true,
		"yes = :bool":                          true,
		"ss = :ss":                             true,
		"NOT n = :one AND n = :five":           true,
		"NOT (n = :five AND n = :five)":        false,
		"n = :five OR n = :one AND a = :he":    true,
		"(n = :five OR n = :one) AND a = :he":  false,
		"(a) = (:s)":                           true,
		"NOT NOT n = :five":                    true,
		" \t\r\nn=:five ":                      true,
		"attribute_exists(a)and(n=:five)":      true,
		"m.k.z=:ten AND l [ 1 ] = :one":        true,
		"attribute_not_exists(a) OR n = :five": true,
	}
	for text, want := range tests {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			cond, err := params(t).Condition("ConditionExpression", text)
			if err != nil {
				t.Fatal(err)
			}
			if got := cond.Eval(item(t, stored)); got != want {
				t.Errorf("got %v, want %v", got, want)
			}
		})
	}
}

func TestAbsentItemHasNoAttributes(t *testing.T) {
	t.Parallel()
	cond, err := params(t).Condition("ConditionExpression", "attribute_not_exists(a) AND NOT a = :s")
	if err != nil {
		t.Fatal(err)
	}
	if !cond.Eval(nil) {
		t.Error("got false on no item, want true")
	}
}

func TestConditionFaults(t *testing.T) {
	t.Parallel()
	tests := map[string]string{
		"":                                       "The expression can not be empty;",
		"  ":                                     "The expression can not be empty;",
		"a":                                      `Syntax error; token: "<EOF>", near: "a"`,
		"a = = :s":                               `Syntax error; token: "=", near: "= = :s"`,
		"a = ":                                   `Syntax error; token: "<EOF>", near: "="`,
		"a = :s b":                               `Syntax error; token: "b", near: ":s b"`,
		"_a = :s":                                `Syntax error; token: "_", near: "_a"`,
		"0a = :s":                                `Syntax error; token: "0", near: "0a"`,
		"a == :s":                                `Syntax error; token: "=", near: "== :s"`,
		"(a = :s":                                `Syntax error; token: "<EOF>", near: ":s"`,
		"a = :s)":                                `Syntax error; token: ")", near: ":s)"`,
		"a = : s":                                `Syntax error; token: ":", near: "= : s"`,
		"a = 5":                                  `Syntax error; token: "5", near: "= 5"`,
		"a = 'x'":                                `Syntax error; token: "'", near: "= 'x"`,
		"a BETWEEN :one":                         "Syntax error;",
		"a IN :one":                              "Syntax error;",
		"a IN ()":                                "Syntax error;",
		"AND a = :s":                             "Syntax error;",
		"a = :s AND":                             "Syntax error;",
		"a.b. = :s":                              "Syntax error;",
		"a[x] = :s":                              "Syntax error;",
		"a[-1] = :s":                             "Syntax error;",
		"a - b = :s":                             "Syntax error;",
		"(a = :s) = :s":                          "Syntax error;",
		"((a = :s))":                             "The expression has redundant parentheses;",
		"((a)) = :s":                             "The expression has redundant parentheses;",
		"status = :s":                            "Attribute name is a reserved keyword; reserved keyword: status",
		"m.Name = :s":                            "Attribute name is a reserved keyword; reserved keyword: Name",
		"#nope = :s":                             "An expression attribute name used in the document path is not defined; attribute name: #nope",
		"a = :nope":                              "An expression attribute value used in expression is not defined; attribute value: :nope",
		"starts_with(a, :s)":                     "Invalid function name; function: starts_with",
		"Begins_With(a, :s)":                     "Invalid function name; function: Begins_With",
		"if_not_exists(a, a) = :s":               "The function is not allowed in a condition expression; function: if_not_exists",
		"begins_with(a)":                         "Incorrect number of operands for operator or function; operator or function: begins_with, number of operands: 1",
		"begins_with(a, :one)":                   "Incorrect operand type for operator or function; operator or function: begins_with, operand type: N",
		"attribute_exists(:s)":                   "Operator or function requires a document path; operator or function: attribute_exists",
		"attribute_type(a, :tX)":                 "Invalid attribute type name found; type: X",
		"attribute_type(a, b)":                   "Incorrect operand type for operator or function; operator or function: attribute_type",
		"size(:one) = :one":                      "Incorrect operand type for operator or function; operator or function: size, operand type: N",
		"size(a)":                                "The function is not allowed to be used this way in an expression; function: size",
		"attribute_exists(a) = :s":               "The function is not allowed to be used this way in an expression; function: attribute_exists",
		"a = a":                                  "The first operand must be distinct from the remaining operands for this operator or function; operator: =, first operand: [a]",
		"a < :ss":                                "Incorrect operand type for operator or function; operator: <, operand type: SS",
		"n BETWEEN :ten AND :one":                "The BETWEEN operator requires upper bound to be greater than or equal to lower bound; lower bound operand: AttributeValue: {N:10}, upper bound operand: AttributeValue: {N:1}",
		"n BETWEEN :s AND :one":                  "The BETWEEN operator requires same data type for lower and upper bounds",
		"a[99999999999] = :s":                    "List index is not within the allowable range; index: [99999999999]",
		"x" + strings.Repeat(".x", 32) + " = :s": "The document path has too many nesting elements",
		strings.Repeat("x", 4097):                "Expression size has exceeded the maximum allowed size",
		"n IN (" + strings.Repeat(":one, ", 100) + ":one)": "The IN operator is provided with too many operands; number of operands: 101",
		strings.Repeat("a=:s OR ", 200) + "a=:s":           "The expression contains too many operators",
	}
	for text, want := range tests {
		_, err := params(t).Condition("FilterExpression", text)
		if err == nil || !strings.HasPrefix(err.Error(), "Invalid FilterExpression: ") || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60q:\n got %v\nwant %s", text, err, want)
		}
	}
}

func TestPlaceholders(t *testing.T) {
	t.Parallel()
	vals := item(t, `{':a':{'S':'x'},':b':{'S':'x'}}`)
	p, err := expr.NewParams(map[string]string{"#a": "a", "#b": "b"}, vals)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Condition("ConditionExpression", "#a = :a"); err != nil {
		t.Fatal(err)
	}
	want := "Value provided in ExpressionAttributeNames unused in expressions: keys: {#b}"
	if err := p.Unused(); err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	for key, want := range map[string]string{"a": "Syntax error", "#": "Syntax error", "#a-b": "Syntax error"} {
		if _, err := expr.NewParams(map[string]string{key: "x"}, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("key %q: got %v, want %s", key, err, want)
		}
	}
	if _, err := expr.NewParams(map[string]string{}, nil); err == nil {
		t.Error("empty names: got no error")
	}
	if _, err := expr.NewParams(nil, item(t, `{}`)); err == nil {
		t.Error("empty values: got no error")
	}
}
