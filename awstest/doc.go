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
// no time. For other processes there is [Server.Listen].
//
// # Faults
//
// [Server.Inject] makes calls fail before they are applied, be applied and lose their answer, take long, be throttled, or fail for
// some entries of a batch. A lost answer to a write that was applied is the fault that a deduplicator must survive above all.
//
// # Limits
//
// It speaks the JSON protocols of the current SDKs. Expired DynamoDB items stay until a test deletes them, as they may for days on
// AWS. One Server is one account in one region, in memory; it checks no signature. It is no load simulator: there are no partitions
// and no throughput limits but those that a fault makes.
package awstest
