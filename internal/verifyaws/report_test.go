package main

import (
	"context"
	"errors"
	"strings"
	"testing"
)

func TestJudge(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		err    error
		listed bool
		want   kind
		says   string
		fine   bool
	}{
		{"holds", nil, false, holds, "", true},
		{"contradicted", seen("two won"), false, fails, "two won", false},
		{"an error", errors.New("no route"), false, broken, "no route", false},
		{"known", seen("two won"), true, known, "two won", true},
		{"known, by an error", errors.New("no such call"), true, known, "no such call", true},
		{"holds although listed", nil, true, unexpected, "take it off", false},
		{"skipped", &skipped{"not here"}, false, unchecked, "not here", true},
		{"skipped and listed", &skipped{"not here"}, true, unchecked, "not here", true},
		{"contradicted among others", errors.Join(errors.New("x"), seen("y")), false, fails, "y", false},
	} {
		v := judge(fact{id: "A1"}, c.err, "its reason", c.listed)
		if v.kind != c.want || !strings.Contains(v.seen, c.says) {
			t.Errorf("%s: got %v, %q; want %v with %q", c.name, v.kind, v.seen, c.want, c.says)
		}
		if c.want == known && !strings.Contains(v.seen, "its reason") {
			t.Errorf("%s: got %q without the reason of the list", c.name, v.seen)
		}
		if got := acceptable([]verdict{{kind: holds}, v}); got != c.fine {
			t.Errorf("%s: acceptable is %v, want %v", c.name, got, c.fine)
		}
	}
}

func TestReportHasALineAFactAndTheCounts(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	printReport(&out, []verdict{
		{fact: fact{id: "A1", name: "one"}, kind: holds},
		{fact: fact{id: "A2", name: "two"}, kind: fails, seen: "a\nb"},
		{fact: fact{id: "A3"}, kind: unchecked, seen: "it takes days"},
		{fact: fact{id: "A4", name: "four"}, kind: known, seen: "so it is"},
		{fact: fact{id: "A5", name: "five"}, kind: unexpected},
		{fact: fact{id: "A6", name: "six"}, kind: broken, seen: "down"},
	})
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	want := []string{
		"A1    holds: one", "A2    DOES NOT HOLD: two: a b", "A3    not checked: it takes days", "A4    known difference: four: so it is",
		"A5    HOLDS, BUT IS LISTED AS A DIFFERENCE: five", "A6    NO ANSWER: six: down",
		"6 facts: 1 hold, 1 do not hold, 1 gave no answer, 1 not checked, 1 known differences, 1 hold although listed as differences",
	}
	for i := range want {
		if i >= len(lines) || lines[i] != want[i] {
			t.Fatalf("got\n%s\nwant\n%s", out.String(), strings.Join(want, "\n"))
		}
	}
}

func TestRefusedTellsWhatWasSeen(t *testing.T) {
	t.Parallel()
	if err := refused("it", nil, "A", "B"); err == nil || !strings.Contains(err.Error(), "accepted") {
		t.Errorf("an accepted call: got %v", err)
	}
	if err := refused("it", context.Canceled, "A"); !errors.Is(err, context.Canceled) {
		t.Errorf("an error without a code: got %v, want the error itself", err)
	}
}
