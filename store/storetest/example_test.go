package storetest_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/claimonce/claimonce/dedupe"
	"github.com/claimonce/claimonce/store/memory"
	"github.com/claimonce/claimonce/store/storetest"
)

// The test that every store has.
func TestMemoryKeepsTheContract(t *testing.T) {
	t.Parallel()
	s := memory.New() // a store on a database would be opened on one fresh table here
	storetest.Run(t, storetest.Rig{
		Open: func() (dedupe.Store, error) { return s, nil },
	})
}

// A program looks at a server before it trusts it with payments.
func ExampleCheck() {
	s := memory.New()
	err := storetest.Check(context.Background(), storetest.Rig{
		Open: func() (dedupe.Store, error) { return s, nil },
	})
	for _, f := range storetest.Failures(err) {
		fmt.Println(f.Rule.Name, "is broken:", f.Rule.Sentence)
	}
	if err == nil {
		fmt.Println("every rule is kept")
	}
	// Output: every rule is kept
}
