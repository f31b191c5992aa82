package main

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// typesCases are about TTL, types, sizes and numbers.
func (w *tables) typesCases() []testCase {
	return []testCase{
		{"ddb.ttl_update_describe", w.ttlUpdateDescribe},
		{"ddb.ttl_expired_item_still_readable", w.ttlExpiredItemStillReadable},
		{"ddb.item_390KB_ok_410KB_rejected", w.item390KBOk410KBRejected},
		{"ddb.update_growing_past_400KB_rejected", w.updateGrowingPast400KBRejected},
		{"ddb.types_roundtrip_binary_sets_null_bool", w.typesRoundtripBinarySetsNullBool},
		{"ddb.number_38_digits_and_normalised", w.number38DigitsAndNormalised},
		{"ddb.number_39_digits_rejected", w.number39DigitsRejected},
		{"ddb.big_int_add_exact", w.bigIntAddExact},
	}
}

func (w *tables) ttlUpdateDescribe(ctx context.Context) error {
	_, err := w.client.UpdateTimeToLive(ctx, &dynamodb.UpdateTimeToLiveInput{TableName: w.name(), TimeToLiveSpecification: &types.TimeToLiveSpecification{AttributeName: aws.String("expires_at"), Enabled: aws.Bool(true)}})
	if err != nil {
		return err
	}
	o, err := w.client.DescribeTimeToLive(ctx, &dynamodb.DescribeTimeToLiveInput{TableName: w.name()})
	if err != nil {
		return err
	}
	d := o.TimeToLiveDescription
	if d == nil || aws.ToString(d.AttributeName) != "expires_at" || (d.TimeToLiveStatus != types.TimeToLiveStatusEnabled && d.TimeToLiveStatus != types.TimeToLiveStatusEnabling) {
		return fmt.Errorf("description %+v", d)
	}
	return nil
}

func (w *tables) ttlExpiredItemStillReadable(ctx context.Context) error {
	if err := w.put(ctx, item{"pk": str("ttl1"), "expires_at": num(time.Now().Unix() - 5)}); err != nil {
		return err
	}
	i1, err := w.get(ctx, "ttl1")
	if err != nil {
		return err
	}
	wait(ctx, 2500*time.Millisecond)
	i2, err := w.get(ctx, "ttl1")
	if err != nil {
		return err
	}
	return note{fmt.Sprintf("expired item readable: at once %v, after 2.5s %v (AWS: yes, for up to days)", len(i1) > 0, len(i2) > 0)}
}

func (w *tables) item390KBOk410KBRejected(ctx context.Context) error {
	if err := w.put(ctx, item{"pk": str("sz1"), "d": str(strings.Repeat("x", 390<<10))}); err != nil {
		return err
	}
	err := w.put(ctx, item{"pk": str("sz2"), "d": str(strings.Repeat("x", 410<<10))})
	if e := wantCode(err, "ValidationException"); e != nil {
		return e
	}
	if !strings.Contains(err.Error(), "Item size has exceeded the maximum allowed size") {
		return fmt.Errorf("message: %s", short(err))
	}
	return nil
}

func (w *tables) updateGrowingPast400KBRejected(ctx context.Context) error {
	_, err := w.client.UpdateItem(ctx, &dynamodb.UpdateItemInput{TableName: w.name(), Key: item{"pk": str("sz1")}, UpdateExpression: aws.String("SET e = :d"), ExpressionAttributeValues: item{":d": str(strings.Repeat("y", 20<<10))}})
	return wantCode(err, "ValidationException")
}

func (w *tables) typesRoundtripBinarySetsNullBool(ctx context.Context) error {
	raw := make([]byte, 256)
	for i := range raw {
		raw[i] = byte(i)
	}
	in := item{
		"pk": str("bin1"), "b": bin(raw), "bs": &types.AttributeValueMemberBS{Value: [][]byte{{1}, {2, 0}}}, "ns": &types.AttributeValueMemberNS{Value: []string{"1", "2"}},
		"nul": &types.AttributeValueMemberNULL{Value: true}, "bo": &types.AttributeValueMemberBOOL{Value: false}, "es": str(""), "eb": bin([]byte{}), "u": str("日本\u0000é"),
	}
	if err := w.put(ctx, in); err != nil {
		return err
	}
	i, err := w.get(ctx, "bin1")
	if err != nil {
		return err
	}
	b, _ := i["b"].(*types.AttributeValueMemberB)
	bs, _ := i["bs"].(*types.AttributeValueMemberBS)
	bo, okBo := i["bo"].(*types.AttributeValueMemberBOOL)
	_, okN := i["nul"].(*types.AttributeValueMemberNULL)
	_, okE := i["es"].(*types.AttributeValueMemberS)
	if b == nil || !bytes.Equal(b.Value, raw) || bs == nil || len(bs.Value) != 2 || !okBo || bo.Value || !okN || !okE || text(i, "u") != "日本\u0000é" {
		return fmt.Errorf("got %v", i)
	}
	return nil
}

func (w *tables) number38DigitsAndNormalised(ctx context.Context) error {
	if err := w.put(ctx, item{"pk": str("num1"), "a": digits("12345678901234567890123456789012345678"), "b": digits("1.500"), "c": digits("-0.0000001")}); err != nil {
		return err
	}
	i, err := w.get(ctx, "num1")
	if err != nil {
		return err
	}
	if number(i, "a") != "12345678901234567890123456789012345678" || number(i, "b") != "1.5" {
		return fmt.Errorf("a=%s b=%s c=%s", number(i, "a"), number(i, "b"), number(i, "c"))
	}
	return nil
}

func (w *tables) number39DigitsRejected(ctx context.Context) error {
	return wantCode(w.put(ctx, item{"pk": str("num2"), "a": digits("123456789012345678901234567890123456789")}), "ValidationException")
}

func (w *tables) bigIntAddExact(ctx context.Context) error {
	if err := w.put(ctx, item{"pk": str("num3"), "a": digits("9007199254740993")}); err != nil {
		return err
	}
	o, err := w.client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName: w.name(), Key: item{"pk": str("num3")}, UpdateExpression: aws.String("ADD a :one"),
		ConditionExpression: aws.String("a = :v"), ExpressionAttributeValues: item{":one": num(2), ":v": digits("9007199254740993")}, ReturnValues: types.ReturnValueAllNew,
	})
	if err != nil {
		return err
	}
	if number(o.Attributes, "a") != "9007199254740995" {
		return fmt.Errorf("2^53+1 + 2 = %s", number(o.Attributes, "a"))
	}
	return nil
}
