package dedupe_test

import (
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/claimonce/claimonce/dedupe"
)

// verdictOf is a cell: the outcome, and if something is written the state and every field that changes.
func verdictOf(before dedupe.Record, d dedupe.Decision, now time.Time) string {
	var b strings.Builder
	b.WriteString(d.Outcome.String())
	if d.RetryAfter != 0 {
		b.WriteString(" for " + short(d.RetryAfter))
	}
	if d.Write {
		b.WriteString(" → " + d.Next.State.String())
		if cs := changes(before, d.Next, now); len(cs) > 0 {
			b.WriteString(": " + strings.Join(cs, ", "))
		}
	}
	if n := notes(d.Note); n != "" {
		b.WriteString(" [" + n + "]")
	}
	return b.String()
}

func notes(n dedupe.Note) string {
	var names []string
	for _, x := range []struct {
		note dedupe.Note
		name string
	}{
		{dedupe.NoteAbandoned, "abandoned"},
		{dedupe.NoteContradicted, "contradicted"},
		{dedupe.NoteEffectByLostOwner, "effect by lost owner"},
		{dedupe.NoteNothingBegun, "nothing begun"},
	} {
		if n&x.note != 0 {
			names = append(names, x.name)
		}
	}
	return strings.Join(names, ", ")
}

// changes names every field that differs, so that no change can hide: a field without words of its own is shown raw.
func changes(before, after dedupe.Record, now time.Time) []string {
	a, b := reflect.ValueOf(before), reflect.ValueOf(after)
	var out []string
	for i := range a.NumField() {
		field := a.Type().Field(i).Name
		if !reflect.DeepEqual(a.Field(i).Interface(), b.Field(i).Interface()) {
			if s := changed(field, before, after, now); s != "" {
				out = append(out, s)
			}
		}
	}
	return out
}

func changed(field string, before, after dedupe.Record, now time.Time) string {
	switch field {
	case "Key":
		return "KEY CHANGED"
	case "State", "Revision":
		return "" // the one is shown before, the other is the caller's
	case "Schema", "CreatedAt", "ClaimedAt":
		return changedByClaim(field, before, after, now)
	case "Fingerprint":
		return orNone("fingerprint", after.Fingerprint)
	case "Mode":
		return "mode " + after.Mode.String()
	case "Owner":
		return orNone("owner", after.Owner)
	case "Fence":
		return changedFence(before, after, now)
	case "Attempt":
		return fmt.Sprintf("attempt %d", after.Attempt)
	case "Generation":
		return fmt.Sprintf("generation %d", after.Generation)
	case "ReplyEpoch":
		return fmt.Sprintf("reply epoch %d", after.ReplyEpoch)
	case "Marks":
		return "marks " + marksOf(after)
	case "Result":
		return changedResult(after)
	case "Reason":
		return orNone("reason", after.Reason)
	case "TakenBy":
		return orNone("taken by", after.TakenBy)
	case "Transactional":
		return map[bool]string{true: "transactional", false: "not transactional"}[after.Transactional]
	case "Doubtful":
		return map[bool]string{true: "doubtful", false: "not doubtful"}[after.Doubtful]
	case "Troubled":
		return "troubled " + troubles(after.Troubled)
	}
	return changedTime(field, after, now)
}

// changedTime uses short names: the owner was heard, the lease ends, the list begins.
func changedTime(field string, after dedupe.Record, now time.Time) string {
	var name string
	var t time.Time
	switch field {
	case "LockedUntil":
		name, t = "lease", after.LockedUntil
	case "OwnerWroteAt":
		name, t = "heard", after.OwnerWroteAt
	case "TakenUntil":
		name, t = "taken until", after.TakenUntil
	case "AttentionAt":
		name, t = "listed", after.AttentionAt
	case "FirstAttemptAt":
		name, t = "first attempt", after.FirstAttemptAt
	case "ExpiresAt":
		name, t = "expires", after.ExpiresAt
	default:
		return fmt.Sprintf("%s = %v", field, reflect.ValueOf(after).FieldByName(field).Interface())
	}
	return name + " " + offset(t, now)
}

// changedByClaim leaves out what every first write sets, and shows it if it is wrong.
func changedByClaim(field string, before, after dedupe.Record, now time.Time) string {
	switch {
	case field == "Schema" && after.Schema == dedupe.SchemaVersion && before.State == dedupe.StateAbsent:
		return ""
	case field == "ClaimedAt" && after.ClaimedAt.Equal(now):
		return ""
	case field == "CreatedAt" && after.CreatedAt.Equal(now):
		return "new record"
	}
	return "WRONG " + field
}

func changedFence(before, after dedupe.Record, now time.Time) string {
	if after.Fence == max(before.Fence+1, now.UnixMilli()) {
		return "fence"
	}
	return fmt.Sprintf("WRONG fence %d, was %d", after.Fence, before.Fence)
}

func changedResult(after dedupe.Record) string {
	if after.Result == nil {
		return "no result"
	}
	return fmt.Sprintf("result %d", after.Result.Status)
}

func offset(t, now time.Time) string {
	switch d := t.Sub(now); {
	case t.IsZero():
		return "never"
	case d == 0:
		return "now"
	case d > 0:
		return "+" + short(d)
	default:
		return short(d)
	}
}

func short(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

func orNone(name, value string) string {
	if value == "" {
		return "no " + name
	}
	return name + " " + value
}

func troubles(t dedupe.Trouble) string {
	var names []string
	if t&dedupe.TroubleExhausted != 0 {
		names = append(names, "exhausted")
	}
	if t&dedupe.TroubleUnknown != 0 {
		names = append(names, "unknown")
	}
	if len(names) == 0 {
		return "no more"
	}
	return strings.Join(names, " and ")
}

func marksOf(r dedupe.Record) string {
	if len(r.Marks) == 0 {
		return "cleared"
	}
	var names []string
	for _, m := range r.Marks {
		if m.Undone {
			m.Step += " undone"
		}
		names = append(names, m.Step)
	}
	return strings.Join(names, " + ")
}
