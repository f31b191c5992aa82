package dedupe_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/claimonce/claimonce/dedupe"
	records "github.com/claimonce/claimonce/store/memory"
)

// Without a queue: one call that takes effect once for a key, however often it is made.
func ExampleDo() {
	type order struct{ Amount int }
	ledger, err := dedupe.NewLedger(records.New(), dedupe.Config{OnAbandoned: dedupe.RerunUnlessBegun})
	if err != nil {
		fmt.Println(err)
		return
	}
	key := dedupe.Key{Tenant: "acme", Operation: "payout", ID: "order-4711"}
	pay := func(ctx context.Context, op *dedupe.Operation) (string, error) {
		if _, err := op.Begin(ctx, "transfer"); err != nil {
			return "", err
		}
		fmt.Println("paying")
		return "po_1", nil
	}
	for _, amount := range []int{42, 42, 43} {
		id, err := dedupe.Do(context.Background(), ledger, key, order{amount}, pay)
		fmt.Println(amount, id, errors.Is(err, dedupe.ErrKeyReuse))
	}
	// Output:
	// paying
	// 42 po_1 false
	// 42 po_1 false
	// 43  true
}
