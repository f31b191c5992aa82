package dynamo

import (
	"fmt"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/claimonce/claimonce/dedupe"
)

// ItemError is returned for an item that is not as this package writes it. Such an item is never taken for absent and never handed
// out in part. It names the attribute, not its value: that may be anybody's data.
type ItemError struct {
	Attribute string
	Problem   string
}

// Error implements error.
func (e *ItemError) Error() string {
	return fmt.Sprintf("attribute %s of the stored item %s; mend or delete the item", e.Attribute, e.Problem)
}

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
	s, ok := textOf(v)
	if !ok {
		d.fail(name, "is no text")
	}
	return s
}

// textOf is the inverse of textValue.
func textOf(v types.AttributeValue) (s string, ok bool) {
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		return v.Value, true
	case *types.AttributeValueMemberB:
		return string(v.Value), true
	}
	return "", false
}

// number goes by no float: fences and millisecond times must come back exactly.
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
	if _, ok := d.item[name]; !ok {
		return time.Time{}
	}
	return time.UnixMilli(d.number(name)).UTC()
}

func (d *decoder) expiry() time.Time {
	if _, ok := d.item[attrExpiresAt]; !ok {
		return time.Time{}
	}
	n := d.number(attrExpiresAt)
	if n <= 0 || n >= latestExpiry {
		d.fail(attrExpiresAt, "is no time in whole seconds since 1970 (of 13 digits it would be in milliseconds)")
		return time.Time{}
	}
	return time.Unix(n, 0).UTC()
}

// decode reads an item back. If its result is apart, where is not nil and Result has what the record itself says of it. A newer schema
// comes first: nothing else of such an item can be judged.
func decode(key dedupe.Key, it item) (rec dedupe.Record, where *pointer, err error) {
	d := &decoder{item: it}
	schema := int(d.number(attrSchema))
	switch {
	case d.err != nil:
		return dedupe.Record{}, nil, d.err
	case schema > dedupe.SchemaVersion:
		return dedupe.Record{}, nil, fmt.Errorf("%w: it has schema %d, this program knows %d", dedupe.ErrNewerSchema, schema, dedupe.SchemaVersion)
	}
	if _, ok := it[attrSchema]; !ok {
		d.fail(attrSchema, "is missing: it was not written by this library")
	}
	stored := dedupe.Key{Tenant: d.text(attrTenant), Operation: d.text(attrOperation), ID: d.text(attrKey)}
	if stored != key {
		d.fail(attrKey, "does not fit the item's id")
	}
	rec = dedupe.Record{
		Schema: schema, Key: key, Fingerprint: d.text(attrFingerprint), State: d.state(), Mode: d.mode(),
		Transactional: d.flag(attrTransactional), Revision: d.text(attrRevision), Owner: d.text(attrOwner),
		Fence: d.number(attrFence), Attempt: int(d.number(attrAttempt)), Generation: int(d.number(attrGeneration)),
		ReplyEpoch: int(d.number(attrReplyEpoch)), Marks: d.marks(), Reason: d.text(attrReason),
		LockedUntil: d.millis(attrLockedUntil), OwnerWroteAt: d.millis(attrOwnerWroteAt),
		TakenBy: d.text(attrTakenBy), TakenUntil: d.millis(attrTakenUntil),
		Doubtful: d.flag(attrDoubtful), Troubled: d.troubled(),
		AttentionAt: d.millis(attrAttentionAt), FirstAttemptAt: d.millis(attrFirstAttempt),
		CreatedAt: d.millis(attrCreatedAt), ClaimedAt: d.millis(attrClaimedAt), ExpiresAt: d.expiry(),
	}
	rec.Result, where = d.result()
	if d.err != nil {
		return dedupe.Record{}, nil, d.err
	}
	return rec, where, nil
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

func (d *decoder) troubled() dedupe.Trouble {
	n := d.number(attrTroubled)
	if n != n&0xff {
		d.fail(attrTroubled, "holds bits that are not known here")
	}
	return dedupe.Trouble(n & 0xff)
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
	marks := make([]dedupe.Mark, 0, len(list.Value))
	for _, e := range list.Value {
		m, ok := e.(*types.AttributeValueMemberM)
		if !ok {
			d.fail(attrMarks, "holds something other than a map")
			return nil
		}
		one := &decoder{item: m.Value}
		marks = append(marks, dedupe.Mark{Step: one.text(markStep), At: one.millis(markAt), Undone: one.flag(markUndone)})
		if one.err != nil {
			d.fail(attrMarks, "holds a mark that cannot be read")
		}
	}
	return marks
}
