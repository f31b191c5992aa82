package adaptertest_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/claimonce/claimonce/adapters/adaptertest"
	"github.com/claimonce/claimonce/consumer"
)

// check runs the suite on a source whose Check fails, and what is known of it.
func check(t *testing.T, known map[string]adaptertest.Known) error {
	t.Helper()
	end, cancel := context.WithCancel(t.Context())
	defer cancel()
	r := rig(end, func(s *bent) { s.check = func(context.Context) error { return errors.New("nothing there") } })
	r.Known = known
	return adaptertest.Check(t.Context(), r)
}

func wantFailure(t *testing.T, err error, promise string, words ...string) {
	t.Helper()
	all := adaptertest.Failures(err)
	if len(all) != 1 || all[0].Promise.Name != promise {
		t.Fatalf("got %v, want the failure of %q alone", err, promise)
	}
	for _, w := range words {
		if !strings.Contains(all[0].Error(), w) {
			t.Errorf("got %v, want it to contain %q", all[0], w)
		}
	}
}

func TestAFailureSaysThePromiseAndWhatWasSeen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		wantFailure(t, check(t, nil), "check", "Check finds nothing wrong with a queue that works", "nothing there")
	})
}

func TestWhatIsKnownIsNoFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, flaky := range []bool{false, true} {
			if err := check(t, map[string]adaptertest.Known{"check": {Why: "it is away", Flaky: flaky}}); err != nil {
				t.Errorf("flaky %v: got %v, want nil", flaky, err)
			}
		}
	})
}

func TestAnUnexpectedPassIsAFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		err := check(t, map[string]adaptertest.Known{
			"check": {Why: "it is away"}, "body exact": {Why: "the server trims"}, "limit": {Why: "it may not", Flaky: true},
		})
		wantFailure(t, err, "body exact", "unexpected pass", "the server trims")
	})
}

func TestWhatIsKnownOfAPromiseThatIsNotAskedForIsAFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		end, cancel := context.WithCancel(t.Context())
		defer cancel()
		r := rig(end, nil)
		r.Groups = false
		r.Known = map[string]adaptertest.Known{"group order": {Why: "it has none"}}
		wantFailure(t, adaptertest.Check(t.Context(), r), "group order", "not asked for", "no groups")
	})
}

func TestARigThatCannotBeUsed(t *testing.T) {
	t.Parallel()
	err := adaptertest.Check(t.Context(), adaptertest.Rig{PollTime: -1, BodyBytes: -1, Known: map[string]adaptertest.Known{"bodies": {}}})
	for _, want := range []string{"New is nil", "Visibility is 0s", "Grain is 0s", "PollTime is -1ns", "are 0, -1 and 0", `"bodies", which is not a promise`, "set Why"} {
		if !strings.Contains(fmt.Sprint(err), want) {
			t.Errorf("got %v, want it to contain %q", err, want)
		}
	}
	if got := adaptertest.Failures(err); got != nil {
		t.Errorf("got failures %v of a rig that cannot be used", got)
	}
}

func TestARigThatFailsIsSaidToFail(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := rig(t.Context(), nil)
		r.New = func(context.Context) (*adaptertest.Queue, error) { return nil, errors.New("no server") }
		err := adaptertest.Check(t.Context(), r)
		if got, want := len(adaptertest.Failures(err)), len(adaptertest.Promises()); got != want || !strings.Contains(err.Error(), "no server") {
			t.Errorf("got %d failures, want %d that say why: %v", got, want, err)
		}
	})
}

func TestCheckEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if err := adaptertest.Check(ctx, rig(t.Context(), nil)); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v, want context.DeadlineExceeded", err)
		}
	})
}

func TestPromisesHaveNamesOfTheirOwnAndSentences(t *testing.T) {
	t.Parallel()
	var names []string
	for _, p := range adaptertest.Promises() {
		if p.Name == "" || p.Sentence == "" || slices.Contains(names, p.Name) {
			t.Errorf("got %q with sentence %q, want both, and the name once", p.Name, p.Sentence)
		}
		names = append(names, p.Name)
	}
}

// A source without any ability has fewer promises to keep, and is not asked for others.
func TestASourceWithoutAbilities(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := rig(t.Context(), nil)
		withAll := r.New
		r.New = func(ctx context.Context) (*adaptertest.Queue, error) {
			q, err := withAll(ctx)
			open := q.Open
			q.Crash = nil
			q.Open = func(ctx context.Context) (consumer.Source, error) {
				s, err := open(ctx)
				return bare{s}, err
			}
			return q, err
		}
		if err := adaptertest.Check(t.Context(), r); err != nil {
			t.Error(err)
		}
	})
}

// newQueue is in the example.
func TestTheExample(t *testing.T) {
	t.Parallel()
	adaptertest.Run(t, adaptertest.Rig{
		New: newQueue, Visibility: 30 * time.Second, Grain: time.Millisecond, FakeTime: true, Groups: true, AnyBytes: true,
	})
}

type bare struct{ consumer.Source }
