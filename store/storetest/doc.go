// Package storetest holds a [dedupe.Store] to its contract.
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
// Every rule makes keys of its own at random and deletes nothing (but [Rig.DropResult] does), so that one table serves all of them, twice
// and at the same time too. A run makes some 5,000 calls where each takes some milliseconds, and up to 20,000 where they take less: the races
// go on for a while. No rule waits for a clock: stores read none.
//
// # What no rule shows
//
//   - Durability: nothing is killed here. A store that keeps everything in memory passes.
//   - That a store closes no client that it was given: the rig makes both, and shows no client.
//   - That it starts no goroutine at all: one at its first call, or when it is opened, is taken for the client's. One left behind by each call
//     is noticed.
//   - [dedupe.Result].Unavailable, without [Rig.DropResult].
//   - Races that did not happen during the run. Several processes never take part: handles are all in this one.
//   - That nothing is deleted before its ExpiresAt, over more time than the run takes.
//   - Further abilities, such as [dedupe.SkewMeter] and [dedupe.Transactor].
//   - What only one kind of store has: an index, a limit of its items, how it is set up.
//
// These are for the store's own tests.
//
// A server that is known to break a rule is listed in [Rig.Known] with the reason. The rule still runs, and passing it is a failure: the
// list would otherwise outlive what it excuses. What is broken by chance is marked so:
//
//	Known: map[string]storetest.Known{
//		"one winner of a claim": {Why: "this server tests the condition and writes in two steps", Flaky: true},
//	},
package storetest
