// Command verifyaws checks, on an account of SQS and DynamoDB, the behaviour that this module relies on: the facts of
// docs/aws-facts.md, each by its id.
//
//	go run ./internal/verifyaws [-endpoint URL] [-region REGION] [-prefix PREFIX] [-known FILE] [-keep] [-yes]
//
// It uses what the AWS SDK's usual environment names (AWS_PROFILE, AWS_REGION, AWS_ENDPOINT_URL and so on). It says what it
// will create and what that costs, and asks, unless -yes is given. It works on its own table and queues only, which have
// random names under the prefix and a tag, and deletes them when it ends, be it by an interrupt or after a failure. Each
// fact gets a line: it holds, it does not hold (and what was seen instead), it could not be checked (and the error), or it is not
// checked here (and why). The program ends with 0 if every fact that was checked holds.
//
// It needs the permissions to create, describe, tag and delete tables and queues whose names begin with the prefix, and to use them:
// dynamodb:CreateTable, DescribeTable, DeleteTable, TagResource, UpdateTimeToLive, DescribeTimeToLive, PutItem, GetItem and Query;
// sqs:CreateQueue, TagQueue, DeleteQueue, GetQueueUrl, GetQueueAttributes, SendMessage, ReceiveMessage, DeleteMessage,
// ChangeMessageVisibility and StartMessageMoveTask.
//
// # Servers other than AWS
//
// A file of known differences (-known) names facts that a server is known to fail, one a line: the id, then the reason. Such a fact
// that holds all the same is an error: the list is out of date.
package main
