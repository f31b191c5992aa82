//go:build integration

package dynamo_test

import (
	"errors"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"

	"github.com/claimonce/claimonce/dedupe"
)

func TestIntegrationTransactions(t *testing.T) {
	t.Parallel()
	s := otherServer(t)
	_, err := s.client.TransactWriteItems(t.Context(), &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{}})
	r := tillOn(t, rig{env: newEnv(t, s.client)})
	if api, ok := errors.AsType[smithy.APIError](err); ok && api.ErrorCode() == "UnknownOperationException" {
		checkNoTransactions(t, r)
		return
	}
	checkTransactions(t, r)
}

// A server without transactions, as dynalite is: the error says so, is no conflict, and nothing is written.
func checkNoTransactions(t *testing.T, r till) {
	t.Helper()
	claim, next := sample(t, "claimed"), sample(t, "completed")
	r.put(t, dedupe.AbsentAt(noon), claim)
	_, err := r.swapWith(t, dedupe.AtRevision(claim.Revision), next, r.add("s-1"))
	if api, ok := errors.AsType[smithy.APIError](err); !ok || api.ErrorCode() != "UnknownOperationException" || errors.Is(err, dedupe.ErrConflict) {
		t.Errorf("got %v, want the server's own error", err)
	}
	r.wantStored(t, claim.Key, claim)
}
