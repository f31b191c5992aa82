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
	rig.MaxRedelivery = 28 * 24 * time.Hour // on a FIFO queue the time of a dead letter starts anew
	adaptertest.Run(t, rig)
}
