package adaptertest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
)

// Check asks for every promise, one after the other, and returns what is broken, joined: see [Failures]. It is for programs, and for
// sources that are broken on purpose; tests use [Run]. It ends early with the context's error if that ends. With [Rig.FakeTime] it is
// called in a testing/synctest bubble.
func Check(ctx context.Context, rig Rig) error {
	if err := rig.validate(); err != nil {
		return err
	}
	var all []error
	for _, p := range Promises() {
		o := p.ask(ctx, &rig)
		if err := ctx.Err(); err != nil {
			return errors.Join(append(all, err)...)
		}
		if err := p.verdict(o, &rig); err != nil {
			all = append(all, err)
		}
	}
	return errors.Join(all...)
}

// atOnce: the checks wait far more than they work, but a broker on a small machine must still answer within a visibility.
const atOnce = 8

// Run asks for every promise in a subtest of its name. They run beside each other.
func Run(t *testing.T, rig Rig) {
	t.Helper()
	if err := rig.validate(); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	free := make(chan struct{}, atOnce)
	for _, p := range Promises() {
		free <- struct{}{}
		wg.Go(func() { // not Parallel: on real time they are to overlap whatever the number of processors
			defer func() { <-free }()
			t.Run(p.Name, func(t *testing.T) {
				t.Helper()
				runOne(t, p, &rig)
			})
		})
	}
	wg.Wait()
}

// runOne fails within the bubble, since what hangs there for good ends the process with a panic, but skips outside of it: a skip within
// ends the bubble's own test and counts as a pass.
func runOne(t *testing.T, p Promise, rig *Rig) {
	t.Helper()
	var o outcome
	ask := func(t *testing.T) {
		t.Helper()
		o = p.ask(t.Context(), rig)
		if err := p.verdict(o, rig); err != nil {
			t.Fatal(err)
		}
	}
	if rig.FakeTime {
		synctest.Test(t, ask)
	} else {
		ask(t)
	}
	if len(o.problems) > 0 {
		t.Skipf("known: %s\n\t%s", rig.Known[p.Name].Why, strings.Join(o.problems, "\n\t"))
	}
	if o.skipped != "" {
		t.Skip(o.skipped)
	}
}

// verdict is what of an outcome was not expected; nil if nothing.
func (p Promise) verdict(o outcome, rig *Rig) error {
	known, isKnown := rig.Known[p.Name]
	switch {
	case o.skipped != "" && isKnown:
		return &Failure{p, []string{fmt.Sprintf("the rig says that it is broken (%s), but it is not asked for: %s; remove it from Known", known.Why, o.skipped)}}
	case len(o.problems) > 0 && !isKnown:
		return &Failure{p, o.problems}
	case len(o.problems) == 0 && isKnown && !known.Flaky:
		return &Failure{p, []string{fmt.Sprintf("unexpected pass: the rig says that it is broken (%s); remove it from Known", known.Why)}}
	}
	return nil
}
