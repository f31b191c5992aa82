package dynamo

import (
	"fmt"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/claimonce/claimonce/dedupe"
)

// decoder keeps the first thing that is wrong.
type decoder struct {
	item item
	err  error
}

func (d *decoder) fail(name, problem string) {
	if d.err == nil {
		d.err = &ItemError{Attribute: name, Problem: problem}
	}
}

func (d *decoder) text(name string) string {
	v, ok := d.item[name]
	if !ok {
		return ""
	}
	s, ok := v.(*types.AttributeValueMemberS)
	if !ok {
		d.fail(name, "is no string")
		return ""
	}
	return s.Value
}

func (d *decoder) number(name string) int64 {
	v, ok := d.item[name]
	if !ok {
		return 0
	}
	n, ok := v.(*types.AttributeValueMemberN)
	if !ok {
		d.fail(name, "is no number")
		return 0
	}
	i, err := strconv.ParseInt(n.Value, 10, 64)
	if err != nil {
		d.fail(name, "is no whole number")
	}
	return i
}

func (d *decoder) flag(name string) bool {
	v, ok := d.item[name]
	if !ok {
		return false
	}
	b, ok := v.(*types.AttributeValueMemberBOOL)
	if !ok {
		d.fail(name, "is no boolean")
		return false
	}
	return b.Value
}

func (d *decoder) millis(name string) time.Time {
	if n := d.number(name); n != 0 {
		return time.UnixMilli(n).UTC()
	}
	return time.Time{}
}

// latestExpiry is the year 5138. A larger number of seconds is a time in milliseconds: honoured, it would keep the key for millennia.
const latestExpiry = 100_000_000_000

func (d *decoder) expiry() time.Time {
	n := d.number(attrExpiresAt)
	switch {
	case n == 0:
		return time.Time{}
	case n < 0 || n >= latestExpiry:
		d.fail(attrExpiresAt, "is no time in whole seconds since 1970; it looks like milliseconds")
		return time.Time{}
	}
	return time.Unix(n, 0).UTC()
}

// decode reads an item back, without its result. A newer schema comes first: nothing else of such an item can be judged.
func decode(key dedupe.Key, it item) (dedupe.Record, error) {
	d := &decoder{item: it}
	schema := int(d.number(attrSchema))
	if schema > dedupe.SchemaVersion {
		return dedupe.Record{}, fmt.Errorf("%w: schema %d, this program knows %d", dedupe.ErrNewerSchema, schema, dedupe.SchemaVersion)
	}
	if schema < 1 {
		d.fail(attrSchema, "is missing: it was not written by this library")
	}
	stored := dedupe.Key{Tenant: d.text(attrTenant), Operation: d.text(attrOperation), ID: d.text(attrKey)}
	if stored != key {
		d.fail(attrKey, "does not fit the item's id")
	}
	rec := dedupe.Record{
		Schema: schema, Key: key, Fingerprint: d.text(attrFingerprint), State: d.state(), Mode: d.mode(),
		Transactional: d.flag(attrTransactional), Revision: d.text(attrRevision), Owner: d.text(attrOwner),
		Fence: d.number(attrFence), Attempt: int(d.number(attrAttempt)), Generation: int(d.number(attrGeneration)),
		ReplyEpoch: int(d.number(attrReplyEpoch)), Marks: d.marks(), Reason: d.text(attrReason),
		LockedUntil: d.millis(attrLockedUntil), OwnerWroteAt: d.millis(attrOwnerWroteAt),
		TakenBy: d.text(attrTakenBy), TakenUntil: d.millis(attrTakenUntil),
		Doubtful: d.flag(attrDoubtful), Troubled: dedupe.Trouble(d.number(attrTroubled) & 0xff), //nolint:gosec // masked
		AttentionAt: d.millis(attrAttentionAt), FirstAttemptAt: d.millis(attrFirstAttempt),
		CreatedAt: d.millis(attrCreatedAt), ClaimedAt: d.millis(attrClaimedAt), ExpiresAt: d.expiry(),
	}
	return rec, d.err
}

func (d *decoder) state() dedupe.State {
	st, ok := dedupe.ParseState(d.text(attrState))
	if !ok || st == dedupe.StateAbsent {
		d.fail(attrState, "is no state that is known here")
	}
	return st
}

func (d *decoder) mode() dedupe.Mode {
	s := d.text(attrMode)
	if s == "" {
		return 0
	}
	m, ok := dedupe.ParseMode(s)
	if !ok {
		d.fail(attrMode, "is no recovery mode that is known here")
	}
	return m
}

func (d *decoder) marks() []dedupe.Mark {
	v, ok := d.item[attrMarks]
	if !ok {
		return nil
	}
	list, ok := v.(*types.AttributeValueMemberL)
	if !ok {
		d.fail(attrMarks, "is no list")
		return nil
	}
	var marks []dedupe.Mark
	for _, e := range list.Value {
		m, ok := e.(*types.AttributeValueMemberM)
		if !ok {
			d.fail(attrMarks, "holds something other than a map")
			return nil
		}
		one := &decoder{item: m.Value}
		marks = append(marks, dedupe.Mark{Step: one.text("step"), At: one.millis("at"), Undone: one.flag("undone")})
		if one.err != nil {
			d.fail(attrMarks, "holds a mark that cannot be read")
		}
	}
	return marks
}
