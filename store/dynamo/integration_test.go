//go:build integration

package dynamo_test

import (
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

// TestIntegrationStoreKeepsTheContract runs against a server by other people, on a table of its own.
func TestIntegrationStoreKeepsTheContract(t *testing.T) {
	t.Parallel()
	endpoint := os.Getenv("CLAIMONCE_DYNAMO_ENDPOINT")
	if endpoint == "" {
		t.Fatal("set CLAIMONCE_DYNAMO_ENDPOINT to the URL of a DynamoDB server, for example http://127.0.0.1:4566")
	}
	runChecks(t, dynamodb.NewFromConfig(aws.Config{
		Region: "us-east-1", Credentials: credentials.NewStaticCredentialsProvider("test", "test", ""), BaseEndpoint: &endpoint,
	}), faultsOf(t, endpoint))
}

// faultsOf knows the servers that are not like DynamoDB where it matters here. Moto names its HTTP library.
func faultsOf(t *testing.T, endpoint string) map[string]string {
	t.Helper()
	resp, err := http.Get(endpoint)
	if err != nil {
		t.Fatalf("nothing answers at CLAIMONCE_DYNAMO_ENDPOINT: %v", err)
	}
	_ = resp.Body.Close()
	if strings.HasPrefix(resp.Header.Get("Server"), "Werkzeug") {
		return map[string]string{
			"one of many claims":   "moto tests the condition and writes in two steps, so that two claims at a time can win",
			"DDB12 largest result": "moto counts binary values by their base64 text",
		}
	}
	return nil
}
