package dynamo_test

import (
	"errors"
	"testing"
	"testing/synctest"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/claimonce/claimonce/awstest"
	"github.com/claimonce/claimonce/dedupe"
	"github.com/claimonce/claimonce/store/dynamo"
)

// A later release may keep a result in another way, for example compressed. Replayed without knowing how, it would be wrong.
func TestResultOfALaterReleaseIsNotReplayed(t *testing.T) {
	t.Parallel()
	rec := dedupe.Record{
		Schema: 1, Key: dedupe.Key{Operation: "pay", ID: "k"}, State: dedupe.StateCompleted, Revision: "r", Owner: "o",
		Result: &dedupe.Result{Body: []byte("body")},
	}
	record, _ := mustItems(t, rec)
	if _, _, err := dynamo.Decode(rec.Key, record); err != nil {
		t.Fatalf("as it is: %v", err)
	}
	record["result"].(*types.AttributeValueMemberM).Value["encoding"] = &types.AttributeValueMemberS{Value: "zstd"}
	if _, _, err := dynamo.Decode(rec.Key, record); !errors.Is(err, dedupe.ErrNewerSchema) {
		t.Errorf("with a member that is not known: got %v, want ErrNewerSchema", err)
	}
}

// A worker's role needs to read and write items. That it may not describe the table is no reason not to start.
func TestCheckNeedsNoPermissionToDescribe(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		defer r.server.Inject(awstest.FailBefore("DescribeTable", 400, "AccessDeniedException"))()
		if err := r.store.Check(t.Context()); err != nil {
			t.Errorf("got %v, want nil", err)
		}
	})
}

// Credentials that may do nothing are told at the start (DDB-22), not when the first message comes.
func TestDDB22_CheckFailsFastOnCredentialsThatMayDoNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		defer r.server.Inject(awstest.FailBefore("", 400, "AccessDeniedException"))()
		if err := r.store.Check(t.Context()); !errors.Is(err, dedupe.ErrSetup) {
			t.Errorf("got %v, want an error that only a person can mend", err)
		}
	})
}
