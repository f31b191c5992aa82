package dynamo

import (
	"fmt"
	"hash/fnv"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/claimonce/claimonce/dedupe"
)

// Attributes of a record's item. What is unset is left out, so that items stay small. Times are N, milliseconds since 1970, but for
// expires_at. Once released, a name is never given another meaning: two versions of the program read each other's items during
// every rolling deploy. testdata/schema1 holds items of this version for ever.
const (
	attrID            = "id"     // S, the partition key: dedupe.Key.StoreID, which begins with a digit
	attrSchema        = "schema" // N, always there: the conditions of writes compare it
	attrTenant        = "tenant" // S; with the next two, what the id was made of
	attrOperation     = "operation"
	attrKey           = "key"
	attrFingerprint   = "fingerprint"    // S
	attrState         = "state"          // S, dedupe.State.String
	attrMode          = "mode"           // S, dedupe.Mode.String
	attrTransactional = "transactional"  // BOOL
	attrRevision      = "revision"       // S
	attrOwner         = "owner"          // S
	attrFence         = "fence"          // N
	attrAttempt       = "attempt"        // N
	attrGeneration    = "generation"     // N
	attrReplyEpoch    = "reply_epoch"    // N
	attrMarks         = "marks"          // L of M: step S, at N, undone BOOL
	attrResult        = "result"         // M: see result.go
	attrReason        = "reason"         // S
	attrLockedUntil   = "locked_until"   // N
	attrOwnerWroteAt  = "owner_wrote_at" // N
	attrTakenBy       = "taken_by"       // S
	attrTakenUntil    = "taken_until"    // N
	attrDoubtful      = "doubtful"       // BOOL
	attrTroubled      = "troubled"       // N, the bits of dedupe.Trouble
	attrAttentionAt   = "attention_at"   // N, the sort key of the attention index
	attrFirstAttempt  = "first_attempt_at"
	attrCreatedAt     = "created_at"
	attrClaimedAt     = "claimed_at"
	attrExpiresAt     = "expires_at" // N, whole seconds since 1970: the table's TTL attribute

	// attrShard is S and there only while the record is troubled: it makes the attention index sparse.
	attrShard = "attention_shard"

	markStep, markAt, markUndone = "step", "at", "undone"
)

// shards: few values of an index's partition key would throttle the table's own writes when many records become troubled at once.
const shards = 16

// latestExpiry is the year 5138. A larger number of seconds is a time in milliseconds: honoured, it would keep the key for millennia.
const latestExpiry = 100_000_000_000

type item = map[string]types.AttributeValue

// encoder leaves out what is unset.
type encoder struct{ item }

func (e encoder) text(name, v string) {
	if v != "" {
		e.item[name] = textValue(v)
	}
}

// textValue keeps what is no UTF-8 as bytes: the SDK would write U+FFFD in their place without a word, and a header or the text of
// an error may hold anything.
func textValue(v string) types.AttributeValue {
	if !utf8.ValidString(v) {
		return &types.AttributeValueMemberB{Value: []byte(v)}
	}
	return &types.AttributeValueMemberS{Value: v}
}

func numberValue(v int64) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: strconv.FormatInt(v, 10)}
}

func (e encoder) number(name string, v int64) {
	if v != 0 {
		e.item[name] = numberValue(v)
	}
}

func (e encoder) flag(name string, v bool) {
	if v {
		e.item[name] = &types.AttributeValueMemberBOOL{Value: true}
	}
}

func (e encoder) millis(name string, t time.Time) {
	if !t.IsZero() {
		e.item[name] = numberValue(t.UnixMilli())
	}
}

// encode makes the item of a record, without its result.
func encode(rec dedupe.Record) (item, error) {
	e := encoder{item{}}
	if err := e.identity(rec); err != nil {
		return nil, err
	}
	e.text(attrFingerprint, rec.Fingerprint)
	e.text(attrState, rec.State.String())
	if rec.Mode != 0 {
		e.text(attrMode, rec.Mode.String())
	}
	e.flag(attrTransactional, rec.Transactional)
	e.text(attrRevision, rec.Revision)
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
	if rec.Troubled != 0 {
		e.text(attrShard, shardOf(rec.Key))
	}
	return e.item, nil
}

// identity is what the record's item and that of a result apart have in common.
func (e encoder) identity(rec dedupe.Record) error {
	e.text(attrID, rec.Key.StoreID())
	e.item[attrSchema] = numberValue(int64(rec.Schema))
	e.text(attrTenant, rec.Key.Tenant)
	e.text(attrOperation, rec.Key.Operation)
	e.text(attrKey, rec.Key.ID)
	e.text(attrOwner, rec.Owner)
	if rec.ExpiresAt.IsZero() {
		return nil
	}
	at := rec.ExpiresAt.Unix()
	if rec.ExpiresAt.Nanosecond() > 0 {
		at++ // never earlier than asked for
	}
	if at <= 0 || at >= latestExpiry {
		return fmt.Errorf("ExpiresAt is %v, which no item can hold", rec.ExpiresAt)
	}
	e.item[attrExpiresAt] = numberValue(at)
	return nil
}

func shardOf(key dedupe.Key) string {
	h := fnv.New32a()
	_, _ = h.Write([]byte(key.StoreID()))
	return strconv.FormatUint(uint64(h.Sum32()%shards), 16)
}

func (e encoder) marks(marks []dedupe.Mark) {
	if marks == nil {
		return
	}
	list := make([]types.AttributeValue, 0, len(marks))
	for _, m := range marks {
		one := encoder{item{}}
		one.text(markStep, m.Step)
		one.millis(markAt, m.At)
		one.flag(markUndone, m.Undone)
		list = append(list, &types.AttributeValueMemberM{Value: one.item})
	}
	e.item[attrMarks] = &types.AttributeValueMemberL{Value: list}
}
