// Package sqs is a [consumer.Source] on an SQS standard queue.
//
//	queue, err := sqs.Open(ctx, queueURL) // the SDK's usual environment
//	queue, err := sqs.New(client, queueURL, sqs.Config{})
//
// # Calls
//
// Messages are received by long polls of 20 seconds, up to ten at a time, with all their attributes. Deletes and visibility changes
// are gathered into batches of ten: a batch leaves at once when none is under way, else when it is full, the one under way has been
// answered, or 200 ms are over. A consumer's ack waits until its delete is confirmed; of a batch that failed in part only the failed
// entries are sent again. An idle queue costs three receives a minute.
//
// The SDK repeats no ReceiveMessage here: a repeat after a lost answer would hide the messages of the first one. Receive counts
// can jump all the same, so nothing is concluded from them.
//
// # Visibility
//
// The queue's own visibility timeout counts, as it was when the source first asked, unless [Config].Visibility names another. SQS keeps
// a message hidden for at most twelve hours after it was received (API reference, ChangeMessageVisibility); a handler that runs
// longer loses it, and its redelivery is answered from the record.
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
// is the one that the redrive policy names, unless [Config].DeadLetterURL names another. SQS's own redrive stays
// the last net: let its maxReceiveCount be far above the attempt bound, since a message of a busy key is received without an attempt.
package sqs
