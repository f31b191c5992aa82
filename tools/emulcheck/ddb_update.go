package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// updateCases are about updates, conditions and deletes.
func (w *tables) updateCases() []testCase {
	return []testCase{
		{"ddb.update_owner_SET_REMOVE_ADD_ALL_NEW", w.updateOwnerSETREMOVEADDALLNEW},
		{"ddb.update_wrong_owner_fails_with_item", w.updateWrongOwnerFailsWithItem},
		{"ddb.update_list_append_grows", w.updateListAppendGrows},
		{"ddb.update_return_values_variants", w.updateReturnValuesVariants},
		{"ddb.update_nested_map_path", w.updateNestedMapPath},
		{"ddb.condition_functions", w.conditionFunctions},
		{"ddb.delete_conditional", w.deleteConditional},
		{"ddb.get_projection_consistent", w.getProjectionConsistent},
		{"ddb.get_missing_item_nil", w.getMissingItemNil},
	}
}

func (w *tables) updateOwnerSETREMOVEADDALLNEW(ctx context.Context) error {
	o, err := w.client.UpdateItem(ctx, w.completion("c1", "w1"))
	if err != nil {
		return err
	}
	a := o.Attributes
	_, locked := a["locked_until"]
	l, _ := a["hist"].(*types.AttributeValueMemberL)
	if text(a, "status") != "done" || locked || number(a, "attempts") != "2" || l == nil || len(l.Value) != 1 || text(a, "pk") != "c1" {
		return fmt.Errorf("ALL_NEW = %v", a)
	}
	return nil
}

func (w *tables) updateWrongOwnerFailsWithItem(ctx context.Context) error {
	_, err := w.client.UpdateItem(ctx, w.completion("c2", "someone"))
	e, ok := errors.AsType[*types.ConditionalCheckFailedException](err)
	if !ok {
		return fmt.Errorf("want ConditionalCheckFailedException, got %v", err)
	}
	if text(e.Item, "owner") != "w2" {
		return fmt.Errorf("item in exception = %v", e.Item)
	}
	return nil
}

func (w *tables) updateListAppendGrows(ctx context.Context) error {
	for i := range 3 {
		_, err := w.client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
			TableName: w.name(), Key: item{"pk": str("u1")},
			UpdateExpression:          aws.String("SET hist = list_append(if_not_exists(hist, :e), :h), #n = if_not_exists(#n, :z) + :one"),
			ExpressionAttributeNames:  map[string]string{"#n": "n"},
			ExpressionAttributeValues: item{":e": list(), ":h": list(num(int64(i))), ":z": num(0), ":one": num(1)},
		})
		if err != nil {
			return err
		}
	}
	i, err := w.get(ctx, "u1")
	if err != nil {
		return err
	}
	l, _ := i["hist"].(*types.AttributeValueMemberL)
	if l == nil || len(l.Value) != 3 || number(i, "n") != "3" {
		return fmt.Errorf("item %v", i)
	}
	return nil
}

func (w *tables) updateReturnValuesVariants(ctx context.Context) error {
	in := &dynamodb.UpdateItemInput{
		TableName: w.name(), Key: item{"pk": str("u2")}, UpdateExpression: aws.String("SET a = :a"),
		ExpressionAttributeValues: item{":a": num(1)}, ReturnValues: types.ReturnValueUpdatedNew,
	}
	o, err := w.client.UpdateItem(ctx, in)
	if err != nil {
		return err
	}
	if len(o.Attributes) != 1 || number(o.Attributes, "a") != "1" {
		return fmt.Errorf("UPDATED_NEW = %v", o.Attributes)
	}
	in.ExpressionAttributeValues = item{":a": num(2)}
	in.ReturnValues = types.ReturnValueUpdatedOld
	if o, err = w.client.UpdateItem(ctx, in); err != nil {
		return err
	}
	if len(o.Attributes) != 1 || number(o.Attributes, "a") != "1" {
		return fmt.Errorf("UPDATED_OLD = %v", o.Attributes)
	}
	in.ReturnValues = types.ReturnValueAllOld
	if o, err = w.client.UpdateItem(ctx, in); err != nil {
		return err
	}
	if text(o.Attributes, "pk") != "u2" || number(o.Attributes, "a") != "2" {
		return fmt.Errorf("ALL_OLD = %v", o.Attributes)
	}
	return nil
}

