package storetest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/claimonce/claimonce/dedupe"
)

// A Rig says how to reach the store under test.
type Rig struct {
	// Open makes a handle on the store, as one more worker does: all handles are on the same data. It is called several times, also
	// at the same time, and never after Run or Check has returned. Handles are not closed: see the contract.
	Open func() (dedupe.Store, error)
	// Known are rules that this store or its server is known to break, by the name of the rule.
	Known map[string]Known
	// ReadsAfterRefusal: the server does not say what refused a Swap, so that the store learns it by a consistent read of its own. What
	// that finds may have been written after the refusal, and may be what was expected; callers try again then.
	ReadsAfterRefusal bool
	// DropResult removes the part of what is stored under the key that holds its Result.Body, as a deletion in the wrong order or an
	// operator does. Only for stores that keep a large body (of 32 KiB here) apart; for others it is nil and the rule asks nothing.
	DropResult func(ctx context.Context, key dedupe.Key) error
	// Artifacts is the folder for pictures of histories that are not linearizable; it must exist. Default: the test's artifact folder
	// if the test is run with -artifacts, else [os.TempDir].
	Artifacts string
}

// Known says why a rule is broken. Such a rule is run all the same and must fail.
type Known struct {
	Why string // required; printed
	// Flaky: it is broken by chance, so that passing says nothing. Anything else that is known must fail each time.
	Flaky bool
}

func (r Rig) validate() error {
	var errs []error
	if r.Open == nil {
		errs = append(errs, errors.New("the rig has no Open: give it a function that makes a handle on the store"))
	}
	for name, k := range r.Known {
		if !slices.ContainsFunc(Rules(), func(rule Rule) bool { return rule.Name == name }) {
			errs = append(errs, fmt.Errorf("the rig knows of %q, which is not a rule: see Rules for their names", name))
		}
		if k.Why == "" {
			errs = append(errs, fmt.Errorf("the rig does not say why %q is broken: set Why", name))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("storetest: %w", err)
	}
	return nil
}

func (r Rig) artifacts() string {
	if r.Artifacts != "" {
		return r.Artifacts
	}
	return os.TempDir()
}
