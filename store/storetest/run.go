package storetest

import (
	"context"
	"errors"
	"flag"
	"strings"
	"testing"
)

// Run runs each rule as a subtest. One that is known to be broken and is, is skipped with the reason; one for which the rig lacks something
// too.
func Run(t *testing.T, rig Rig) {
	t.Helper()
	if err := rig.validate(); err != nil {
		t.Fatal(err)
	}
	for _, rule := range Rules() {
		t.Run(rule.Name, func(t *testing.T) {
			t.Helper()
			rig := rig
			if rig.Artifacts == "" && keepsArtifacts() {
				rig.Artifacts = t.ArtifactDir()
			}
			problems := rule.problems(t.Context(), rig)
			if err := rule.verdict(problems, rig); err != nil {
				t.Fatal(err)
			}
			if missing := rule.unasked(rig); missing != "" {
				t.Skip(missing)
			}
			if len(problems) > 0 {
				t.Skipf("known: %s\n\t%s", rig.Known[rule.Name].Why, strings.Join(problems, "\n\t"))
			}
		})
	}
}

// keepsArtifacts: without -artifacts, a test's artifact folder is removed before anybody can look at a picture.
func keepsArtifacts() bool {
	f := flag.Lookup("test.artifacts")
	return f != nil && f.Value.String() == "true"
}

// Check runs all rules and returns what is broken, joined: see [Failures]. It ends early with the context's error if that ends.
func Check(ctx context.Context, rig Rig) error {
	if err := rig.validate(); err != nil {
		return err
	}
	var errs []error
	for _, rule := range Rules() {
		err := rule.Check(ctx, rig)
		if ended := ctx.Err(); ended != nil { // what the rule found is about the context
			return errors.Join(append(errs, ended)...)
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// Failures takes the error of [Check] apart. It gives none for any other error.
func Failures(err error) []*Failure {
	if f, ok := errors.AsType[*Failure](err); ok && error(f) == err { //nolint:errorlint // the failure itself, not what wraps it
		return []*Failure{f}
	}
	var all []*Failure
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		for _, e := range joined.Unwrap() {
			all = append(all, Failures(e)...)
		}
	}
	return all
}
