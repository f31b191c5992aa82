//go:build integration

package awstest_test

import (
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// statements runs one to three statements of PartiQL in a batch, on different items.
func (w *tableWalk) statements() {
	if w.known.leavesOut("partiql") {
		return
	}
	var batch []types.BatchStatementRequest
	var keys []fields
	var call []string
	for i, pk := range []string{"a", "b", "c"}[:1+w.IntN(3)] {
		key := fields{"pk": str(pk), "sk": num(w.IntN(4))}
		text, params := w.statement(key)
		batch = append(batch, types.BatchStatementRequest{
			Statement: &text, Parameters: params, ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
		})
		keys = append(keys, key)
		shown := []string{}
		for _, p := range params {
			shown = append(shown, writtenDatum(p))
		}
		call = append(call, fmt.Sprintf("%d: %s with %s", i, text, shown))
	}
	w.call("partiql", "answer", strings.Join(call, "; "), keys, func(c *dynamodb.Client) (string, error) {
		out, err := c.BatchExecuteStatement(w.Context(), &dynamodb.BatchExecuteStatementInput{Statements: batch})
		if err != nil {
			return "", err
		}
		var answers []string
		for _, r := range out.Responses {
			answer := "ok"
			if r.Error != nil {
				answer = string(r.Error.Code) + " " + written(r.Error.Item)
			}
			answers = append(answers, answer)
		}
		return strings.Join(answers, ", "), nil
	})
}

// statement is an INSERT, or an UPDATE or DELETE with a condition, of one key.
func (w *tableWalk) statement(key fields) (string, []datum) {
	where := ` WHERE pk = ? AND sk = ?`
	params := []datum{key["pk"], key["sk"]}
	switch w.IntN(4) {
	case 0:
		return fmt.Sprintf(`INSERT INTO "%s" VALUE {'pk': ?, 'sk': ?, 's': ?}`, w.table), append(params, str("x"))
	case 1:
		return fmt.Sprintf(`DELETE FROM "%s"`, w.table) + where, params
	}
	for range w.IntN(3) {
		condition := choose(w.pair, []struct {
			text  string
			param datum
		}{
			{"s = ?", str("x")}, {"s <> ?", str("x")}, {"n <= ?", num(1)}, {"n > ?", num(0)}, {"begins_with(s, ?)", str("x")}, {"s IS MISSING", nil}, {"n IS NOT MISSING", nil},
		})
		if condition.param == nil && w.known.leavesOut("IS MISSING") {
			continue
		}
		where += " AND " + condition.text
		if condition.param != nil {
			params = append(params, condition.param)
		}
	}
	change := choose(w.pair, []struct {
		text  string
		param datum
	}{
		{"SET s = ?", str("new")}, {"SET n = ?", num("12345678901")}, {"SET o = ? REMOVE n", num(1)}, {"REMOVE s", nil},
	})
	if change.param != nil {
		params = append([]datum{change.param}, params...)
	}
	return fmt.Sprintf(`UPDATE "%s" %s`, w.table, change.text) + where, params
}
