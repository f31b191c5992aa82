// Package consumer runs the operations that messages of a queue ask for, each of them once.
//
//	store, err := dynamo.Open(ctx, "claimonce")
//	queue, err := sqs.Open(ctx, queueURL)
//	w, err := consumer.New("refund", queue, store, consumer.JSON(refund), consumer.Config{
//		OnAbandoned: dedupe.RerunUnlessBegun, // required
//		Tenant:      consumer.TenantAttribute("Tenant"),
//	})
//	err = w.Run(ctx)
//
// The operation's key is taken from a message attribute or header, "Idempotency-Key" by default. A message that cannot run, since
// it has no key, a malformed one, one that was used for another request, or a body that cannot be decoded, is dead-lettered
// with the reason: never let through, never silently deleted.
//
// # What becomes of a message
//
//	the claim says     the message
//	claimed            the handler runs; completed: ack; released: back after a back-off by the record's attempts;
//	                   failed: dead letter; unknown: as pending; lease or outcome lost: left alone, it comes back by itself
//	replay             ack, the handler is not run
//	failed             dead letter, with the stored cause
//	exhausted          dead letter; moved back to its queue, it runs again
//	busy               back, for as long as the other has run already, at least what is left of its lease
//	pending            back, with a back-off; after a day a dead letter, while the record stays listed
//	mismatch           dead letter
//	store out          kept hidden; nothing is run or received until the store answers
//
// The record is written first, then the message is disposed of: a crash in between costs one redelivery, which is replayed.
// Attempts are counted in the record, not by the broker.
//
// # Order and concurrency
//
// At most Workers handlers run at a time, and at most Workers + 10 messages are held. Messages of one [Message].Group run one at a
// time in order, groups in parallel; copies of one key wait for each other. What waits stays hidden from other workers. A
// message behind one that runs for ten seconds is handed back, so that nothing else waits for it.
//
// When the head of a group goes back, what is behind it goes back too and comes no earlier: the group waits, other groups go on.
// [Health].BlockedGroups counts such groups. A head that fails is out of the way when its attempts are used up; one whose outcome is
// unknown holds its group until it is settled or PendingBound is over, or, with [PendingSkip], is set aside at once.
//
// # Observe only
//
// With Config.ObserveOnly a consumer stands before handlers that ran without claimonce until now, and changes nothing for them: it
// claims, counts and reports. Each delivery runs its handler once, be its key missing, its record completed, or the store out. The
// handler alone decides: nil is an ack, an error a nack with a back-off by deliveries, dedupe.Permanent a dead letter; the handler's context
// ends with a stop and the loss of the message only. A body that cannot be decoded is handed back in the same way, so that the
// broker's own bound of deliveries moves it away. Groups keep their order; copies of a key run beside each other.
//
// Claims are made and settled beside it. A store that is out or slow costs at most a second before the handler, one for each Begin, none
// after the first that failed, and one after the handler; after three failures in a row messages pass without asking it,
// until it answers again. A store that panics counts as one that failed. Health says nothing of it, Counts.WouldHave.Waited does. A store or
// window with which the usual mode would not start is logged. Begin always gives its step; without a usable key or digest its downstream key
// is made of the message's id. A [PathCheck] has the same bounds; one of a group that cannot be answered within them is dropped and
// logged, so that no handler waits behind it.
//
// No lease keeps a second delivery from running. Where a source can hide a message for so long only ([ErrHoldOver]: twelve hours of SQS), a handler
// that runs longer is run again beside itself, by whoever gets the message then; what waits behind it in its group goes with the message.
//
// [Event].WouldHave and [Consumer.Counts] tell what the usual mode would have done. The records are real: what was completed is known
// when the usual mode is switched on, what an attempt left open is settled when the handler succeeds on another delivery, and what is open by
// then is to be settled by people: it may have succeeded while the store did not answer.
//
// # Finding out what a path strips
//
// Bridges, fan-outs and gateways strip attributes silently. A [PathCheck] is one message over the real path that shows whether key,
// tenant and time arrive; [Counts.MissingKeyRatio] tells of those that come without one.
//
// # Failures
//
// A record that cannot be read, while others can, stops nothing: its message waits, then goes back. A handler that panics, or ends
// its goroutine, counts as one with a plain error. A broker that fails is asked again with a back-off, for ever.
// [Consumer.Health] says what is wrong now. On stop see [Consumer.Run].
package consumer
