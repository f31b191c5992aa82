// Package storetest proves that a [dedupe.Store] keeps its contract.
//
// The author of a store writes one test:
//
//	func TestStoreKeepsTheContract(t *testing.T) {
//		table := newTable(t)
//		storetest.Run(t, storetest.Rig{
//			Open: func() (dedupe.Store, error) { return mystore.New(table) },
//		})
//	}
//
// Each [Rule] is a subtest; where it fails, the failure begins with the sentence of the contract that is broken. [Check] does the same
// without a test and returns an error: for programs that look at a server before they trust it, and for testing the rules
// themselves on stores that are broken on purpose.
//
// Every rule makes keys of its own at random and deletes nothing, so that one table serves all of them, twice and at the same time too; a
// run makes some 2,500 calls. No rule waits for a clock: stores read none. What only one kind of store has (an index, a limit of its items, how it is set up) is for
// that store's own tests.
//
// A server that is known to break a rule is listed in [Rig.Known] with the reason. The rule still runs, and passing it is a failure: the
// list would otherwise outlive what it excuses. What is broken by chance is marked so:
//
//	Known: map[string]storetest.Known{
//		"one winner of a claim": {Why: "this server tests the condition and writes in two steps", Flaky: true},
//	},
package storetest
