// Package sqsd is SQS in the process: standard queues with long polls, visibility, delays, redrive to dead-letter queues, batches and
// limits. FIFO queues are refused for now.
//
// It holds no goroutine: what time does to messages is worked out from the clock when a call looks. A long poll waits on a
// channel that every change closes, and on a timer for the next moment at which a message becomes visible.
package sqsd
