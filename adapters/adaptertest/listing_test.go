package adaptertest_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/claimonce/claimonce/adapters/adaptertest"
	"github.com/claimonce/claimonce/consumer"
)

// runVar names what another process of these tests plays: a test cannot see what became of its subtests' subtests.
const runVar = "CLAIMONCE_ADAPTERTEST_RUN"

// TestRunInAnotherProcess has sources that are broken, so that it is skipped where nobody looks at its output.
func TestRunInAnotherProcess(t *testing.T) {
	t.Parallel()
	var bend func(*bent)
	known := map[string]adaptertest.Known{}
	switch os.Getenv(runVar) {
	case "":
		t.Skip("the tests below run it")
	case "known":
		bend = func(s *bent) { s.check = func(context.Context) error { return errors.New("nothing there") } }
		known["check"] = adaptertest.Known{Why: "it is away"}
	case "broken":
		bend = func(s *bent) { s.check = func(context.Context) error { return errors.New("nothing there") } }
	case "hangs":
		bend = func(s *bent) { s.leave = hangsForGood }
	}
	r := rig(t.Context(), bend)
	r.New = func(ctx context.Context) (*adaptertest.Queue, error) { return rig(ctx, bend).New(ctx) } // of the bubble
	r.Groups, r.Known = false, known
	adaptertest.Run(t, r)
}

func hangsForGood(ctx context.Context, _ *consumer.Message) error {
	if ctx.Err() != nil {
		select {}
	}
	return nil
}

// wantLines runs it in another process, and returns the process's error.
func wantLines(t *testing.T, as string, want ...string) error {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.v", "-test.run=^TestRunInAnotherProcess$")
	cmd.Env = append(os.Environ(), runVar+"="+as)
	out, err := cmd.CombinedOutput()
	for _, w := range want {
		if !strings.Contains(string(out), w) {
			t.Errorf("it prints no %q:\n%s", w, out)
		}
	}
	return err
}

func TestWhatIsNotAskedForAndWhatIsKnownAreListedAsSkipped(t *testing.T) {
	t.Parallel()
	err := wantLines(t, "known",
		"--- SKIP: TestRunInAnotherProcess/group_order ", "the queue has no groups",
		"--- SKIP: TestRunInAnotherProcess/check ", "known: it is away", "nothing there",
		"--- PASS: TestRunInAnotherProcess/limit ")
	if err != nil {
		t.Errorf("got %v, want that it passes", err)
	}
}

func TestABrokenPromiseFailsItsSubtest(t *testing.T) {
	t.Parallel()
	err := wantLines(t, "broken",
		"--- FAIL: TestRunInAnotherProcess/check ", "Check finds nothing wrong with a queue that works", "nothing there",
		"--- PASS: TestRunInAnotherProcess/limit ")
	if err == nil {
		t.Error("it passes, want that it fails")
	}
}

// What hangs for good ends the process, but not before it is said which promise that breaks.
func TestACallThatNeverReturnsIsNamed(t *testing.T) {
	t.Parallel()
	if err := wantLines(t, "hangs", "calls given up: sources promise", "leave with a context that has ended has not returned"); err == nil {
		t.Error("it passes, want that it fails")
	}
}
