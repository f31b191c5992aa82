// Package keys makes operation keys, and keeps the key of an operation that is
// still pending.
//
// A key is made by the producer, once for each operation, before the first
// attempt. It is the same on every retry and different for every other
// operation. So it is never derived from the body (two equal orders are two
// operations), from a sequence (which is reset and restored), or from a clock alone.
//
// # Makers
//
//	maker     form                        random bits   reveals its time
//	UUIDv4    36 characters, RFC 9562     122           no
//	UUIDv7    36 characters, RFC 9562     74            to the millisecond
//	ULID      26 characters, Crockford    80            to the millisecond
//	Token     22 characters, base64url    128           no
//
// [New] is UUIDv4, the right one without a reason for another. UUIDv7 and ULID
// sort by time, which helps a database index; they have fewer than 122 random
// bits, and whoever sees the key learns when it was made, to the millisecond.
// There is no monotonic mode: a counter would need state shared between
// callers, and would make the next key of a millisecond guessable from the
// last one. Keys of one millisecond therefore have no order.
//
// All randomness comes from crypto/rand, is fresh for each key, and has no
// fallback: a source that fails is an error, never a key made of the time or of
// a constant. Every key fits the default rule of 1 to 255 characters of
// A-Z a-z 0-9 _ -. A key is no credential, however random it is.
//
// # Pending operations
//
// A producer that crashes between two attempts must find the key of the first
// one, or the second is another operation. [For] returns the key of an
// operation: it makes one, has a [Saver] keep it, and returns whatever was kept first. Send only after
// it returned:
//
//	key, err := keys.For(ctx, saver, "refund-order-4711", keys.New)
//	if err != nil {
//		return err // nothing was sent
//	}
//	return send(ctx, key, refund)
//
// The operation's name is the caller's own identifier of the piece of business
// work, such as a primary key: not of the attempt, and not of the process.
//
// [File] is a Saver for programs without a database. With one, keep the key in
// the row of the pending operation, and let the table's primary key decide:
//
//	CREATE TABLE pending_operation (
//		operation       text PRIMARY KEY,
//		idempotency_key text NOT NULL
//	);
//
//	type rows struct{ db *sql.DB }
//
//	func (r rows) LoadOrSave(ctx context.Context, operation, candidate string) (string, error) {
//		_, err := r.db.ExecContext(ctx, `
//			INSERT INTO pending_operation (operation, idempotency_key) VALUES ($1, $2)
//			ON CONFLICT (operation) DO NOTHING`, operation, candidate)
//		if err != nil {
//			return "", err
//		}
//		var key string
//		err = r.db.QueryRowContext(ctx, `
//			SELECT idempotency_key FROM pending_operation WHERE operation = $1`, operation).Scan(&key)
//		return key, err
//	}
//
// Both statements run outside of a transaction here, so that the row is
// committed when the key is returned. Inside one, nothing may be sent before
// its commit; where the business row is written in the same transaction, make
// the key there and send from what was committed (an outbox). Read from the
// primary: a replica may not have the row yet.
package keys
