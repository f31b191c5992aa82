package dynamo

import (
	"fmt"
	"hash/fnv"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/claimonce/claimonce/dedupe"
)

// Attributes of an item. What is unset is left out, so that items stay small. Once released, a name is never given another meaning:
// two versions of the program read each other's items during every rolling deploy.
const (
	attrID            = "id" // S, the partition key: dedupe.Key.StoreID
	attrSchema        = "schema"
	attrTenant        = "tenant"
	attrOperation     = "operation"
	attrKey           = "key"
	attrFingerprint   = "fingerprint"
	attrState         = "state"
	attrMode          = "mode"
	attrTransactional = "transactional"
	attrRevision      = "revision"
	attrOwner         = "owner"
	attrFence         = "fence"
	attrAttempt       = "attempt"
	attrGeneration    = "generation"
	attrReplyEpoch    = "reply_epoch"
	attrMarks         = "marks" // L of M: step, at, undone
	attrResult        = "result"
	attrReason        = "reason"
	attrLockedUntil   = "locked_until"
	attrOwnerWroteAt  = "owner_wrote_at"
	attrTakenBy       = "taken_by"
	attrTakenUntil    = "taken_until"
	attrDoubtful      = "doubtful"
	attrTroubled      = "troubled"
	attrAttentionAt   = "attention_at"
	attrFirstAttempt  = "first_attempt_at"
	attrCreatedAt     = "created_at"
	attrClaimedAt     = "claimed_at"
	attrExpiresAt     = "expires_at" // N, whole seconds: the table's TTL attribute

	// attrShard is there only while the record is troubled: it makes the attention index sparse.
	attrShard = "attention_shard"
)

// shards: few values of an index's partition key would throttle the table's own writes when many records become troubled at once.
const shards = 16

type item = map[string]types.AttributeValue

// encoder leaves out what is unset.
type encoder struct{ item }

func (e encoder) text(name, v string) {
	if v != "" {
		e.item[name] = &types.AttributeValueMemberS{Value: v}
	}
}

func (e encoder) number(name string, v int64) {
	if v != 0 {
		e.item[name] = &types.AttributeValueMemberN{Value: strconv.FormatInt(v, 10)}
	}
}

func (e encoder) flag(name string, v bool) {
	if v {
		e.item[name] = &types.AttributeValueMemberBOOL{Value: true}
	}
}

func (e encoder) millis(name string, t time.Time) {
	if !t.IsZero() {
		e.number(name, t.UnixMilli())
	}
}

// encode makes the item of a record, without its result.
func encode(rec dedupe.Record) item {
	e := encoder{item{}}
	e.text(attrID, rec.Key.StoreID())
	e.number(attrSchema, int64(rec.Schema))
	e.text(attrTenant, rec.Key.Tenant)
	e.text(attrOperation, rec.Key.Operation)
	e.text(attrKey, rec.Key.ID)
	e.text(attrFingerprint, rec.Fingerprint)
	e.text(attrState, rec.State.String())
	if rec.Mode != 0 {
		e.text(attrMode, rec.Mode.String())
	}
	e.flag(attrTransactional, rec.Transactional)
	e.text(attrRevision, rec.Revision)
	e.text(attrOwner, rec.Owner)
	e.number(attrFence, rec.Fence)
	e.number(attrAttempt, int64(rec.Attempt))
	e.number(attrGeneration, int64(rec.Generation))
	e.number(attrReplyEpoch, int64(rec.ReplyEpoch))
	e.marks(rec.Marks)
	e.text(attrReason, rec.Reason)
	e.millis(attrLockedUntil, rec.LockedUntil)
	e.millis(attrOwnerWroteAt, rec.OwnerWroteAt)
	e.text(attrTakenBy, rec.TakenBy)
	e.millis(attrTakenUntil, rec.TakenUntil)
	e.flag(attrDoubtful, rec.Doubtful)
	e.number(attrTroubled, int64(rec.Troubled))
	e.millis(attrAttentionAt, rec.AttentionAt)
	e.millis(attrFirstAttempt, rec.FirstAttemptAt)
	e.millis(attrCreatedAt, rec.CreatedAt)
	e.millis(attrClaimedAt, rec.ClaimedAt)
	if !rec.ExpiresAt.IsZero() {
		e.number(attrExpiresAt, rec.ExpiresAt.Unix())
	}
	if rec.Troubled != 0 {
		e.text(attrShard, shardOf(rec.Key))
	}
	return e.item
}

func shardOf(key dedupe.Key) string {
	h := fnv.New32a()
	_, _ = h.Write([]byte(key.StoreID()))
	return strconv.FormatUint(uint64(h.Sum32()%shards), 16)
}

func (e encoder) marks(marks []dedupe.Mark) {
	if len(marks) == 0 {
		return
	}
	list := make([]types.AttributeValue, 0, len(marks))
	for _, m := range marks {
		one := encoder{item{}}
		one.text("step", m.Step)
		one.millis("at", m.At)
		one.flag("undone", m.Undone)
		list = append(list, &types.AttributeValueMemberM{Value: one.item})
	}
	e.item[attrMarks] = &types.AttributeValueMemberL{Value: list}
}

// ItemError is returned for an item that is not as this package writes it. Such an item is never overwritten and never taken for
// absent. It names the attribute, not its value.
type ItemError struct {
	Attribute string
	Problem   string
}

// Error implements error.
func (e *ItemError) Error() string {
	return fmt.Sprintf("attribute %s of the stored item %s; mend or delete the item", e.Attribute, e.Problem)
}
