// Package adaptertest proves that a [consumer.Source] keeps what the contract promises, with the abilities that it has.
//
// The author of an adapter writes one test:
//
//	func TestSourceKeepsTheContract(t *testing.T) {
//		adaptertest.Run(t, adaptertest.Rig{
//			New:        newQueue, // an empty queue: how to open a source on it, and how to send to it
//			Visibility: 30 * time.Second,
//			Grain:      time.Second,
//			FakeTime:   true,
//		})
//	}
//
// Each [Promise] is a subtest on a queue of its own; where it fails, the failure begins with the sentence that is broken. [Check] does
// the same without a test and returns an error.
//
// The suite finds out by itself which abilities a source has ([consumer.Extender] and the others) and asks for no promise of one that
// it lacks. Only workers of an Extender are taken to compete for single messages; of any other source one worker does what two do
// there, since a second one may have no part of the queue. What the broker can do the [Rig] says, and what only its side can show
// the functions of a [Queue] do: a crash, a revocation, dead letters. Those that are nil leave promises out, which go test -v lists
// as skipped: read that list once.
//
// Time is the rig's. A broker in the process runs on fake time ([Rig.FakeTime]), where what is due must come at once; the suite then ends
// within a second. On real time the promises wait for visibility timeouts, beside each other: give the queue a short one.
// Promises about what must come at once are then weaker, since what a source failed to give back comes back by itself after so short a
// time. Have both if you can.
//
// A server that is known to break a promise is listed in [Rig.Known] with the reason.
package adaptertest
