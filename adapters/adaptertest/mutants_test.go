package adaptertest_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/claimonce/claimonce/adapters/adaptertest"
)

// A mutant is a source that is broken in one way.
type mutant struct {
	name   string
	breaks string // promises, by name, separated by |
	bend   func(*bent)
	bed    func(*bed)
}

func mutants() []mutant {
	return slices.Concat(contentMutants(), receiveMutants(), delayMutants(), ackMutants(), givingUpMutants(), loseMutants(), closeMutants(), otherMutants())
}

// broken runs the whole suite and lists the promises that failed.
func broken(t *testing.T, m mutant) (names []string, err error) {
	t.Helper()
	end, cancel := context.WithCancel(t.Context())
	defer cancel()
	var beds []func(*bed)
	if m.bed != nil {
		beds = append(beds, m.bed)
	}
	err = adaptertest.Check(t.Context(), rig(end, m.bend, beds...))
	for _, f := range adaptertest.Failures(err) {
		names = append(names, f.Promise.Name)
	}
	return names, err
}

func TestAHealthySourceKeepsAllPromises(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		if _, err := broken(t, mutant{}); err != nil {
			t.Error(err)
		}
	})
}

func TestEachMutantBreaksItsPromises(t *testing.T) {
	t.Parallel()
	for _, m := range mutants() {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				got, err := broken(t, m)
				for want := range strings.SplitSeq(m.breaks, "|") {
					if !slices.Contains(got, want) {
						t.Errorf("it breaks %q, want %q among them", got, want)
					}
				}
				t.Log(err)
			})
		})
	}
}

func TestEachPromiseIsBrokenByAMutant(t *testing.T) {
	t.Parallel()
	can := map[string]bool{}
	for _, m := range mutants() {
		for name := range strings.SplitSeq(m.breaks, "|") {
			can[name] = true
		}
	}
	for _, p := range adaptertest.Promises() {
		if !can[p.Name] {
			t.Errorf("no mutant breaks %q: nobody knows whether it can fail", p.Name)
		}
		delete(can, p.Name)
	}
	for name := range can {
		t.Errorf("%q is no promise", name)
	}
}
