package consumer

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// String is a report for people, some lines long: what became of the deliveries and, of a consumer in observe-only mode, what
// would have been refused.
func (c Counts) String() string {
	var b strings.Builder
	line := func(name string, n, of int64) {
		fmt.Fprintf(&b, "  %-42s %9d", name, n)
		if of > 0 {
			fmt.Fprintf(&b, "  %5.1f %%", 100*ratio(n, of))
		}
		b.WriteByte('\n')
	}
	byReason := func(prefix string, m map[string]int64, of int64) {
		for _, reason := range slices.Sorted(maps.Keys(m)) {
			line(prefix+reason, m[reason], of)
		}
	}
	fmt.Fprintf(&b, "deliveries %d\n", c.Received)
	for _, p := range []struct {
		name string
		n    int64
	}{
		{"acked", c.Acked},
		{"nacked", c.Nacked},
		{"handed back unseen", c.HandedBack},
		{"left", c.Left},
		{"handler ran", c.Ran},
		{"handler panicked", c.Panicked},
		{"path checks", c.PathChecks},
	} {
		line(p.name, p.n, c.Received)
	}
	byReason("dead letter: ", c.DeadLettered, c.Received)
	fmt.Fprintf(&b, "claims answered %d\n", c.claims())
	for _, p := range []struct {
		name string
		n    int64
	}{
		{"claimed", c.Claimed},
		{"replayed", c.Replayed},
		{"failed", c.Failed},
		{"busy", c.Busy},
		{"pending", c.Pending},
		{"exhausted", c.Exhausted},
		{"mismatched", c.Mismatched},
	} {
		line(p.name, p.n, c.claims())
	}
	w := c.WouldHave
	if watched := w.total(); watched > 0 {
		fmt.Fprintf(&b, "the usual mode would have, of %d that were observed only\n", watched)
		line("run the handler", w.Ran, watched)
		byReason("withheld: ", w.Withheld, watched)
		line("acked", w.Acked, watched)
		line("nacked", w.Nacked, watched)
		line("left", w.Left, watched)
		line("waited for the store", w.Waited, watched)
		byReason("dead-lettered: ", w.DeadLettered, watched)
	}
	return b.String()
}

func (w WouldHave) total() int64 {
	n := w.Ran
	for _, m := range w.Withheld {
		n += m
	}
	return n
}
