package storetest_test

import (
	"context"
	"errors"
	"os"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/claimonce/claimonce/dedupe"
	"github.com/claimonce/claimonce/store/memory"
	"github.com/claimonce/claimonce/store/storetest"
)

// shared gives handles on one store.
func shared(s dedupe.Store) func() (dedupe.Store, error) {
	return func() (dedupe.Store, error) { return s, nil }
}

// One table serves all rules, several times over.
func TestCheckFindsNothingWrongWithMemory(t *testing.T) {
	t.Parallel()
	rig := storetest.Rig{Open: shared(memory.New())}
	for range 2 {
		if err := storetest.Check(t.Context(), rig); err != nil {
			t.Error(err)
		}
	}
}

func TestCheckRunsInABubble(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		if err := storetest.Check(t.Context(), storetest.Rig{Open: shared(memory.New())}); err != nil {
			t.Error(err)
		}
	})
}

func TestRulesHaveNamesAndSentences(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, r := range storetest.Rules() {
		if r.Name == "" || seen[r.Name] || strings.Contains(r.Name, "/") {
			t.Errorf("the name %q is empty, taken or no name of a subtest", r.Name)
		}
		seen[r.Name] = true
		if !strings.HasSuffix(r.Sentence, ".") {
			t.Errorf("%s: %q is no sentence", r.Name, r.Sentence)
		}
	}
}

// numbersAreFloats breaks one rule.
func numbersAreFloats() func() (dedupe.Store, error) {
	return fieldMutants()["numbers are floats"].make()
}

func TestFailuresSayWhatTheContractSays(t *testing.T) {
	t.Parallel()
	err := storetest.Check(t.Context(), storetest.Rig{Open: numbersAreFloats()})
	failures := storetest.Failures(err)
	if len(failures) != 2 || failures[0].Rule.Name != "fields" || failures[1].Rule.Name != "numbers" {
		t.Fatalf("got %v, want failures of fields and numbers", err)
	}
	for _, want := range []string{
		"numbers: the contract says: Records round-trip exactly: every number that a field can hold.\n\t",
		"Fence: got 9007199254740992, want 9007199254740993",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("got %q, want it to say %q", err, want)
		}
	}
}

func TestKnownFailuresAreExcusedAndNothingElse(t *testing.T) {
	t.Parallel()
	known := map[string]storetest.Known{"fields": {Why: "floats"}, "numbers": {Why: "floats"}}
	storetest.Run(t, storetest.Rig{Open: numbersAreFloats(), Known: known})
	for name, c := range map[string]struct {
		open  func() (dedupe.Store, error)
		known map[string]storetest.Known
		want  string // "": nothing is wrong
	}{
		"both are known":   {numbersAreFloats(), known, ""},
		"one is not known": {numbersAreFloats(), map[string]storetest.Known{"fields": {Why: "floats"}}, "numbers: the contract says"},
		"it is broken no more": {
			shared(memory.New()),
			map[string]storetest.Known{"numbers": {Why: "floats"}},
			"unexpected pass: the rig says that it is broken (floats); remove it from Known",
		},
		"by chance it passes": {shared(memory.New()), map[string]storetest.Known{"numbers": {Why: "chance", Flaky: true}}, ""},
		"by chance it fails": {
			numbersAreFloats(), map[string]storetest.Known{"numbers": {Why: "chance", Flaky: true}, "fields": {Why: "chance", Flaky: true}}, "",
		},
		"no such rule": {shared(memory.New()), map[string]storetest.Known{"numbrs": {Why: "floats"}}, `"numbrs", which is not a rule`},
		"no reason":    {shared(memory.New()), map[string]storetest.Known{"numbers": {}}, `does not say why "numbers" is broken`},
		"no store":     {nil, nil, "the rig has no Open"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := storetest.Check(t.Context(), storetest.Rig{Open: c.open, Known: c.known})
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("got %v, want an error that says %q", err, c.want)
			}
		})
	}
}

func TestHandlesThatCannotBeOpenedFailTheRule(t *testing.T) {
	t.Parallel()
	for name, open := range map[string]func() (dedupe.Store, error){
		"an error": func() (dedupe.Store, error) { return nil, errors.New("no such table") },
		"nothing":  func() (dedupe.Store, error) { return nil, nil },
	} {
		failures := storetest.Failures(storetest.Check(t.Context(), storetest.Rig{Open: open}))
		if len(failures) != len(storetest.Rules()) {
			t.Errorf("where Open gives %s, %d rules fail, want all", name, len(failures))
		}
	}
}

