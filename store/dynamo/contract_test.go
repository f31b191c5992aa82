package dynamo_test

import (
	"testing"

	"github.com/claimonce/claimonce/awstest"
	"github.com/claimonce/claimonce/dedupe"
	"github.com/claimonce/claimonce/store/dynamo"
	"github.com/claimonce/claimonce/store/storetest"
)

// handle is the store as one more worker has it.
func (e env) handle() (dedupe.Store, error) { return dynamo.New(e.client, e.table, dynamo.Config{}) }

func TestStoreKeepsTheContract(t *testing.T) {
	t.Parallel()
	storetest.Run(t, storetest.Rig{Open: newEnv(t, clientOf(awstest.New(awstest.Config{}))).handle})
}

// The same on a server that leaves the item out of refusals: the fallback is a read.
func TestStoreKeepsTheContractWhereRefusalsBringNoItem(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	storetest.Run(t, storetest.Rig{Open: func() (dedupe.Store, error) { return r.silent(t), nil }, ReadsAfterRefusal: true})
}
