// Package dedupe makes an operation take effect once, however often it is asked for.
//
// An operation is named by a [Key] and kept as a [Record] in a [Store]. A worker claims the key with one conditional write,
// runs its handler while it renews its lease, and records the outcome; a duplicate is answered from the record. The
// same key with another request is refused. Where nobody can know whether the effect happened, the record says
// unknown and is reconciled, never guessed.
//
// Without a queue, use [Do]:
//
//	receipt, err := dedupe.Do(ctx, ledger, key, request, func(ctx context.Context, op *dedupe.Operation) (Receipt, error) {
//		step, err := op.Begin(ctx, "charge") // marks that the effect comes next
//		if err != nil {
//			return Receipt{}, err
//		}
//		return provider.Charge(ctx, request, step.Key())
//	})
//
// Package consumer runs messages of a queue through the same [Ledger].
//
// # How it is built
//
// All rules are in one pure function, [Rules.Step]: record, event and time in, next record and outcome out. A store does no
// more than write a whole record if what is stored is still what was expected. The [Ledger] is the loop between the two,
// the [Operation] what a handler sees. Begin reading at step.go; docs/state-machine.md shows every cell.
//
// # What is promised
//
// One owner at a time by the clocks of the workers, which may differ by the skew margin; whoever lost a lease cannot write over
// its successor. Whether the effect itself happens at most once depends on the recovery [Mode] and on the provider:
// docs/guarantees.md says what holds for each, and what no record can promise.
//
// Everything here is safe for concurrent use unless said otherwise. Keys are never printed: see [Key].
package dedupe
