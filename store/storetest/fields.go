package storetest

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/claimonce/claimonce/dedupe"
)

func fieldRules() []Rule {
	return []Rule{
		{"fields", "Records round-trip exactly: every field, with all others and alone.", fields},
		{"states", "Records round-trip exactly: every state, mode and trouble.", states},
		{"numbers", "Records round-trip exactly: every number that a field can hold.", numbers},
		{"times", "Records round-trip exactly: times to the millisecond, in UTC; ExpiresAt in whole seconds.", times},
		{"text", "Records round-trip exactly: texts are any bytes.", texts},
		{"marks", "Records round-trip exactly: marks in their order, none, or many.", marks},
	}
}

// trip writes a record and looks at it with another handle, by a Load and by a conflict.
func (p *probe) trip(what string, hs []handle, rec dedupe.Record) {
	if current, err := hs[0].Swap(p.ctx, rec.Key, dedupe.AbsentAt(noon()), rec); err != nil {
		p.errorf("%s: Swap on absent: got error %v and revision %q, want success", what, err, current.Revision)
		return
	}
	hs[1].stored(what, rec.Key, rec)
	hs[1].conflict(what, dedupe.AtRevision(newRevision()), next(rec), rec)
}

func plain(n int) string { return fmt.Sprint("text ", n) }

func fields(p *probe) {
	hs := p.handles(2)
	p.trip("all fields are set", hs, p.filled("", plain))
	for _, path := range fieldsOf("", reflect.TypeFor[dedupe.Record]()) {
		p.trip("only "+path+" is set", hs, p.filled(path, plain))
	}
}

func states(p *probe) {
	hs := p.handles(2)
	for state := dedupe.StateInProgress; state <= dedupe.StateUnknown; state++ {
		rec := claimed(newKey())
		rec.State = state
		p.trip(state.String(), hs, rec)
	}
	for mode := dedupe.Rerun; mode <= dedupe.Reconcile; mode++ {
		rec := claimed(newKey())
		rec.Mode = mode
		p.trip(mode.String(), hs, rec)
	}
	for trouble := range dedupe.Trouble(4) {
		rec := claimed(newKey())
		rec.State, rec.Troubled, rec.AttentionAt = dedupe.StateReleased, trouble, noon().Add(time.Hour)
		p.trip(fmt.Sprint("troubles ", trouble), hs, rec)
		rec.Key = newKey()
		rec.AttentionAt = time.Time{}
		p.trip(fmt.Sprint("troubles ", trouble, " without a time"), hs, rec)
	}
}

func numbers(p *probe) {
	hs := p.handles(2)
	for _, n := range []int64{0, 1, 1 << 31, 1<<53 + 1, 1<<63 - 1, -1, -1 << 63} {
		rec := completed(newKey(), noon())
		rec.Fence = n
		p.trip(fmt.Sprint("the fence is ", n), hs, rec)
	}
	for _, n := range []int{-1, 0, 1, 255, 256, 1<<31 - 1} { // counters of what people do: nobody gets beyond
		rec := completed(newKey(), noon())
		rec.Attempt, rec.Generation, rec.ReplyEpoch, rec.Result.Status = n, n, n, n
		p.trip(fmt.Sprint("counters are ", n), hs, rec)
	}
}

func times(p *probe) {
	hs := p.handles(2)
	for _, at := range []time.Time{
		time.Date(1970, 1, 1, 0, 0, 1, 0, time.UTC), time.Date(2016, 12, 31, 23, 59, 59, 999_000_000, time.UTC),
		time.Date(2038, 1, 19, 3, 14, 8, 1_000_000, time.UTC), time.Date(2286, 11, 20, 17, 46, 40, 10_000_000, time.UTC),
	} {
		rec := completed(newKey(), at.Truncate(time.Second))
		rec.LockedUntil, rec.OwnerWroteAt, rec.TakenUntil, rec.AttentionAt = at, at, at, at
		rec.FirstAttemptAt, rec.CreatedAt, rec.ClaimedAt, rec.Marks[0].At = at, at, at, at
		p.trip(at.Format(time.RFC3339Nano), hs, rec)
	}
}

// oddTexts are those that encodings, collations and text columns change, and those that short columns cut: by characters or by bytes. A
// reason may have 200 bytes; what an application names its steps and content types has no bound at all.
func oddTexts() []string {
	return []string{
		strings.Repeat("é", 200), strings.Repeat("0123456789abcdef", 64),
		"é", "e\u0301", "日本語", "\U0001F600", "\ufffd", "\ufeff", "\u2028", "a\x00b", "\x00", " blanks ", "\t\r\n", `"quoted"`, `\u0041`, "<&>", "%00",
		"null", "1e3", "007", "true", "{}", "\xff", "caf\xe9", "\xed\xa0\x80", "\xc0\xaf",
	}
}

func texts(p *probe) {
	hs := p.handles(2)
	odd := oddTexts()
	for i, s := range odd {
		all := p.filled("", func(n int) string { return odd[(i+n)%len(odd)] + strconv.Itoa(n) })
		all.Fence = 0 // numbers have a rule of their own
		p.trip("texts are like "+short(reflect.ValueOf(s)), hs, all)

		rec := completed(newKey(), noon())
		rec.Reason, rec.Result.ContentType, rec.Result.Body, rec.Marks[0].Step = s, s, []byte(s), s
		rec.Result.Headers = map[string]string{s: s, "X": s, "etag": "1", "ETag": "2"}
		p.trip("texts are "+short(reflect.ValueOf(s)), hs, rec)
	}
}

func marks(p *probe) {
	hs := p.handles(2)
	for what, n := range map[string]int{"an empty list": 0, "one": 1, "two of one name": 2, "many": 60} {
		rec := claimed(newKey())
		rec.Marks = make([]dedupe.Mark, n)
		for i := range rec.Marks {
			rec.Marks[i] = dedupe.Mark{Step: fmt.Sprint("step ", 100-i/2), At: noon().Add(-time.Duration(i) * time.Minute), Undone: i%3 == 1}
		}
		p.trip("marks: "+what, hs, rec)
	}
	rec := claimed(newKey())
	rec.Marks = []dedupe.Mark{{}, {Undone: true}}
	p.trip("marks without a name or time", hs, rec)
}
