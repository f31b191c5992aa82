//go:build integration

package sqs_test

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/claimonce/claimonce/adapters/adaptertest"
	"github.com/claimonce/claimonce/consumer"
)

func TestServerContract(t *testing.T) {
	t.Parallel()
	rig := contractRig(func() *sqs.Client { return serverClient(t) }, false, serverVisibility)
	rig.Known = knownOf(t)
	adaptertest.Run(t, rig)
}

func TestServerContractOfAFIFOQueue(t *testing.T) {
	t.Parallel()
	rig := contractRig(func() *sqs.Client { return serverClient(t) }, true, serverVisibility)
	rig.Known = knownOf(t)
	adaptertest.Run(t, rig)
}

// knownOf asks the server itself, without this adapter.
func knownOf(t *testing.T) map[string]adaptertest.Known {
	t.Helper()
	if takesOldReceipts(t) {
		return map[string]adaptertest.Known{"taken away": {Why: "the server takes the receipt of an earlier delivery for the current one's"}}
	}
	return nil
}

// takesOldReceipts asks the server itself, without this adapter. moto does; SQS and ministack refuse.
func takesOldReceipts(t *testing.T) bool {
	t.Helper()
	r := onServer(t)
	r.send("body")
	receive := func() *string {
		out, err := r.client.ReceiveMessage(t.Context(), &sqs.ReceiveMessageInput{QueueUrl: &r.queue, VisibilityTimeout: 1, WaitTimeSeconds: 10})
		if err != nil || len(out.Messages) != 1 {
			t.Fatalf("got %+v, %v, want one message", out, err)
		}
		return out.Messages[0].ReceiptHandle
	}
	old := receive()
	receive()
	_, err := r.client.ChangeMessageVisibility(t.Context(), &sqs.ChangeMessageVisibilityInput{QueueUrl: &r.queue, ReceiptHandle: old, VisibilityTimeout: 30})
	return err == nil
}

func drain(t *testing.T, client *sqs.Client, queue string) []consumer.Message {
	t.Helper()
	all, err := drainQueue(t.Context(), client, queue)
	if err != nil {
		t.Fatal(err)
	}
	return all
}
