//go:build integration

package awstest_test

import (
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/claimonce/claimonce/awstest"
)

const dynamoCalls = 600

type (
	datum  = types.AttributeValue
	fields = map[string]datum
)

func TestDynamoDBAnswersAsOthersDo(t *testing.T) {
	t.Parallel()
	url, name := endpointOf(t, "CLAIMONCE_DYNAMO_ENDPOINT")
	table := fmt.Sprintf("differential-%d", time.Now().UnixNano())
	w := &tableWalk{
		pair: newPair(t, name, knownDynamo(name)), table: table,
		ours:   newTable(t, dynamodb.NewFromConfig(configOf(awstest.New(awstest.Config{}))), table),
		theirs: newTable(t, dynamodb.NewFromConfig(configAt(url)), table),
	}
	for range dynamoCalls {
		w.step()
	}
	w.finish()
}

// newTable has a partition key, a sort key and an index by another number.
func newTable(t *testing.T, client *dynamodb.Client, name string) *dynamodb.Client {
	t.Helper()
	key := func(name string, kind types.KeyType) types.KeySchemaElement {
		return types.KeySchemaElement{AttributeName: &name, KeyType: kind}
	}
	_, err := client.CreateTable(t.Context(), &dynamodb.CreateTableInput{
		TableName: &name, BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{
			{AttributeName: aws.String("pk"), AttributeType: types.ScalarAttributeTypeS},
			{AttributeName: aws.String("sk"), AttributeType: types.ScalarAttributeTypeN},
			{AttributeName: aws.String("n"), AttributeType: types.ScalarAttributeTypeN},
		},
		KeySchema: []types.KeySchemaElement{key("pk", types.KeyTypeHash), key("sk", types.KeyTypeRange)},
		GlobalSecondaryIndexes: []types.GlobalSecondaryIndex{{
			IndexName: aws.String("by-n"), KeySchema: []types.KeySchemaElement{key("pk", types.KeyTypeHash), key("n", types.KeyTypeRange)},
			Projection: &types.Projection{ProjectionType: types.ProjectionTypeAll},
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	exists := dynamodb.NewTableExistsWaiter(client, func(o *dynamodb.TableExistsWaiterOptions) { o.MinDelay, o.MaxDelay = 50*time.Millisecond, time.Second })
	if err := exists.Wait(t.Context(), &dynamodb.DescribeTableInput{TableName: &name}, time.Minute); err != nil {
		t.Fatal(err)
	}
	return client
}

// tableWalk makes random calls on a dozen keys.
type tableWalk struct {
	*pair

	table        string
	ours, theirs *dynamodb.Client
}

func (w *tableWalk) step() {
	switch n := w.IntN(22); {
	case n < 4:
		w.put()
	case n < 9:
		w.update()
	case n < 11:
		w.delete()
	case n < 13:
		w.transact()
	case n < 17:
		w.query()
	case n < 18:
		w.scan()
	case n < 20:
		w.statements()
	default:
		w.get()
	}
}

func keyOf(it fields) fields { return fields{"pk": it["pk"], "sk": it["sk"]} }

// call runs one call on both servers and compares how it ended, and apart from that what it brought: items, or the item that a
// refusal brings.
func (w *tableWalk) call(kind, answer, text string, keys []fields, do func(*dynamodb.Client) (string, error)) {
	w.Helper()
	ours, errOurs := do(w.ours)
	theirs, errTheirs := do(w.theirs)
	w.compare(kind, text, refused(errOurs), refused(errTheirs))
	switch {
	case errOurs != nil && errTheirs != nil:
		w.compare(kind+"-refusal", text, refusal(errOurs), refusal(errTheirs))
	case errOurs == nil && errTheirs == nil:
		w.compare(kind+"-"+answer, text, ours, theirs)
	}
	w.align(kind, keys)
}

// align gives the other server what awstest holds, so that a known difference has no further ones in its wake.
func (w *tableWalk) align(kind string, keys []fields) {
	w.Helper()
	for _, key := range keys {
		ours, theirs := w.read(w.ours, key), w.read(w.theirs, key)
		if written(ours) == written(theirs) {
			continue
		}
		var err error
		if ours == nil {
			_, err = w.theirs.DeleteItem(w.Context(), &dynamodb.DeleteItemInput{TableName: &w.table, Key: key})
		} else {
			_, err = w.theirs.PutItem(w.Context(), &dynamodb.PutItemInput{TableName: &w.table, Item: ours})
		}
		if err != nil {
			w.Fatal(err)
		}
		w.compare(kind+"-stored", "the item after it", written(ours), written(theirs))
	}
}

func (w *tableWalk) read(c *dynamodb.Client, key fields) fields {
	w.Helper()
	out, err := c.GetItem(w.Context(), &dynamodb.GetItemInput{TableName: &w.table, Key: key, ConsistentRead: aws.Bool(true)})
	if err != nil {
		w.Fatal(err)
	}
	return out.Item
}

// refusal is the item that a failed condition shows, or the reasons of a cancelled transaction.
func refusal(err error) string {
	if e, ok := errors.AsType[*types.ConditionalCheckFailedException](err); ok {
		return written(e.Item)
	}
	if e, ok := errors.AsType[*types.TransactionCanceledException](err); ok {
		var reasons []string
		for _, r := range e.CancellationReasons {
			reasons = append(reasons, aws.ToString(r.Code)+" "+written(r.Item))
		}
		return strings.Join(reasons, ", ")
	}
	return ""
}

func (w *tableWalk) put() {
	in := &dynamodb.PutItemInput{
		TableName: &w.table, Item: w.item(), ReturnValues: choose(w.pair, []types.ReturnValue{types.ReturnValueNone, types.ReturnValueAllOld}),
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	}
	in.ConditionExpression, in.ExpressionAttributeNames, in.ExpressionAttributeValues = w.condition()
	call := "put " + written(in.Item) + w.under(in.ConditionExpression, in.ExpressionAttributeValues)
	w.call("put", "answer", call, []fields{keyOf(in.Item)}, func(c *dynamodb.Client) (string, error) {
		out, err := c.PutItem(w.Context(), in)
		if err != nil {
			return "", err
		}
		return written(out.Attributes), nil
	})
}

func (w *tableWalk) delete() {
	in := &dynamodb.DeleteItemInput{
		TableName: &w.table, Key: w.key(), ReturnValues: types.ReturnValueAllOld,
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	}
	in.ConditionExpression, in.ExpressionAttributeNames, in.ExpressionAttributeValues = w.condition()
	call := "delete " + written(in.Key) + w.under(in.ConditionExpression, in.ExpressionAttributeValues)
	w.call("delete", "answer", call, []fields{in.Key}, func(c *dynamodb.Client) (string, error) {
		out, err := c.DeleteItem(w.Context(), in)
		if err != nil {
			return "", err
		}
		return written(out.Attributes), nil
	})
}

func (w *tableWalk) update() {
	expression, names, given := w.change()
	condition, more, others := w.condition()
	maps.Copy(names, more)
	maps.Copy(given, others)
	in := &dynamodb.UpdateItemInput{
		TableName: &w.table, Key: w.key(), UpdateExpression: &expression, ConditionExpression: condition,
		ReturnValues:                        choose(w.pair, []types.ReturnValue{types.ReturnValueAllNew, types.ReturnValueAllOld, types.ReturnValueUpdatedNew, types.ReturnValueUpdatedOld}),
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	}
	if len(names) > 0 {
		in.ExpressionAttributeNames = names
	}
	if len(given) > 0 {
		in.ExpressionAttributeValues = given
	}
	call := fmt.Sprintf("update %s: %s, %s%s", written(in.Key), expression, in.ReturnValues, w.under(condition, given))
	kind := "update"
	switch {
	case !strings.Contains(expression, "SET") && !strings.Contains(expression, "ADD"):
		kind = "update-take"
	case strings.ContainsAny(expression, ".["):
		kind = "update-path"
	}
	w.call(kind, string(in.ReturnValues), call, []fields{in.Key}, func(c *dynamodb.Client) (string, error) {
		out, err := c.UpdateItem(w.Context(), in)
		if err != nil {
			return "", err
		}
		return written(out.Attributes), nil
	})
}

func (w *tableWalk) get() {
	in := &dynamodb.GetItemInput{TableName: &w.table, Key: w.key(), ConsistentRead: aws.Bool(true)}
	if w.IntN(2) == 0 {
		in.ProjectionExpression = aws.String("pk, m.a, l[1], n")
	}
	w.call("get", "answer", "get "+written(in.Key)+" "+aws.ToString(in.ProjectionExpression), nil, func(c *dynamodb.Client) (string, error) {
		out, err := c.GetItem(w.Context(), in)
		if err != nil {
			return "", err
		}
		return written(out.Item), nil
	})
}

// transact writes one or two items, which may be the same by chance.
func (w *tableWalk) transact() {
	if w.known.leavesOut("transact") {
		return
	}
	var items []types.TransactWriteItem
	var call []string
	var keys []fields
	for range 1 + w.IntN(2) {
		condition, names, given := w.condition()
		switch it := w.item(); {
		case w.IntN(3) > 0 || condition == nil:
			items = append(items, types.TransactWriteItem{Put: &types.Put{
				TableName: &w.table, Item: it, ConditionExpression: condition, ExpressionAttributeNames: names, ExpressionAttributeValues: given,
				ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
			}})
			keys = append(keys, keyOf(it))
			call = append(call, "put "+written(it)+w.under(condition, given))
		default:
			key := w.key()
			items = append(items, types.TransactWriteItem{ConditionCheck: &types.ConditionCheck{
				TableName: &w.table, Key: key, ConditionExpression: condition, ExpressionAttributeNames: names, ExpressionAttributeValues: given,
				ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
			}})
			call = append(call, "check "+written(key)+w.under(condition, given))
		}
	}
	w.call("transact", "answer", strings.Join(call, " and "), keys, func(c *dynamodb.Client) (string, error) {
		_, err := c.TransactWriteItems(w.Context(), &dynamodb.TransactWriteItemsInput{TransactItems: items})
		return "", err
	})
}

// query pages through a partition of the table or of its index. Items of one key in an index come in no order that is promised, so that
// only the order of the keys is compared there.
func (w *tableWalk) query() {
	sort := "sk"
	in := dynamodb.QueryInput{
		TableName: &w.table, ScanIndexForward: aws.Bool(w.IntN(2) == 0), Limit: aws.Int32(int32(1 + w.IntN(3))),
		ExpressionAttributeValues: fields{":pk": str(choose(w.pair, []string{"a", "b", "c", "none"})), ":x": num(w.IntN(6))},
	}
	if w.IntN(2) == 0 {
		sort, in.IndexName = "n", aws.String("by-n")
	}
	in.KeyConditionExpression = aws.String("pk = :pk AND " + sort + choose(w.pair, []string{" = :x", " < :x", " >= :x", " BETWEEN :x AND :y"}))
	if strings.Contains(*in.KeyConditionExpression, ":y") {
		in.ExpressionAttributeValues[":y"] = num(9)
	}
	if w.IntN(3) == 0 {
		in.FilterExpression = aws.String("attribute_exists(s)")
	}
	kind := "query"
	if in.IndexName != nil {
		kind = "query-index"
	}
	call := fmt.Sprintf("query %s by %d%s, forward %t, filter %s", aws.ToString(in.IndexName), *in.Limit, w.under(in.KeyConditionExpression, in.ExpressionAttributeValues),
		*in.ScanIndexForward, aws.ToString(in.FilterExpression))
	w.call(kind, "answer", call, nil, func(c *dynamodb.Client) (string, error) { return w.pages(c, in) })
}

// pages reads to the end. The page behind the last item may be empty or not come at all.
func (w *tableWalk) pages(c *dynamodb.Client, in dynamodb.QueryInput) (string, error) {
	var pages, items, order []string
	for {
		out, err := c.Query(w.Context(), &in)
		if err != nil {
			return "", err
		}
		for _, it := range out.Items {
			items = append(items, written(it))
			order = append(order, writtenDatum(it["n"]))
		}
		if out.ScannedCount > 0 {
			pages = append(pages, fmt.Sprintf("%d of %d", out.Count, out.ScannedCount))
		}
		if in.ExclusiveStartKey = out.LastEvaluatedKey; in.ExclusiveStartKey != nil {
			continue
		}
		if in.IndexName != nil {
			return fmt.Sprint(order, " ", sorted(items)), nil
		}
		return fmt.Sprint(items, " ", pages), nil
	}
}

// scan has no order that is promised.
func (w *tableWalk) scan() {
	in := &dynamodb.ScanInput{TableName: &w.table, ConsistentRead: aws.Bool(true)}
	if filter, names, given := w.condition(); filter != nil {
		in.FilterExpression, in.ExpressionAttributeNames, in.ExpressionAttributeValues = filter, names, given
	}
	w.call("scan", "answer", "scan"+w.under(in.FilterExpression, in.ExpressionAttributeValues), nil, func(c *dynamodb.Client) (string, error) {
		out, err := c.Scan(w.Context(), in)
		if err != nil {
			return "", err
		}
		var items []string
		for _, it := range out.Items {
			items = append(items, written(it))
		}
		return fmt.Sprintf("%s of %d", sorted(items), out.ScannedCount), nil
	})
}

// under shows an expression with its values.
func (*tableWalk) under(expression *string, given fields) string {
	if expression == nil {
		return ""
	}
	return " if " + *expression + " with " + written(given)
}
