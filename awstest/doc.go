// Package awstest is SQS and DynamoDB in the process: for tests of workers, and for programs that must run with nothing installed.
//
//	server := awstest.New(awstest.Config{})
//	cfg := aws.Config{
//		Region:       "us-east-1",
//		Credentials:  credentials.NewStaticCredentialsProvider("test", "test", ""),
//		HTTPClient:   server.Client(),                     // no socket: calls run in the caller's goroutine
//		BaseEndpoint: aws.String("http://aws.invalid"),    // any host
//	}
//	queue, table := sqs.NewFromConfig(cfg), dynamodb.NewFromConfig(cfg)
//
// Inside a testing/synctest bubble the in-memory client makes time fake for the whole stack: a visibility timeout of an hour passes in
// no time. Make the server inside the bubble too: its clock is another one, and what waits there cannot be woken from outside. For
// other processes there is [Server.Listen].
//
// # Faults
//
// [Server.Inject] makes calls fail before they are applied or after, lose their request or their answer, take long, be
// throttled, or fail for some entries or statements of a batch; its hooks stop a call at a chosen moment. A lost answer to a write that was
// applied is the fault that a deduplicator must survive above all.
//
// # Looking
//
// [Server.Queue] and [Server.Table] show what a queue or table holds without receiving or reading it, [Server.Calls] and
// [Server.Count] what was asked of the server, and [Server.Usage] what DynamoDB would have billed.
//
// # What there is
//
// The JSON protocols of the current SDKs. SQS: standard and FIFO queues with both scopes of deduplication, attempt ids, delays, dead
// letters, moves, all rules of attributes, sizes and batches. DynamoDB: condition, update, key-condition, filter and projection
// expressions, global secondary indexes, transactions with tokens and cancellation reasons, batches, parallel scans, exact numbers of
// 38 digits, TTL calls, billed capacity, and PartiQL statements on one item, alone or in a BatchExecuteStatement.
//
// # Limits
//
// SQS lacks permissions (policies are kept, not enforced), its counts are exact, a standard queue's order is that of arrival, and
// purges and moves take effect at once. DynamoDB lacks local secondary indexes, streams, backups, ExecuteTransaction and PartiQL over
// more than one item; its PartiQL knows no reserved words. Expired items stay until a test deletes them ([Server.DeleteExpired]), as
// they may for days on AWS. One Server is one account in one region, in memory; it checks no signature. It is no load simulator:
// there are no partitions and no throughput limits but those that a fault makes.
//
// What it answers is compared with AWS's documentation, and with other servers, by tools/emulcheck and by random sequences of calls
// (test tag integration). Documentation decides where they differ.
package awstest
