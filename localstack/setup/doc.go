// Command setup creates what a worker needs on SQS and DynamoDB: a queue with its dead-letter queue, and the table of records.
//
//	go run ./localstack/setup [-queue NAME] [-dlq NAME] [-table NAME] [-region REGION] [-endpoint URL]
//
// It talks to whatever the AWS SDK's usual environment names (AWS_PROFILE, AWS_REGION, AWS_ENDPOINT_URL and so on), so the
// same program serves AWS, LocalStack and programs like it. Running it again is harmless: what exists is compared, every
// setting that differs is named, nothing that differs is changed, and the program then ends with 1.
// A table that an interrupted run left without its index or TTL gets them.
//
// # The queue's settings
//
// The maximum receive count is 100 by default, far above the framework's own bound of 5 attempts, because receives are not
// attempts: a message is also received when another worker holds its key, about 30 times while its outcome is pending for
// 24 hours, and once for each worker that is stopped with it in hand. Reaching the count moves a message away without a
// reason and without the record's knowledge, so it is only the last net, for messages that end every worker that takes them.
// The framework moves what it gives up by itself, with the reason.
//
// The dead-letter queue keeps messages for 14 days, the longest that SQS offers, since a standard queue counts a moved
// message's age from when it was first sent; see "Configuring a dead-letter queue" in the Amazon SQS developer guide.
package main
