package adaptertest_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/claimonce/claimonce/adapters/adaptertest"
)

// TestRunOfWhatIsKnown lacks groups, and its Check is known to fail: see the test below.
func TestRunOfWhatIsKnown(t *testing.T) {
	t.Parallel()
	broken := func(s *bent) { s.check = func(context.Context) error { return errors.New("nothing there") } }
	r := rig(t.Context(), broken)
	r.New = func(ctx context.Context) (*adaptertest.Queue, error) { return rig(ctx, broken).New(ctx) } // of the bubble
	r.Groups = false
	r.Known = map[string]adaptertest.Known{"check": {Why: "it is away"}}
	adaptertest.Run(t, r)
}

// A test cannot see what became of its subtests' subtests: another process prints them.
func TestWhatIsNotAskedForAndWhatIsKnownAreListedAsSkipped(t *testing.T) {
	t.Parallel()
	out, err := exec.CommandContext(t.Context(), os.Args[0], "-test.v", "-test.run=^TestRunOfWhatIsKnown$").CombinedOutput() //nolint:gosec // itself
	if err != nil {
		t.Fatalf("got %v:\n%s", err, out)
	}
	for _, want := range []string{
		"--- SKIP: TestRunOfWhatIsKnown/group_order ", "the queue has no groups",
		"--- SKIP: TestRunOfWhatIsKnown/check ", "known: it is away", "nothing there",
		"--- PASS: TestRunOfWhatIsKnown/limit ",
	} {
		if !strings.Contains(string(out), want) {
			t.Errorf("it lists no %q:\n%s", want, out)
		}
	}
}