func (w *tables) updateNestedMapPath(ctx context.Context) error {
	if err := w.put(ctx, item{"pk": str("u3"), "m": &types.AttributeValueMemberM{Value: item{"k": num(1), "l": list(str("a"), str("b"))}}}); err != nil {
		return err
	}
	_, err := w.client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName: w.name(), Key: item{"pk": str("u3")},
		UpdateExpression:          aws.String("SET m.#k = m.#k + :one, m.l[0] = :z REMOVE m.l[1]"),
		ConditionExpression:       aws.String("attribute_exists(m.l[1]) AND m.#k = :one"),
		ExpressionAttributeNames:  map[string]string{"#k": "k"},
		ExpressionAttributeValues: item{":one": num(1), ":z": str("z")},
	})
	if err != nil {
		return err
	}
	i, err := w.get(ctx, "u3")
	if err != nil {
		return err
	}
	m := i["m"].(*types.AttributeValueMemberM).Value
	l := m["l"].(*types.AttributeValueMemberL).Value
	if number(m, "k") != "2" || len(l) != 1 {
		return fmt.Errorf("m = %v", m)
	}
	return nil
}

func (w *tables) conditionFunctions(ctx context.Context) error {
	if err := w.put(ctx, item{"pk": str("f1"), "a": str("hello"), "n": num(5), "ss": &types.AttributeValueMemberSS{Value: []string{"x", "y"}}}); err != nil {
		return err
	}
	var bad []string
	for _, c := range []struct {
		condition string
		values    item
	}{
		{"begins_with(a, :he)", item{":he": str("he")}},
		{"contains(a, :ell)", item{":ell": str("ell")}},
		{"contains(ss, :x)", item{":x": str("x")}},
		{"size(a) = :five", item{}},
		{"n BETWEEN :one AND :ten", item{":one": num(1), ":ten": num(10)}},
		{"n IN (:one, :five)", item{":one": num(1)}},
		{"NOT n = :one", item{":one": num(1)}},
		{"attribute_type(n, :type)", item{":type": str("N")}},
		{"attribute_exists(a) AND NOT (attribute_exists(zz) OR n < :one)", item{":one": num(1)}},
		{"a <> :x", item{":x": str("x")}},
		{"(n = :one OR n = :five) AND a > :a", item{":one": num(1), ":a": str("a")}},
	} {
		c.values[":five"] = num(5)
		_, err := w.client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
			TableName: w.name(), Key: item{"pk": str("f1")}, UpdateExpression: aws.String("SET q = :five"),
			ConditionExpression: &c.condition, ExpressionAttributeValues: c.values,
		})
		if err != nil {
			bad = append(bad, c.condition+": "+short(err))
		}
	}
	if len(bad) > 0 {
		return errors.New(strings.Join(bad, "; "))
	}
	return nil
}

func (w *tables) deleteConditional(ctx context.Context) error {
	if err := w.put(ctx, item{"pk": str("d1"), "owner": str("w1")}); err != nil {
		return err
	}
	in := &dynamodb.DeleteItemInput{
		TableName: w.name(), Key: item{"pk": str("d1")}, ConditionExpression: aws.String("#o = :o"),
		ExpressionAttributeNames: map[string]string{"#o": "owner"}, ExpressionAttributeValues: item{":o": str("w2")},
		ReturnValues: types.ReturnValueAllOld, ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	}
	_, err := w.client.DeleteItem(ctx, in)
	e, ok := errors.AsType[*types.ConditionalCheckFailedException](err)
	if !ok || text(e.Item, "owner") != "w1" {
		return fmt.Errorf("want typed failure with item, got %v", err)
	}
	in.ExpressionAttributeValues = item{":o": str("w1")}
	o, err := w.client.DeleteItem(ctx, in)
	if err != nil {
		return err
	}
	if text(o.Attributes, "owner") != "w1" {
		return fmt.Errorf("ALL_OLD = %v", o.Attributes)
	}
	i, err := w.get(ctx, "d1")
	if err == nil && len(i) != 0 {
		err = errors.New("item still there")
	}
	return err
}

func (w *tables) getProjectionConsistent(ctx context.Context) error {
	o, err := w.client.GetItem(ctx, &dynamodb.GetItemInput{
		TableName: w.name(), Key: item{"pk": str("c2")}, ConsistentRead: aws.Bool(true),
		ProjectionExpression: aws.String("#s, locked_until"), ExpressionAttributeNames: map[string]string{"#s": "status"},
	})
	if err != nil {
		return err
	}
	if len(o.Item) != 2 {
		return fmt.Errorf("item %v", o.Item)
	}
	return nil
}

func (w *tables) getMissingItemNil(ctx context.Context) error {
	i, err := w.get(ctx, "no-such")
	if err == nil && i != nil {
		err = fmt.Errorf("item = %v, want nil", i)
	}
	return err
}
