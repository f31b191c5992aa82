// Package dynamo is a [dedupe.Store] on a DynamoDB table.
//
//	store, err := dynamo.Open(ctx, "claimonce") // the SDK's usual environment
//	store, err := dynamo.New(client, "claimonce", dynamo.Config{})
//
// The program localstack/setup, or [Setup], makes the table; [Store.Check] says what is wrong with one.
//
// # Calls
//
// A Swap is one PutItem with a condition: the revision is the expected one, or the item does not exist or has expired
// (attribute_not_exists(id) OR expires_at <= :t). A refused one brings the item with it
// (ReturnValuesOnConditionCheckFailure); where a server brings none, and has not brought any before, one consistent GetItem
// follows. A Load is one consistent GetItem.
//
// The SDK repeats failed calls, three tries in all by default (see [Config]). Of a put whose first try landed although its answer was
// lost, the repeat is refused by that first try: the store returns it as the conflict that it is, with the caller's own revision
// in it, by which the ledger recognises its success.
//
// # Transactions
//
// [Store.SwapWith] writes a record together with writes of the application's own, to other tables, in one TransactWriteItems: for
// handlers whose effect is a write to DynamoDB. Its ClientRequestToken is made from the record's revision, so that every repeat
// of one write has the same; DynamoDB remembers it for ten minutes, and a repeat after that is refused by its own revision.
//
// Of a cancelled one the record's own entry is looked at first: only if its condition failed is it a conflict. That another write
// was refused is believed when the record, read consistently, still is as expected: an earlier try may have landed, and
// its effect be what refuses the repeat. The rest is told apart by code: see [CancelledError]. A write of a record that meets a
// transaction is tried again a few times, within a second.
//
// # Errors
//
// Only a condition of the record's own that failed is a conflict. Throttling, and a server that fails or does not answer, come back
// as they are once the SDK's tries are over: the ledger and package consumer back off. What only a person can mend wraps
// [dedupe.ErrSetup]: a missing table, or one with other keys. An item that can never be stored wraps [dedupe.ErrTooLarge].
//
// # Items
//
// One item for each operation, whose partition key is different for every operation: no tenant or handler is a hot partition.
// item.go lists the attributes. Times are milliseconds since 1970, but for expires_at: seconds, so that it can be the table's TTL
// attribute. TTL deletes hours or days late and only tidies up; the condition decides. An item that this package would not have
// written, for example with an expires_at in milliseconds, is an error that names the attribute (an [*ItemError]) for whoever
// claims its key or reads it, until somebody mends it. An item of a newer schema is left alone, even after it has expired.
//
// Duplicates are billed by the size of the item that refuses them, so that one stays small: a result is inside only while the whole
// item is within 1,024 bytes by DynamoDB's size rules. A larger one goes to an item of its own, one put before the completion's and one
// consistent get whenever the record is read. Its id begins with r, where a record's begins with a digit, and holds the owner's
// token and a digest; the record holds that id and the digest in full. Both have one expires_at. If the other item is missing,
// or is not the one that was written, the record's Result is marked Unavailable. Where the pointer to it would save no unit, as
// with very long keys, a result stays inside.
//
// # Troubled records
//
// The index named [AttentionIndex] holds the keys of troubled records only: the attribute attention_shard exists in those alone. A
// write pays for the index when a record becomes troubled, when it ceases to be, and when its attention_at changes meanwhile. A scan of it
// costs nothing else and shows the ids and since when each needs attention:
//
//	aws dynamodb scan --table-name claimonce --index-name attention
//
// An id is length, tenant, length, operation and ID: "4:acme6:refundK1" is the key K1 of refund of acme. [dedupe.Ledger.Load] of that key
// and [dedupe.Ledger.ResolveBy] settle it. Records in progress whose worker and message are both gone are not in the index.
//
// # Clock
//
// The store compares this machine's clock with the Date of each answer: see [Store.ClockSkew].
//
// # Permissions
//
// A worker needs dynamodb:GetItem and dynamodb:PutItem on the table, for transactions too; each write beside the record needs its own
// permission, for example dynamodb:UpdateItem or dynamodb:ConditionCheckItem. With dynamodb:DescribeTable and dynamodb:DescribeTimeToLive the
// table is checked when a worker starts; [Setup] needs dynamodb:CreateTable, UpdateTable and UpdateTimeToLive besides.
package dynamo
