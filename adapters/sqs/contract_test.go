package sqs_test

import (
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/claimonce/claimonce/adapters/adaptertest"
	"github.com/claimonce/claimonce/awstest"
)

func TestContract(t *testing.T) {
	t.Parallel()
	rig := contractRig(inProcess, false, 30*time.Second)
	rig.FakeTime = true
	adaptertest.Run(t, rig)
}

// inProcess is a client of an empty account of its own.
func inProcess() *sqs.Client {
	return sqs.NewFromConfig(aws.Config{
		Region: "eu-west-1", Credentials: credentials.NewStaticCredentialsProvider("test", "test", ""),
		HTTPClient: awstest.New(awstest.Config{}).Client(), BaseEndpoint: aws.String("http://aws.invalid"),
	})
}
