package ddbd_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// statement is one of a batch, that asks for the item where its condition fails.
func statement(text string, params ...types.AttributeValue) types.BatchStatementRequest {
	return types.BatchStatementRequest{
		Statement: &text, Parameters: params,
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	}
}

func batch(t *testing.T, c *dynamodb.Client, statements ...types.BatchStatementRequest) []types.BatchStatementResponse {
	t.Helper()
	out, err := c.BatchExecuteStatement(t.Context(), &dynamodb.BatchExecuteStatementInput{Statements: statements})
	if err != nil {
		t.Fatal(err)
	}
	return out.Responses
}

// outcome writes a response as table, error code and items.
func outcome(r types.BatchStatementResponse) string {
	parts := []string{aws.ToString(r.TableName)}
	if r.Error != nil {
		parts = append(parts, string(r.Error.Code), aws.ToString(r.Error.Message), fmt.Sprint(brief(r.Error.Item)))
	}
	return strings.Join(append(parts, fmt.Sprint(brief(r.Item))), "|")
}

// brief is an item's strings and numbers.
func brief(item values) map[string]string {
	out := map[string]string{}
	for name, v := range item {
		out[name] = text(v)
		if n, ok := v.(*types.AttributeValueMemberN); ok {
			out[name] = n.Value
		}
	}
	return out
}

// Several claims and completions in one request: each wins or loses alone, and a lost one shows what is there.
func TestBatchOfClaims(t *testing.T) {
	t.Parallel()
	c := newSDK(t)
	for _, pk := range []string{"held", "expired", "mine"} {
		batch(t, c, statement(`INSERT INTO "ttt" VALUE {'pk': ?, 'revision': 'r1', 'expires_at': ?}`, str(pk), num(map[string]int{"held": 900, "expired": 100, "mine": 900}[pk])))
	}
	claim := `UPDATE "ttt" SET revision = ?, expires_at = ? WHERE pk = ? AND (expires_at IS MISSING OR expires_at <= ?)`
	got := batch(t, c,
		statement(`INSERT INTO "ttt" VALUE {'pk': 'fresh', 'revision': ?}`, str("r2")),
		statement(`INSERT INTO "ttt" VALUE {'pk': 'held', 'revision': ?}`, str("r2")),
		statement(claim+` RETURNING ALL NEW *`, str("r2"), num(950), str("expired"), num(500)),
		statement(`UPDATE "ttt" SET state = 'completed' REMOVE owner WHERE pk = ? AND revision = ? RETURNING ALL OLD *`, str("mine"), str("r1")),
		statement(`UPDATE "ttt" SET state = 'completed' WHERE pk = ? AND revision = ?`, str("absent"), str("r1")),
	)
	want := []string{
		"ttt|map[]",
		"ttt|DuplicateItem|Duplicate primary key exists in table|map[]|map[]",
		"ttt|map[expires_at:950 pk:expired revision:r2]",
		"ttt|map[expires_at:900 pk:mine revision:r1]",
		"ttt|ConditionalCheckFailed|The conditional request failed|map[]|map[]",
	}
	for i, r := range got {
		if o := outcome(r); o != want[i] {
			t.Errorf("statement %d:\n got %s\nwant %s", i, o, want[i])
		}
	}
	// Lost claims: the item comes with the failure only where it was asked for.
	lost := statement(claim, str("r3"), num(990), str("held"), num(500))
	silent := lost
	silent.ReturnValuesOnConditionCheckFailure = ""
	for want, s := range map[string]types.BatchStatementRequest{
		"ttt|ConditionalCheckFailed|The conditional request failed|map[expires_at:900 pk:held revision:r1]|map[]": lost,
		"ttt|ConditionalCheckFailed|The conditional request failed|map[]|map[]":                                   silent,
	} {
		if got := outcome(batch(t, c, s)[0]); got != want {
			t.Errorf("lost claim:\n got %s\nwant %s", got, want)
		}
	}
	if got := fmt.Sprint(brief(stored(t, c, "mine"))); got != "map[expires_at:900 pk:mine revision:r1 state:completed]" {
		t.Errorf("after its completion the record is %s", got)
	}
}

