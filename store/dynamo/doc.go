// Package dynamo is a [dedupe.Store] on a DynamoDB table.
//
//	store, err := dynamo.Open(ctx, "claimonce") // the SDK's usual environment
//	store, err := dynamo.New(client, "claimonce", dynamo.Config{})
//
// The program localstack/setup, or [Setup], makes the table.
//
// # Calls
//
// A Swap is one PutItem with a condition: the revision is the expected one, or the item does not exist or has expired
// (attribute_not_exists(id) OR expires_at <= :t). A refused one brings the item with it
// (ReturnValuesOnConditionCheckFailure); where a server brings none, one consistent GetItem follows. A Load is one consistent GetItem.
// A result that does not fit into an item of 1,024 bytes costs one more put when it is stored and one more get when it is read.
// The SDK repeats failed calls up to three times in all; a repeat that is refused by its own first try is an ordinary conflict,
// which the ledger recognises.
//
// # Items
//
// One item for each operation, whose partition key is different for every operation: no tenant or handler is a hot partition.
// Times are milliseconds since the epoch, but for expires_at: seconds, so that it can be the table's TTL attribute. TTL deletes hours
// late and only tidies up; the condition decides. item.go lists the attributes.
//
// # Clock
//
// The store compares this machine's clock with the Date of each answer: see [Store.ClockSkew].
package dynamo
