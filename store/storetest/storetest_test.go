package storetest_test

import (
	"testing"

	"github.com/claimonce/claimonce/dedupe"
	"github.com/claimonce/claimonce/store/memory"
	"github.com/claimonce/claimonce/store/storetest"
)

// shared gives handles on one store.
func shared(s dedupe.Store) func() (dedupe.Store, error) {
	return func() (dedupe.Store, error) { return s, nil }
}

func TestMemoryKeepsEveryRule(t *testing.T) {
	t.Parallel()
	storetest.Run(t, storetest.Rig{Open: shared(memory.New())})
}

func TestCheckFindsNothingWrongWithMemory(t *testing.T) {
	t.Parallel()
	if err := storetest.Check(t.Context(), storetest.Rig{Open: shared(memory.New())}); err != nil {
		t.Error(err)
	}
}
