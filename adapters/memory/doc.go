// Package memory is a queue in memory, as a [consumer.Source]: for users' own tests and for trying things out.
//
//	q := memory.New(memory.Config{})
//	q.Send(memory.Message{Body: body, Attributes: map[string]string{"Idempotency-Key": key}})
//	w, err := consumer.New("refund", q.Source(), store, handler, cfg)
//
// It delivers at least once like SQS: a message that was received is hidden for a visibility timeout and comes back unless it is
// acked, or at once when [Queue.Revoke] takes it from its worker. Messages of one group come in order, and none of a group while an
// earlier one of it is hidden. It starts no goroutine, so that it works in a testing/synctest bubble.
package memory
