package dynamo_test

import (
	"errors"
	"math/rand/v2"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/claimonce/claimonce/awstest"
	"github.com/claimonce/claimonce/dedupe"
	"github.com/claimonce/claimonce/store/dynamo"
	"github.com/claimonce/claimonce/store/storetest"
)

// handle is the store as one more worker has it.
func (e env) handle() (dedupe.Store, error) { return dynamo.New(e.client, e.table, dynamo.Config{}) }

// Reads that are not consistent are old here.
func TestStoreKeepsTheContract(t *testing.T) {
	t.Parallel()
	server := awstest.New(awstest.Config{})
	server.StaleReads(time.Hour)
	storetest.Run(t, storetest.Rig{Open: newEnv(t, clientOf(server)).handle})
}

// The same on a server that leaves the item out of refusals: the fallback is a read.
func TestStoreKeepsTheContractWhereRefusalsBringNoItem(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	storetest.Run(t, storetest.Rig{Open: func() (dedupe.Store, error) { return r.silent(t), nil }, ReadsAfterRefusal: true})
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
