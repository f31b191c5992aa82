package dynamo_test

import (
	"io"
	"net/http"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/claimonce/claimonce/awstest"
	"github.com/claimonce/claimonce/store/dynamo"
)

func clientOf(server *awstest.Server) *dynamodb.Client { return clientWith(server.Client()) }

func clientWith(h aws.HTTPClient) *dynamodb.Client {
	return dynamodb.NewFromConfig(aws.Config{
		Region: "eu-central-1", Credentials: credentials.NewStaticCredentialsProvider("test", "test", ""),
		HTTPClient: h, BaseEndpoint: aws.String("http://dynamodb.invalid"),
	})
}

func TestStoreOnDynamoDB(t *testing.T) {
	t.Parallel()
	runChecks(t, clientOf(awstest.New(awstest.Config{})), nil)
}

// The same on a server that leaves the item out of refusals: the fallback is a read.
func TestStoreWhereRefusalsBringNoItem(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.store = r.silent(t)
	for name, check := range checks() {
		t.Run(name, func(t *testing.T) { check(t, r.env) })
	}
}

// The user's HTTP client sees bodies that can only be read: see package awshttp. A repeat that the user's client does not want is not
// made either.
func TestUsersClientIsWrappedAndObeyed(t *testing.T) {
	t.Parallel()
	calls, server := 0, awstest.New(awstest.Config{})
	client := dynamodb.New(clientWith(way(func(r *http.Request) (*http.Response, error) {
		calls++
		if _, ok := r.Body.(io.WriterTo); ok {
			t.Error("the body has WriteTo")
		}
		return server.Client().Do(r)
	})).Options(), func(o *dynamodb.Options) { o.RetryMaxAttempts = 1 })
	s, err := dynamo.New(client, "records", dynamo.Config{})
	if err != nil {
		t.Fatal(err)
	}
	server.Inject(awstest.FailBefore("GetItem", 500, "InternalServerError"))
	if _, err := s.Load(t.Context(), keyOf(t)); err == nil || calls != 1 {
		t.Errorf("got %v after %d calls, want an error after one", err, calls)
	}
}
