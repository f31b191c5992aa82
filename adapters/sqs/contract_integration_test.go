//go:build integration

package sqs_test

import (
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/claimonce/claimonce/adapters/adaptertest"
	"github.com/claimonce/claimonce/consumer"
)

func TestServerContract(t *testing.T) {
	t.Parallel()
	rig := contractRig(func() *sqs.Client { return serverClient(t) }, false, patience(t))
	rig.Known = knownOf(t, false)
	adaptertest.Run(t, rig)
}

func TestServerContractOfAFIFOQueue(t *testing.T) {
	t.Parallel()
	rig := contractRig(func() *sqs.Client { return serverClient(t) }, true, patience(t))
	rig.Known = knownOf(t, true)
	adaptertest.Run(t, rig)
}

// patience is the visibility that the promises are checked with. Calls to moto wait for each other's long polls, so that an extension
// can come late: there it is longer than it need be.
func patience(t *testing.T) time.Duration {
	t.Helper()
	if serverName(t) == "moto" {
		return 2 * serverVisibility
	}
	return serverVisibility
}

// knownOf is what the server breaks by itself, by its name. Of ministack nothing is known.
func knownOf(t *testing.T, fifo bool) map[string]adaptertest.Known {
	t.Helper()
	if serverName(t) != "moto" {
		return nil
	}
	known := map[string]adaptertest.Known{
		"taken away": {Why: "moto takes the receipt of an earlier delivery for one of the current delivery"},
	}
	if fifo {
		known["group crash"] = adaptertest.Known{
			Why: "moto counts a group as held until its last message is visible again, and has passed over the head by then: the last of a " +
				"batch comes first; not if the batch held one message",
			Flaky: true,
		}
		known["beside receive"] = adaptertest.Known{
			Why: "moto looks at which groups are held when a long poll begins: what is handed back during it comes with the next; " +
				"not if the poll begins late",
			Flaky: true,
		}
	}
	return known
}

func drain(t *testing.T, client *sqs.Client, queue string) []consumer.Message {
	t.Helper()
	all, err := drainQueue(t.Context(), client, queue)
	if err != nil {
		t.Fatal(err)
	}
	return all
}
