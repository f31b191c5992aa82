package main

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
)

// nobody has well-formed credentials that belong to no account.
func nobody() aws.CredentialsProvider {
	return credentials.NewStaticCredentialsProvider("AKIAVERIFYAWSVERIFYA", "none", "")
}

var errTakesAny = &skipped{"a server that is not AWS may take any credentials"}

// badCredentials: credentials that DynamoDB does not know are told by a code that the store explains.
func badCredentials(ctx context.Context, w *world) error {
	if !w.aws {
		return errTakesAny
	}
	client := dynamodb.New(w.dynamo.Options(), func(o *dynamodb.Options) { o.Credentials = nobody() })
	_, err := client.GetItem(ctx, &dynamodb.GetItemInput{TableName: &w.table.name, Key: item{"id": text("~check")}})
	return refused("a call with unknown credentials", err, "UnrecognizedClientException", "InvalidSignatureException")
}

// badCredentialsForSQS: those that SQS does not know are told by a code that the adapter explains.
func badCredentialsForSQS(ctx context.Context, w *world) error {
	if !w.aws {
		return errTakesAny
	}
	q, err := w.queue(ctx)
	if err != nil {
		return err
	}
	client := sqs.New(w.sqs.Options(), func(o *sqs.Options) { o.Credentials = nobody() })
	_, err = client.ReceiveMessage(ctx, &sqs.ReceiveMessageInput{QueueUrl: &q.url})
	return refused("a call with unknown credentials", err,
		"InvalidClientTokenId", "UnrecognizedClientException", "SignatureDoesNotMatch", "InvalidAccessKeyId", "InvalidSecurity")
}
