package main

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/claimonce/claimonce/awstest"
)

// rig is a server in the process, and a world of its clients.
type rig struct {
	*testing.T

	server *awstest.Server
	sqs    *sqs.Client
	dynamo *dynamodb.Client
}

func newRig(t *testing.T) *rig {
	t.Helper()
	server := awstest.New(awstest.Config{})
	cfg := aws.Config{
		Region: "us-east-1", Credentials: credentials.NewStaticCredentialsProvider("test", "test", ""),
		HTTPClient: server.Client(), BaseEndpoint: aws.String("http://aws.invalid"),
	}
	return &rig{t, server, sqs.NewFromConfig(cfg), dynamodb.NewFromConfig(cfg)}
}

func (r *rig) world() *world { return newWorld(r.sqs, r.dynamo, "test-", false) }