func TestPanicsFailTheRule(t *testing.T) {
	t.Parallel()
	m := mutant{Store: memory.New()}
	m.load = func(context.Context, dedupe.Key) (dedupe.Record, error) { panic("index out of range") }
	err := ruleNamed(t, "absent").Check(t.Context(), storetest.Rig{Open: shared(m)})
	if err == nil || !strings.Contains(err.Error(), "panic: index out of range") {
		t.Errorf("got %v, want a failure that tells of the panic", err)
	}
}

func TestCallsThatHangFailTheRule(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		m := mutant{Store: memory.New()}
		m.load = func(ctx context.Context, key dedupe.Key) (dedupe.Record, error) {
			if ctx.Err() != nil {
				<-release // until the server's own timeout, say
			}
			return m.Store.Load(ctx, key)
		}
		err := ruleNamed(t, "ended context").Check(t.Context(), storetest.Rig{Open: shared(m)})
		close(release)
		if err == nil || !strings.Contains(err.Error(), "a call has not returned for 15s") {
			t.Errorf("got %v, want a failure that tells of the call", err)
		}
	})
}

func TestCheckEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := storetest.Check(ctx, storetest.Rig{Open: shared(memory.New())})
	if !errors.Is(err, context.Canceled) || len(storetest.Failures(err)) > 0 {
		t.Errorf("got %v, want the context's error alone", err)
	}
}

// What is lost on the way is the caller's to find out, not a fault of the store.
func TestLostAnswersAreNoFault(t *testing.T) {
	t.Parallel()
	for range 5 {
		if err := ruleNamed(t, "linearizable").Check(t.Context(), storetest.Rig{Open: shared(&lossy{Store: memory.New()})}); err != nil {
			t.Error(err)
		}
	}
}

// A store that asks what refused it may be told what came later: see ReadsAfterRefusal.
func TestReadsAfterRefusals(t *testing.T) {
	t.Parallel()
	late := func() func() (dedupe.Store, error) {
		m := mutant{Store: memory.New()}
		m.swap = func(ctx context.Context, key dedupe.Key, expect dedupe.Expect, next dedupe.Record) (dedupe.Record, error) {
			current, err := m.Store.Swap(ctx, key, expect, next)
			if errors.Is(err, dedupe.ErrConflict) {
				runtime.Gosched() // others write
				if current, loadErr := m.Store.Load(ctx, key); loadErr == nil {
					return current, err
				}
			}
			return current, err
		}
		return shared(m)
	}
	for range 5 {
		if err := ruleNamed(t, "linearizable").Check(t.Context(), storetest.Rig{Open: late(), ReadsAfterRefusal: true}); err != nil {
			t.Error(err)
		}
	}
	for _, name := range []string{"reads are eventually consistent", "test, then write", "writes that were given up land whatever is there"} {
		rig := storetest.Rig{Open: workerMutants()[name].make(), ReadsAfterRefusal: true, Artifacts: t.TempDir()}
		if err := ruleNamed(t, "linearizable").Check(t.Context(), rig); err == nil {
			t.Errorf("%s: the rule passes where refusals are read afterwards, want it to fail all the same", name)
		}
	}
}

// The picture is for whoever looks for the race.
func TestHistoriesThatAreNotLinearizableAreDrawn(t *testing.T) {
	t.Parallel()
	rig := storetest.Rig{Open: workerMutants()["reads are eventually consistent"].make(), Artifacts: t.TempDir()}
	err := ruleNamed(t, "linearizable").Check(t.Context(), rig)
	if err == nil {
		t.Fatal("the rule passes on a store whose reads are old")
	}
	named := regexp.MustCompile(`its picture is (\S+\.html)`).FindStringSubmatch(err.Error())
	if named == nil {
		t.Fatalf("got %q, want it to name a picture", err)
	}
	if picture, err := os.ReadFile(named[1]); err != nil || !strings.Contains(string(picture), "expecting") {
		t.Errorf("the picture cannot be read or shows no swap: %v, %d bytes", err, len(picture))
	}
}
