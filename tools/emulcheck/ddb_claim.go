package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// claimCases are claims: one conditional put that may replace what has expired.
func (w *tables) claimCases() []testCase {
	return []testCase{
		{"ddb.claim_put_fresh", w.claimPutFresh},
		{"ddb.claim_put_held_fails_typed", w.claimPutHeldFailsTyped},
		{"ddb.claim_put_ALL_OLD_item_in_error", w.claimPutALLOLDItemInError},
		{"ddb.claim_put_NONE_no_item_in_error", w.claimPutNONENoItemInError},
		{"ddb.claim_put_takeover_lock_expired", w.claimPutTakeoverLockExpired},
		{"ddb.claim_put_takeover_record_expired", w.claimPutTakeoverRecordExpired},
		{"ddb.claim_put_done_not_expired_fails", w.claimPutDoneNotExpiredFails},
		{"ddb.number_compare_is_numeric", w.numberCompareIsNumeric},
		{"ddb.missing_attr_compare_is_false", w.missingAttrCompareIsFalse},
	}
}

func (w *tables) claimPutFresh(ctx context.Context) error {
	_, err := w.client.PutItem(ctx, w.claim("c1", "w1", w.now, w.now+30, w.now+3600))
	return err
}

func (w *tables) claimPutHeldFailsTyped(ctx context.Context) error {
	_, err := w.client.PutItem(ctx, w.claim("c1", "w2", w.now, w.now+30, w.now+3600))
	if _, ok := errors.AsType[*types.ConditionalCheckFailedException](err); !ok {
		return fmt.Errorf("want ConditionalCheckFailedException, got %v", err)
	}
	return nil
}

func (w *tables) claimPutALLOLDItemInError(ctx context.Context) error {
	_, err := w.client.PutItem(ctx, w.claim("c1", "w2", w.now, w.now+30, w.now+3600))
	e, ok := errors.AsType[*types.ConditionalCheckFailedException](err)
	if !ok {
		return fmt.Errorf("want ConditionalCheckFailedException, got %v", err)
	}
	if text(e.Item, "owner") != "w1" || number(e.Item, "locked_until") == "" {
		return fmt.Errorf("item in exception = %v", e.Item)
	}
	return nil
}

func (w *tables) claimPutNONENoItemInError(ctx context.Context) error {
	in := w.claim("c1", "w2", w.now, w.now+30, w.now+3600)
	in.ReturnValuesOnConditionCheckFailure = types.ReturnValuesOnConditionCheckFailureNone
	_, err := w.client.PutItem(ctx, in)
	e, ok := errors.AsType[*types.ConditionalCheckFailedException](err)
	if !ok {
		return fmt.Errorf("want ConditionalCheckFailedException, got %v", err)
	}
	if len(e.Item) != 0 {
		return errors.New("the item came although it was not asked for")
	}
	return nil
}

func (w *tables) claimPutTakeoverLockExpired(ctx context.Context) error {
	if _, err := w.client.PutItem(ctx, w.claim("c2", "w1", w.now, w.now-5, w.now+3600)); err != nil {
		return err
	}
	in := w.claim("c2", "w2", w.now, w.now+30, w.now+3600)
	in.ReturnValues = types.ReturnValueAllOld
	o, err := w.client.PutItem(ctx, in)
	if err != nil {
		return err
	}
	if text(o.Attributes, "owner") != "w1" {
		return fmt.Errorf("ReturnValues ALL_OLD = %v", o.Attributes)
	}
	return nil
}

func (w *tables) claimPutTakeoverRecordExpired(ctx context.Context) error {
	if err := w.put(ctx, item{"pk": str("c3"), "status": str("done"), "expires_at": num(w.now - 1), "owner": str("w1")}); err != nil {
		return err
	}
	if _, err := w.client.PutItem(ctx, w.claim("c3", "w2", w.now, w.now+30, w.now+3600)); err != nil {
		return err
	}
	i, err := w.get(ctx, "c3")
	if err == nil && text(i, "owner") != "w2" {
		err = fmt.Errorf("owner %q", text(i, "owner"))
	}
	return err
}

func (w *tables) claimPutDoneNotExpiredFails(ctx context.Context) error {
	if err := w.put(ctx, item{"pk": str("c4"), "status": str("done"), "locked_until": num(w.now - 100), "expires_at": num(w.now + 500)}); err != nil {
		return err
	}
	_, err := w.client.PutItem(ctx, w.claim("c4", "w2", w.now, w.now+30, w.now+3600))
	return wantCode(err, "ConditionalCheckFailedException")
}

func (w *tables) numberCompareIsNumeric(ctx context.Context) error {
	// "9" <= "10" must hold numerically (string compare would say no).
	if err := w.put(ctx, item{"pk": str("c5"), "status": str("ip"), "locked_until": num(9), "expires_at": num(99999999999)}); err != nil {
		return err
	}
	_, err := w.client.PutItem(ctx, w.claim("c5", "w2", 10, 20, w.now))
	return err
}

func (w *tables) missingAttrCompareIsFalse(ctx context.Context) error {
	if err := w.put(ctx, item{"pk": str("c6"), "status": str("ip")}); err != nil {
		return err
	}
	_, err := w.client.PutItem(ctx, w.claim("c6", "w2", w.now, w.now+30, w.now+3600))
	return wantCode(err, "ConditionalCheckFailedException")
}
