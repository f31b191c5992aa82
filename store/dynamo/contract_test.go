package dynamo_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/claimonce/claimonce/awstest"
	"github.com/claimonce/claimonce/dedupe"
	"github.com/claimonce/claimonce/store/dynamo"
	"github.com/claimonce/claimonce/store/storetest"
)

// handle is the store as one more worker has it.
func (e env) handle() (dedupe.Store, error) { return dynamo.New(e.client, e.table, dynamo.Config{}) }

// dropResult removes the item that the record points to.
func (e env) dropResult(ctx context.Context, key dedupe.Key) error {
	out, err := e.client.GetItem(ctx, &dynamodb.GetItemInput{TableName: &e.table, ConsistentRead: aws.Bool(true), Key: idOf(key.StoreID())})
	if err != nil {
		return err
	}
	_, part, err := dynamo.Decode(key, out.Item)
	if err != nil || part == "" {
		return fmt.Errorf("the record points to no result apart: %w", err)
	}
	_, err = e.client.DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: &e.table, Key: idOf(part)})
	return err
}

func idOf(id string) dynamo.Item { return dynamo.Item{"id": &types.AttributeValueMemberS{Value: id}} }

// Reads that are not consistent are old here.
func TestStoreKeepsTheContract(t *testing.T) {
	t.Parallel()
	server := awstest.New(awstest.Config{})
	server.StaleReads(time.Hour)
	e := newEnv(t, clientOf(server))
	storetest.Run(t, storetest.Rig{Open: e.handle, DropResult: e.dropResult})
}

// The same on a server that leaves the item out of refusals: the fallback is a read.
func TestStoreKeepsTheContractWhereRefusalsBringNoItem(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	storetest.Run(t, storetest.Rig{Open: func() (dedupe.Store, error) { return r.silent(t), nil }, DropResult: r.dropResult, ReadsAfterRefusal: true})
}

// Where answers are lost, before or after what was asked was done, nobody knows whether a swap landed; but never does one land in part,
// twice, or against its condition. One attempt a call: of a repeat by the SDK the first try could be overwritten before the second is refused.
func TestHistoriesAreLinearizableWhereAnswersAreLost(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	base := r.server.Client()
	client := clientWith(way(func(req *http.Request) (*http.Response, error) {
		lot := rand.IntN(10)
		if lot == 0 {
			return nil, errors.New("the connection was refused")
		}
		resp, err := base.Do(req)
		if err == nil && lot == 1 {
			_ = resp.Body.Close()
			return nil, errors.New("the connection was reset")
		}
		return resp, err
	}))
	rule := slices.IndexFunc(storetest.Rules(), func(rule storetest.Rule) bool { return rule.Name == "linearizable" })
	err := storetest.Rules()[rule].Check(t.Context(), storetest.Rig{
		Open: func() (dedupe.Store, error) { return dynamo.New(client, r.table, dynamo.Config{MaxAttempts: 1}) }, Artifacts: t.ArtifactDir(),
	})
	if err != nil {
		t.Error(err)
	}
}
