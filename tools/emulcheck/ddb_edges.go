package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// edgesCases are what servers were found to disagree on by random calls.
func (w *tables) edgesCases() []testCase {
	return []testCase{
		{"ddb.absent_attributes_are_not_equal", w.absentAreNotEqual},
		{"ddb.remove_makes_no_item", w.removeMakesNoItem},
		{"ddb.path_to_nowhere_rejected", w.pathToNowhere},
		{"ddb.updated_new_shows_parts", w.updatedNewShowsParts},
		{"ddb.sum_over_38_digits_rejected", w.sumOver38Digits},
		{"ddb.lists_are_equal_by_content", w.listsAreEqual},
	}
}

func (w *tables) updateOf(ctx context.Context, pk, expression, condition string, values item, returned types.ReturnValue) (item, error) {
	in := &dynamodb.UpdateItemInput{
		TableName: w.name(), Key: item{"pk": str(pk)}, UpdateExpression: &expression, ExpressionAttributeValues: values, ReturnValues: returned,
	}
	if condition != "" {
		in.ConditionExpression = &condition
	}
	out, err := w.client.UpdateItem(ctx, in)
	if err != nil {
		return nil, err
	}
	return out.Attributes, nil
}

// The documentation of operators does not say it; measured on AWS by others, an absent attribute equals nothing.
func (w *tables) absentAreNotEqual(ctx context.Context) error {
	_, err := w.updateOf(ctx, "edge1", "SET a = :a", "q = z", item{":a": num(1)}, "")
	return wantCode(err, "ConditionalCheckFailedException")
}

// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/LegacyConditionalParameters.AttributeUpdates.html says of a deletion
// from an item that is not found that nothing happens.
func (w *tables) removeMakesNoItem(ctx context.Context) error {
	if _, err := w.updateOf(ctx, "edge2", "REMOVE a", "", nil, ""); err != nil {
		return err
	}
	i, err := w.get(ctx, "edge2")
	if err == nil && i != nil {
		err = fmt.Errorf("a REMOVE made %v", i)
	}
	return err
}

func (w *tables) pathToNowhere(ctx context.Context) error {
	if err := w.put(ctx, item{"pk": str("edge3"), "a": num(1)}); err != nil {
		return err
	}
	for _, expression := range []string{"REMOVE m.x", "REMOVE l[0]", "REMOVE a.x"} {
		_, err := w.updateOf(ctx, "edge3", expression, "", nil, "")
		if err := wantCode(err, "ValidationException"); err != nil {
			return fmt.Errorf("%s: %w", expression, err)
		}
	}
	return nil
}

func (w *tables) updatedNewShowsParts(ctx context.Context) error {
	if err := w.put(ctx, item{"pk": str("edge4"), "l": list(num(1), num(2))}); err != nil {
		return err
	}
	got, err := w.updateOf(ctx, "edge4", "SET l[1] = :three", "", item{":three": num(3)}, types.ReturnValueUpdatedNew)
	if err != nil {
		return err
	}
	if l, ok := got["l"].(*types.AttributeValueMemberL); !ok || len(l.Value) != 1 {
		return fmt.Errorf("attributes %v, want a list of the one element", got)
	}
	return nil
}

// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/HowItWorks.NamingRulesDataTypes.html: more than 38 digits are an
// exception.
func (w *tables) sumOver38Digits(ctx context.Context) error {
	if err := w.put(ctx, item{"pk": str("edge5"), "n": digits(strings.Repeat("1", 38))}); err != nil {
		return err
	}
	_, err := w.updateOf(ctx, "edge5", "SET n = n + :half", "", item{":half": digits("0.5")}, "")
	return wantCode(err, "ValidationException")
}

func (w *tables) listsAreEqual(ctx context.Context) error {
	if err := w.put(ctx, item{"pk": str("edge6"), "l": list(num(1), str("e"))}); err != nil {
		return err
	}
	_, err := w.updateOf(ctx, "edge6", "SET a = :a", "l = :l", item{":a": num(1), ":l": list(digits("1.0"), str("e"))}, "")
	return err
}
