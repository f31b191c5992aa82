package dedupe_test

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// A row is what becomes of a record of one class under each event.
type row struct {
	name  string
	like  string // the class from which every cell is taken that is not listed here
	cells []cell
}

// A cell says what events come to: the outcome, and behind an arrow the state and each field that is written. Times are
// relative to the event's. In brackets: what people are told of.
type cell struct {
	events string // names of events or of groups of them
	want   string
}

func table() []row {
	return slices.Concat(absentCells(), releasedCells(), runningCells(), abandonedCells(), settledCells())
}

// expand gives the events of a cell.
func (c cell) expand() []string {
	var events []string
	for name := range strings.SplitSeq(c.events, "; ") {
		if members, ok := groups[name]; ok {
			events = append(events, strings.Split(members, "; ")...)
		} else {
			events = append(events, name)
		}
	}
	return events
}

// wants gives what is expected of every event in every class, inherited cells too.
func wants(t *testing.T) map[string]map[string]string {
	t.Helper()
	all := map[string]map[string]string{}
	for _, r := range table() {
		mine := map[string]string{}
		for _, c := range r.cells {
			for _, e := range c.expand() {
				if _, twice := mine[e]; twice {
					t.Errorf("%s: event %q is listed twice", r.name, e)
				}
				mine[e] = c.want
			}
		}
		if r.like != "" && all[r.like] == nil {
			t.Errorf("%s: there is no row %q above it", r.name, r.like)
		}
		for e, want := range all[r.like] {
			if _, own := mine[e]; !own {
				mine[e] = want
			}
		}
		all[r.name] = mine
	}
	return all
}

func TestStepCells(t *testing.T) {
	t.Parallel()
	expected := wants(t)
	for _, s := range startStates() {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			for _, e := range tableEvents() {
				before := s.rec.Clone()
				d := s.rules().Step(s.rec, e.event, noon)
				if got, want := verdictOf(s.rec, d, noon), expected[s.name][e.name]; got != want {
					t.Errorf("%s (%s):\n got %s\nwant %s", e.name, e.about, got, want)
				}
				if !d.Write && !reflect.DeepEqual(d.Next, before) {
					t.Errorf("%s: nothing is written, but Next differs: %v", e.name, changes(before, d.Next, noon))
				}
				if !reflect.DeepEqual(s.rec, before) {
					t.Errorf("%s: Step changed its input: %v", e.name, changes(before, s.rec, noon))
				}
			}
		})
	}
}

// Every pair of a class and an event must be in the table: a rule that nobody wrote down is a rule that nobody checked.
func TestStepTableIsComplete(t *testing.T) {
	t.Parallel()
	expected := wants(t)
	events := map[string]bool{}
	for _, e := range tableEvents() {
		events[e.name] = true
	}
	for _, s := range startStates() {
		cells, ok := expected[s.name]
		if !ok {
			t.Errorf("class %q has no row", s.name)
			continue
		}
		for e := range events {
			if _, ok := cells[e]; !ok {
				t.Errorf("class %q says nothing of %q", s.name, e)
			}
		}
		for e := range cells {
			if !events[e] {
				t.Errorf("class %q speaks of %q, which is no event", s.name, e)
			}
		}
		delete(expected, s.name)
	}
	for _, name := range slices.Sorted(maps.Keys(expected)) {
		t.Errorf("row %q belongs to no class", name)
	}
}

// A cell that repeats what its row inherits hides what is special about the row.
func TestStepTableRepeatsNothing(t *testing.T) {
	t.Parallel()
	expected := wants(t)
	for _, r := range table() {
		for _, c := range r.cells {
			for _, e := range c.expand() {
				if r.like != "" && expected[r.like][e] == c.want {
					t.Errorf("%s: %q is as in %q; leave it out", r.name, e, r.like)
				}
			}
		}
	}
}
