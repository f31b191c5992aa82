package sqs_test

import (
	"testing"
	"time"

	"github.com/claimonce/claimonce/adapters/adaptertest"
)

func TestContractOfAFIFOQueue(t *testing.T) {
	t.Parallel()
	rig := contractRig(inProcess, true, 30*time.Second)
	rig.FakeTime = true
	adaptertest.Run(t, rig)
}
