//go:build integration

package dynamo_test

import (
	"errors"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
)

func TestIntegrationTransactions(t *testing.T) {
	t.Parallel()
	s := otherServer(t)
	_, err := s.client.TransactWriteItems(t.Context(), &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{}})
	if api, ok := errors.AsType[smithy.APIError](err); ok && api.ErrorCode() == "UnknownOperationException" {
		t.Skip("this server has no transactions")
	}
	checkTransactions(t, tillOn(t, rig{env: newEnv(t, s.client)}))
}