func stored(t *testing.T, c *dynamodb.Client, pk string) values {
	t.Helper()
	out, err := c.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: aws.String("ttt"), Key: values{"pk": str(pk)}})
	if err != nil {
		t.Fatal(err)
	}
	return out.Item
}

// What is wrong with one statement fails that one; its neighbours are applied.
func TestBatchStatementErrorsAreEachOnesOwn(t *testing.T) {
	t.Parallel()
	c := newSDK(t)
	batch(t, c, statement(`INSERT INTO ttt VALUE {'pk': 'text', 'n': 'no number'}`))
	got := batch(t, c,
		statement(`INSERT INTO nope VALUE {'pk': 'a'}`),
		statement(`INSERT INTO ttt VALUE {'other': 'a'}`),
		statement(`INSERT INTO ttt VALUE {'pk': 7}`),
		statement(`UPDATE ttt SET n = n + 1 WHERE pk = 'text'`),
		statement(`UPDATE ttt SET pk = 'b' WHERE pk = 'a'`),
		statement(`UPDATE ttt SET n = 1 WHERE n = 2`),
		statement(`INSERT INTO ttt VALUE {'pk': ?}`),
		statement(`nonsense`),
		statement(`INSERT INTO ttt VALUE {'pk': 'good'}`),
	)
	codes := make([]string, len(got))
	for i, r := range got {
		if codes[i] = "ok"; r.Error != nil {
			codes[i] = string(r.Error.Code)
		}
	}
	want := "ResourceNotFound ValidationError ValidationError ValidationError ValidationError ValidationError ValidationError ValidationError ok"
	if got := strings.Join(codes, " "); got != want {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
	if stored(t, c, "good") == nil {
		t.Error("the statement that was right was not applied")
	}
}

func TestBatchStatementRefusals(t *testing.T) {
	t.Parallel()
	c := newSDK(t)
	insert := func(i int) types.BatchStatementRequest {
		return statement(fmt.Sprintf(`INSERT INTO ttt VALUE {'pk': 'p%d'}`, i))
	}
	var many []types.BatchStatementRequest
	for i := range 26 {
		many = append(many, insert(i))
	}
	for message, statements := range map[string][]types.BatchStatementRequest{
		"greater than or equal to 1": {},
		"less than or equal to 25":   many,
		"Read and write":             {insert(1), statement(`SELECT * FROM ttt WHERE pk = 'p2'`)},
		"duplicates":                 {insert(1), statement(`UPDATE ttt SET a = 1 WHERE pk = 'p1'`)},
	} {
		_, err := c.BatchExecuteStatement(t.Context(), &dynamodb.BatchExecuteStatementInput{Statements: statements})
		if err == nil || !strings.Contains(err.Error(), "ValidationException") || !strings.Contains(err.Error(), message) {
			t.Errorf("got %v, want a ValidationException with %q", err, message)
		}
	}
	if stored(t, c, "p1") != nil {
		t.Error("a refused batch wrote")
	}
	if got := len(batch(t, c, many[:25]...)); got != 25 {
		t.Errorf("got %d responses for 25 statements", got)
	}
}

func TestBatchOfReads(t *testing.T) {
	t.Parallel()
	c := newSDK(t)
	batch(t, c, statement(`INSERT INTO ttt VALUE {'pk': 'a', 'n': 1, 'm': {'deep': 2}}`))
	got := batch(t, c,
		statement(`SELECT * FROM ttt WHERE pk = 'absent'`),
		statement(`SELECT n, m.deep FROM ttt WHERE pk = 'a'`),
		statement(`SELECT * FROM ttt WHERE n = 1`),
	)
	want := []string{"ttt|map[]", "ttt|map[deep:2 n:1]", "ttt|ValidationError|"}
	for i, r := range got {
		if o := outcome(r); !strings.HasPrefix(o, want[i]) {
			t.Errorf("statement %d: got %s, want %s", i, o, want[i])
		}
	}
}

func TestExecuteStatement(t *testing.T) {
	t.Parallel()
	c := newSDK(t)
	execute := func(text string) ([]map[string]types.AttributeValue, error) {
		out, err := c.ExecuteStatement(t.Context(), &dynamodb.ExecuteStatementInput{
			Statement: &text, ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
		})
		if err != nil {
			return nil, err
		}
		return out.Items, nil
	}
	for _, step := range []struct{ statement, want string }{
		{`INSERT INTO ttt VALUE {'pk': 'a', 'n': 1}`, ""},
		{`UPDATE ttt SET n = 2, x = 1 WHERE pk = 'a' RETURNING MODIFIED NEW *`, "map[n:2 x:1]"},
		{`UPDATE ttt SET n = 3 WHERE pk = 'a' RETURNING MODIFIED OLD *`, "map[n:2]"},
		{`UPDATE ttt SET fresh = 3 WHERE pk = 'a' RETURNING MODIFIED OLD *`, ""},
		{`SELECT * FROM ttt WHERE pk = 'a' AND n > 3`, ""},
		{`SELECT n FROM ttt WHERE pk = 'a' AND n > 2`, "map[n:3]"},
		// An item that is not there has nothing to delete, whatever the condition.
		{`DELETE FROM ttt WHERE pk = 'absent' AND n = 1`, ""},
		{`DELETE FROM ttt WHERE pk = 'a' AND n = 3 RETURNING ALL OLD *`, "map[fresh:3 n:3 pk:a x:1]"},
	} {
		items, err := execute(step.statement)
		var got []string
		for _, item := range items {
			got = append(got, fmt.Sprint(brief(item)))
		}
		if all := strings.Join(got, " "); err != nil || all != step.want {
			t.Errorf("%s:\n got %s, %v\nwant %s", step.statement, all, err, step.want)
		}
	}
	if _, err := execute(`INSERT INTO ttt VALUE {'pk': 'a', 'n': 1}`); err != nil {
		t.Fatal(err)
	}
	_, err := execute(`INSERT INTO ttt VALUE {'pk': 'a', 'n': 9}`)
	if _, ok := errors.AsType[*types.DuplicateItemException](err); !ok {
		t.Errorf("second insert: got %v, want DuplicateItemException", err)
	}
	for _, text := range []string{`UPDATE ttt SET n = 2 WHERE pk = 'a' AND n = 7`, `DELETE FROM ttt WHERE pk = 'a' AND n = 7`} {
		_, err = execute(text)
		failed, ok := errors.AsType[*types.ConditionalCheckFailedException](err)
		if !ok || fmt.Sprint(brief(failed.Item)) != "map[n:1 pk:a]" {
			t.Errorf("%s: got %v, want the typed error with the item", text, err)
		}
	}
}

// A batch costs what its statements would cost alone, those that fail included.
func TestStatementsAreBilled(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	body := `{"ReturnConsumedCapacity":"TOTAL","Statements":[
		{"Statement":"INSERT INTO ttt VALUE {'pk':'a'}"},{"Statement":"UPDATE ttt SET n = 1 WHERE pk = 'absent'"},{"Statement":"INSERT INTO ttt VALUE {'pk':'b','gpk':'g','gsk':1}"}]}`
	out, werr := r.srv.Call(t.Context(), "BatchExecuteStatement", []byte(body))
	if werr != nil {
		t.Fatal(werr)
	}
	r.same(r.decode(out)["ConsumedCapacity"], `[{'TableName':'ttt','CapacityUnits':4}]`)
	if u := r.srv.Usage("ttt"); u.Write != 4 || u.IndexWrite != 1 {
		t.Errorf("billed %+v, want 4 units of which 1 for the index", u)
	}
}
