package main

import (
	"errors"
	"testing"
	"testing/synctest"
)

// TestEveryFactHoldsOnAwstest is in a bubble, where the waits of the checks take no time.
func TestEveryFactHoldsOnAwstest(t *testing.T) {
	t.Parallel()
	for _, f := range facts() {
		if f.check == nil {
			continue
		}
		t.Run(f.id+" "+f.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newRig(t).world()
				w.table.create(t.Context(), w)
				err := f.check(t.Context(), w)
				if _, ok := errors.AsType[*skipped](err); err != nil && !ok {
					t.Errorf("%s: %v", f.name, err)
				}
			})
		})
	}
}
