package dynamo_test

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/claimonce/claimonce/awstest"
)

func clientOf(server *awstest.Server) *dynamodb.Client { return clientWith(server.Client()) }

func clientWith(h aws.HTTPClient) *dynamodb.Client {
	return dynamodb.NewFromConfig(aws.Config{
		Region: "eu-central-1", Credentials: credentials.NewStaticCredentialsProvider("test", "test", ""),
		HTTPClient: h, BaseEndpoint: aws.String("http://dynamodb.invalid"),
	})
}

func TestStoreKeepsTheContract(t *testing.T) {
	t.Parallel()
	runChecks(t, clientOf(awstest.New(awstest.Config{})), nil)
}

// The same on a server that leaves the item out of refusals: the fallback is a read.
func TestStoreKeepsTheContractWhereRefusalsBringNoItem(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.store = r.silent(t)
	for name, check := range checks() {
		t.Run(name, func(t *testing.T) { check(t, r.env) })
	}
}
