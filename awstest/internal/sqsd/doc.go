// Package sqsd is SQS in the process: standard and FIFO queues with long polls, visibility, delays, dead letters, moves of messages,
// batches and limits.
//
// It holds no goroutine: what time does to messages is worked out from the clock when a call looks. A long poll waits on a channel
// that every change of its queue closes, and on a timer for the next moment at which a message becomes visible; both are
// made by the poll itself, so that a poll inside a testing/synctest bubble counts as blocked wherever the queue was made.
//
// Where AWS leaves the outcome open, it does what a careful client must be ready for: a standard queue accepts a delete with an
// older receipt handle and keeps the message. Where AWS is slow or rations, it is not: counts are exact, a purge and the re-use of
// a deleted queue's name work at once, and a move task has ended when its start is answered.
package sqsd
