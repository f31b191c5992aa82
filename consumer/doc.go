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
// # Failures
//
// A record that cannot be read, while others can, stops nothing: its message waits, then goes back. A handler that panics, or ends
// its goroutine, counts as one with a plain error. A broker that fails is asked again with a back-off, for ever.
// [Consumer.Health] says what is wrong now. On stop see [Consumer.Run].
package consumer
