package adaptertest

import (
	"errors"
	"strings"
)

// A Failure is a promise that is broken, or kept although it is known to be broken.
type Failure struct { //nolint:errname // first of all a finding
	Promise  Promise
	Problems []string // what was seen, at least one
}

// Error gives the promise's sentence and what was seen, one problem a line.
func (f *Failure) Error() string {
	return f.Promise.Name + ": sources promise: " + f.Promise.Sentence + "\n\t" + strings.Join(f.Problems, "\n\t")
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
