// Package sqs is a [consumer.Source] on an SQS queue, standard or FIFO.
//
//	queue, err := sqs.Open(ctx, queueURL) // the SDK's usual environment
//	queue, err := sqs.OpenWith(ctx, queueURL, sqs.Config{Envelope: sqs.SNS})
//	queue, err := sqs.New(client, queueURL, sqs.Config{})
//
// # Calls
//
// Messages are received by long polls of 20 seconds, up to ten at a time, with all their attributes. Deletes and visibility changes
// are gathered into batches of ten: a batch leaves at once when none is under way, else when it is full, the one under way has been
// answered, or 200 ms are over. A consumer's ack waits until its delete is confirmed; of a batch that failed in part only the failed
// entries are sent again. An idle queue costs three receives a minute.
//
// The SDK repeats no ReceiveMessage of a standard queue here: a repeat after a lost answer would hide the messages of the first one.
// Receive counts can jump all the same, so nothing is concluded from them. When too many messages of a queue are in flight, a
// standard queue may answer OverLimit and a FIFO queue answers with nothing: the consumer asks again later, and loses nothing.
//
// # FIFO queues
//
// A queue whose name ends with .fifo has groups: the MessageGroupId becomes [consumer.Message].Group, and the consumer runs the
// messages of a group one by one and in order, groups in parallel. The next of a group starts when the delete of the one before it
// has been answered. A head that is to run later keeps its group waiting for as long, in the queue and not in the worker's memory; what
// was received behind it goes back too, never to be visible before it. The group id of a standard queue spreads load among tenants
// and orders nothing, so there Group stays empty.
//
// The queue's own deduplication is never relied on: it lasts five minutes from the sending, knows the producer's id and not the
// operation, and says nothing of redelivery. A key that is sent again after six minutes, in any group, is met by its record.
//
// Each poll has a ReceiveRequestAttemptId, so the SDK may send it again after a lost answer and gets the same messages; else their
// groups would stand until the visibility ends. A dead letter keeps its group and gets a deduplication id of its own, also where the
// dead-letter queue takes ids from bodies. That queue must be FIFO too. SQS gives what it moves there itself a new time, so the
// longest redelivery is the sum of both retentions, and the default window 29 days.
//
// A delete by a handle that has expired is refused by a FIFO queue: the outcome is recorded by then, so that is a failed ack and no
// failed handler, and the redelivery is answered from the record.
//
// # Visibility
//
// The queue's own visibility timeout counts, as it was when the source first asked, unless [Config].Visibility names another. SQS keeps
// a message hidden for at most twelve hours after it was received (API reference, ChangeMessageVisibility). A handler that runs longer
// goes on, with a warning: the message comes back, its deliveries wait for the record's lease, and in the end the record answers them.
//
// A handle that is stale, expired, or of a message that is gone means [consumer.ErrNotHeld], whatever code a server has for it.
//
// # Behind an SNS topic
//
// With raw message delivery a message is what was published. Without it the body is a JSON envelope with the attributes inside: set
// [Config].Envelope to [SNS], which takes both, so that one publish has one key, body and fingerprint either way. Where it is not
// set, a message that has no key for this reason is refused with a hint. A dead letter is always the envelope as it was received.
//
// # Stopping
//
// A poll cannot be taken back: the queue may hand messages to it after its caller is gone. So it goes on when Receive is cancelled, and
// what it still brings is given back at once; [Source.Close] waits a second for it before it cuts the connection. What a cut poll
// was handed, and what a crashed process held, comes back when its visibility ends.
//
// # Dead letters
//
// A dead letter is sent to the dead-letter queue with its body and attributes and with the reason, and only then deleted. The queue
// is the one that the redrive policy names, unless [Config].DeadLetterURL names another. It carries the time at which the message was first
// sent, so that one which is moved back is as old as it is, whatever time SQS gives it. Beside ten attributes there is room for one
// more only if it takes in one of them, which it gives back when the message is moved back as it is, from the console or by any tool;
// [Restore] does it for other programs. What of its past cannot be read stays as it is, and the message is refused until it is corrected;
// where the reason has no place beside it, the message comes back every five minutes, its group waiting, until SQS's own redrive moves it.
// A redrive must name this queue as its destination: SQS knows where a message came from only if it moved it itself (API reference,
// StartMessageMoveTask), and these were sent.
//
// What is larger than the dead-letter queue takes is kept, and the error says so. SQS's own redrive stays the last net: let its
// maxReceiveCount be far above the attempt bound, since a message of a busy key is received without an attempt.
package sqs
