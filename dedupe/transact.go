package dedupe

import "context"

// Transactor is implemented by stores that can write a record in one transaction with writes of the application's own, of the type
// W that the store's package names. It is an ability beside [Store], of which all rules hold here too.
type Transactor[W any] interface {
	// SwapWith is [Store.Swap] together with other writes: all of it is written, or nothing. with is the same in every repeat of
	// one next, so that a repeat can be told from another transaction; it is neither changed nor kept.
	//
	// [ErrConflict] speaks of the record only: what is stored is not what was expected. After a try whose answer was lost it does
	// not prove that nothing was written: that try may have landed, and its record been replaced since.
	//
	// An error wrapping [ErrRejected] says that the record still is as expected, but that one of the other writes was refused.
	// After any other error the identical call is repeated.
	SwapWith(ctx context.Context, key Key, expect Expect, next Record, with []W) (current Record, err error)
}
