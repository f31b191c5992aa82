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
// A call that hangs is a failure like any other. On fake time it also ends the process with a panic if it hangs for more than a day:
// a synctest bubble cannot end without it.
//
// A server that is known to break a promise is listed in [Rig.Known] with the reason.
//
// # What is not tested
//
// A source that passes can still be wrong where the suite does not look:
//
//   - Brokers that fail. No call is answered with an error, late, or twice: that Receive goes on after an error, that a repeat of a
//     call does no harm, and which errors wrap [consumer.ErrSetup] is for the adapter's own tests. So is a Check of a set-up that
//     cannot work.
//   - Calls that are under way when their context ends, save Receive: the others are made with a context that has ended before.
//   - Death between the two steps of a dead letter, a dead letter of a message that is not held, and one that is too large for its
//     queue. That the copy keeps the message's group is not looked at.
//   - Whether MaxRedelivery is true of the broker: it is compared with the number in the rig, and DefaultWindow with nothing.
//   - How soon and by whom a message comes back that was left ([consumer.Leaver]), only that it is not lost.
//   - Rebalances, save one message that is taken back by [Queue.Revoke]; more than two workers; for a source that is no Extender, more
//     than one.
//   - Order of messages without a group, which nobody promises, and more than ten of a group in one batch.
//   - Sizes beyond [Rig.BodyBytes] and [Rig.ValueBytes], more than fifty messages held or sent, more extensions of a message than 40
//     (5 on real time), and limits that only count after hours.
//   - LastPoll of an idle queue on real time, unless [Rig.PollTime] says for how long to look.
//   - Speed, memory, and data races: run it with the race detector, too.
package adaptertest
