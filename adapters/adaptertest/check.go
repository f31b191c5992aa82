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

// A Failure is a promise that does not hold.
type Failure struct {
	Promise  string
	Sentence string
	Found    []string // what was seen instead
}

// Error implements error.
func (f *Failure) Error() string {
	return fmt.Sprintf("adaptertest: %q is broken\n  promised: %s\n  found: %s", f.Promise, f.Sentence, strings.Join(f.Found, "\n  found: "))
}

// Check asks for every promise, one after the other, and joins a [*Failure] for each that does not hold. It is for programs, and
// for checks that are expected to fail; tests use [Run]. With [Rig.FakeTime] it is called in a testing/synctest bubble.
func Check(ctx context.Context, rig Rig) error {
	if err := rig.validate(); err != nil {
		return err
	}
	var all []error
	for _, p := range Promises() {
		if err := rig.judge(p, p.ask(ctx, &rig)); err != nil {
			all = append(all, err)
		}
	}
	return errors.Join(all...)
}

// atOnce: the checks wait far more than they work, but a broker on a small machine must still answer within a visibility.
const atOnce = 12

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
				if rig.FakeTime {
					synctest.Test(t, func(t *testing.T) { report(t, p, &rig) })
				} else {
					report(t, p, &rig)
				}
			})
		})
	}
	wg.Wait()
}

func report(t *testing.T, p Promise, rig *Rig) {
	t.Helper()
	o := p.ask(t.Context(), rig)
	if err := rig.judge(p, o); err != nil {
		t.Fatal(err)
	}
	for _, f := range o.found {
		t.Logf("known: %s%s: %s", rig.Known[p.Name], rig.Flaky[p.Name], f)
	}
	if o.skipped != "" {
		t.Skip(o.skipped)
	}
}

// judge says what of an outcome was not expected.
func (r *Rig) judge(p Promise, o outcome) error {
	if _, ok := r.Flaky[p.Name]; ok {
		return nil
	}
	reason, known := r.Known[p.Name]
	switch {
	case known && o.skipped != "":
		return fmt.Errorf("adaptertest: %q is known to be broken (%s), but is not asked for: %s; remove the entry", p.Name, reason, o.skipped)
	case known && len(o.found) == 0:
		return fmt.Errorf("adaptertest: unexpected pass: %q is known to be broken (%s), and holds; remove the entry", p.Name, reason)
	case known || len(o.found) == 0:
		return nil
	}
	return &Failure{p.Name, p.Sentence, o.found}
}
