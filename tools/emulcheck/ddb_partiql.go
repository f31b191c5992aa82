package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// partiqlCases are about BatchExecuteStatement, where each statement wins or loses alone.
func (w *tables) partiqlCases() []testCase {
	return []testCase{
		{"ddb.partiql_insert_once", w.partiqlInsertOnce},
		{"ddb.partiql_update_of_revision", w.partiqlUpdateOfRevision},
		{"ddb.partiql_lost_update_has_item", w.partiqlLostUpdateHasItem},
		{"ddb.partiql_update_makes_no_item", w.partiqlUpdateMakesNoItem},
		{"ddb.partiql_takes_expired_or_missing", w.partiqlTakesExpired},
		{"ddb.partiql_mixed_batch_rejected", w.partiqlMixed},
		{"ddb.partiql_26_statements_rejected", w.partiql26},
	}
}

func (w *tables) statement(text string, params ...value) types.BatchStatementRequest {
	return types.BatchStatementRequest{
		Statement: aws.String(fmt.Sprintf(text, `"`+w.table+`"`)), Parameters: params,
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	}
}

func (w *tables) batch(ctx context.Context, statements ...types.BatchStatementRequest) ([]types.BatchStatementResponse, error) {
	out, err := w.client.BatchExecuteStatement(ctx, &dynamodb.BatchExecuteStatementInput{Statements: statements})
	if err != nil {
		return nil, err
	}
	if len(out.Responses) != len(statements) {
		return nil, fmt.Errorf("%d responses to %d statements", len(out.Responses), len(statements))
	}
	return out.Responses, nil
}

func code(r types.BatchStatementResponse) types.BatchStatementErrorCodeEnum {
	if r.Error == nil {
		return ""
	}
	return r.Error.Code
}

// wantCodes runs a batch and compares the codes, "" being success.
func (w *tables) wantCodes(ctx context.Context, want []types.BatchStatementErrorCodeEnum, statements ...types.BatchStatementRequest) error {
	responses, err := w.batch(ctx, statements...)
	if err != nil {
		return err
	}
	got := []types.BatchStatementErrorCodeEnum{}
	for _, r := range responses {
		got = append(got, code(r))
	}
	if !slices.Equal(got, want) {
		return fmt.Errorf("codes %q, want %q", got, want)
	}
	return nil
}

func (w *tables) partiqlInsertOnce(ctx context.Context) error {
	insert := w.statement(`INSERT INTO %s VALUE {'pk': ?, 'revision': ?}`, str("pq1"), str("r1"))
	if err := w.wantCodes(ctx, []types.BatchStatementErrorCodeEnum{""}, insert); err != nil {
		return err
	}
	other := w.statement(`INSERT INTO %s VALUE {'pk': ?}`, str("pq2"))
	return w.wantCodes(ctx, []types.BatchStatementErrorCodeEnum{types.BatchStatementErrorCodeEnumDuplicateItem, ""}, insert, other)
}

func (w *tables) partiqlUpdateOfRevision(ctx context.Context) error {
	update := w.statement(`UPDATE %s SET revision = ? SET done = ? WHERE pk = ? AND revision = ?`, str("r2"), num(1), str("pq1"), str("r1"))
	if err := w.wantCodes(ctx, []types.BatchStatementErrorCodeEnum{""}, update); err != nil {
		return err
	}
	i, err := w.get(ctx, "pq1")
	if err == nil && (text(i, "revision") != "r2" || number(i, "done") != "1") {
		err = fmt.Errorf("item %v", i)
	}
	return err
}

func (w *tables) partiqlLostUpdateHasItem(ctx context.Context) error {
	responses, err := w.batch(ctx, w.statement(`UPDATE %s SET revision = ? WHERE pk = ? AND revision = ?`, str("r3"), str("pq1"), str("r1")))
	if err != nil {
		return err
	}
	if code(responses[0]) != types.BatchStatementErrorCodeEnumConditionalCheckFailed {
		return fmt.Errorf("code %q", code(responses[0]))
	}
	if text(responses[0].Error.Item, "revision") != "r2" {
		return fmt.Errorf("item with the failure %v", responses[0].Error.Item)
	}
	return nil
}

func (w *tables) partiqlUpdateMakesNoItem(ctx context.Context) error {
	update := w.statement(`UPDATE %s SET a = 1 WHERE pk = ?`, str("pq-absent"))
	if err := w.wantCodes(ctx, []types.BatchStatementErrorCodeEnum{types.BatchStatementErrorCodeEnumConditionalCheckFailed}, update); err != nil {
		return err
	}
	i, err := w.get(ctx, "pq-absent")
	if err == nil && i != nil {
		err = fmt.Errorf("an UPDATE made %v", i)
	}
	return err
}

func (w *tables) partiqlTakesExpired(ctx context.Context) error {
	if err := w.put(ctx, item{"pk": str("pq3"), "expires_at": num(100)}); err != nil {
		return err
	}
	take := func(pk string) types.BatchStatementRequest {
		return w.statement(`UPDATE %s SET expires_at = ? WHERE pk = ? AND (expires_at IS MISSING OR expires_at <= ?)`, num(900), str(pk), num(500))
	}
	if err := w.wantCodes(ctx, []types.BatchStatementErrorCodeEnum{"", ""}, take("pq3"), take("pq2")); err != nil {
		return err
	}
	return w.wantCodes(ctx, []types.BatchStatementErrorCodeEnum{types.BatchStatementErrorCodeEnumConditionalCheckFailed}, take("pq3"))
}

func (w *tables) partiqlMixed(ctx context.Context) error {
	_, err := w.batch(ctx, w.statement(`SELECT * FROM %s WHERE pk = 'pq1'`), w.statement(`INSERT INTO %s VALUE {'pk': 'pq4'}`))
	return wantCode(err, "ValidationException")
}

func (w *tables) partiql26(ctx context.Context) error {
	var all []types.BatchStatementRequest
	for i := range 26 {
		all = append(all, w.statement(`INSERT INTO %s VALUE {'pk': ?}`, str(fmt.Sprint("pq-many-", i))))
	}
	_, err := w.batch(ctx, all...)
	return wantCode(err, "ValidationException")
}
