package storetest_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/claimonce/claimonce/dedupe"
	"github.com/claimonce/claimonce/store/memory"
	"github.com/claimonce/claimonce/store/storetest"
)

// A rule that takes errors for "nobody knows" must still see something to be kept.
func TestNoRuleIsKeptByAStoreThatAnswersWithErrorsAlone(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change  func(m *mutant, err error)
		without []string // rules without such a call
	}{
		"loads fail": {func(m *mutant, err error) {
			m.load = func(context.Context, dedupe.Key) (dedupe.Record, error) { return dedupe.Record{}, err }
		}, []string{"refusal shows what is stored", "leaves what it is given"}},
		"swaps fail": {func(m *mutant, err error) {
			m.swap = func(context.Context, dedupe.Key, dedupe.Expect, dedupe.Record) (dedupe.Record, error) {
				return dedupe.Record{}, err
			}
		}, []string{"absent"}},
	} {
		for _, failure := range []error{errors.New("connection reset"), context.Canceled, dedupe.ErrNewerSchema, dedupe.ErrMalformedKey} {
			t.Run(name+": "+failure.Error(), func(t *testing.T) {
				t.Parallel()
				m := mutant{Store: memory.New()}
				c.change(&m, failure)
				for _, rule := range storetest.Rules() {
					err := rule.Check(t.Context(), storetest.Rig{Open: shared(m), Artifacts: t.TempDir()})
					if err == nil && !slices.Contains(c.without, rule.Name) {
						t.Errorf("%q is kept, want it broken", rule.Name)
					}
				}
			})
		}
	}
}
