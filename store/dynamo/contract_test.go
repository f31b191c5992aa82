package dynamo_test

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/claimonce/claimonce/awstest"
	"github.com/claimonce/claimonce/dedupe"
	"github.com/claimonce/claimonce/store/dynamo"
	"github.com/claimonce/claimonce/store/storetest"
)

// contract runs every rule of stores on a fresh table of some server; each handle has a store of its own, as each worker does.
func contract(t *testing.T, client *dynamodb.Client, known map[string]storetest.Known) {
	t.Helper()
	e := newEnv(t, client)
	storetest.Run(t, storetest.Rig{Known: known, Open: func() (dedupe.Store, error) { return dynamo.New(client, e.table, dynamo.Config{}) }})
}

func TestStoreKeepsTheContract(t *testing.T) {
	t.Parallel()
	contract(t, clientOf(awstest.New(awstest.Config{})), nil)
}

// The same on a server that leaves the item out of refusals: the fallback is a read.
func TestStoreKeepsTheContractWhereRefusalsBringNoItem(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	storetest.Run(t, storetest.Rig{Open: func() (dedupe.Store, error) { return r.silent(t), nil }, ReadsAfterRefusal: true})
}
